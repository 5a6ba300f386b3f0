//! `trunkline watch`: plans, agents and the collector.

mod check;

use std::process::ExitCode;
use std::sync::Arc;

use trunkline::report::text::plain;
use trunkline::watch::{self, CollectOptions, CollectorServer, RunOptions, load_plan};

use super::serve::{copies, describe_event, log};
use crate::args::{Watch, WatchCommand, WatchRun, WatchServe};
use crate::failure::Failure;
use crate::output::tell;
use crate::stop;

pub(crate) fn run(arguments: &Watch) -> Result<ExitCode, Failure> {
    match &arguments.command {
        WatchCommand::Check(arguments) => check::run(arguments),
        WatchCommand::Run(arguments) => agent(arguments),
        WatchCommand::Serve(arguments) => collector(arguments),
    }
}

fn agent(arguments: &WatchRun) -> Result<ExitCode, Failure> {
    let plan = load_plan(&arguments.plan.plan)?;
    check::tell_notices(&plan);
    let host = match &arguments.host {
        Some(host) => host.clone(),
        None => trunkline::host::name(),
    };
    let options = RunOptions {
        host,
        collector: arguments.collector.clone(),
        token: watch::read_token(&arguments.token_file)?,
        state: arguments.state.clone(),
        port: arguments.port,
        tokens: arguments.tokens.clone(),
    };
    let cancel = stop::listen()?;
    tell!(
        "agent of {}; results wait in {} and go to {}",
        options.host,
        options.state.display(),
        options.collector
    );
    let on_serve = Arc::new(describe_event);
    watch::run(
        &plan,
        options,
        &cancel,
        &|event| log::line(&plain(&event.to_string())),
        on_serve,
    )?;
    log::line("stopped");
    Ok(ExitCode::SUCCESS)
}

fn collector(arguments: &WatchServe) -> Result<ExitCode, Failure> {
    let plan = load_plan(&arguments.plan.plan)?;
    check::tell_notices(&plan);
    let cancel = stop::listen()?;
    let options = CollectOptions {
        database: arguments.database.clone(),
        tokens: arguments.tokens.clone(),
        port: arguments.port,
        keep_raw: arguments.keep_raw,
    };
    let on_event = Arc::new(|event: &watch::CollectorEvent| log::line(&plain(&event.to_string())));
    let server = CollectorServer::bind(&plan, &options, on_event)?;
    copies::reread(server.tokens().clone())?;
    tell!("results go to {}", options.database);
    server.run(&cancel)?;
    log::line("stopped");
    Ok(ExitCode::SUCCESS)
}
