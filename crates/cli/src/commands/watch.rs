//! `trunkline watch`: plans, agents and the collector.

mod check;
mod demo;
mod export;
mod flows;
mod forecast;
mod months;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use trunkline::report::text::plain;
use trunkline_watch::{
    AlertFiles, CollectOptions, CollectorServer, PageServer, RunOptions, load_plan,
};

use super::serve::{copies, describe_event, log};
use crate::args::{TestAlerts, Watch, WatchCommand, WatchRun, WatchServe};
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::stop;

pub(crate) fn run(arguments: &Watch) -> Result<ExitCode, Failure> {
    match &arguments.command {
        WatchCommand::Check(arguments) => check::run(arguments),
        WatchCommand::Run(arguments) => agent(arguments),
        WatchCommand::Serve(arguments) => collector(arguments),
        WatchCommand::TestAlerts(arguments) => test_alerts(arguments),
        WatchCommand::Forecast(arguments) => forecast::run(arguments),
        WatchCommand::Months(arguments) => months::run(arguments),
        WatchCommand::Flows(arguments) => flows::run(arguments),
        WatchCommand::Export(arguments) => export::run(arguments),
        WatchCommand::Demo(arguments) => demo::run(arguments),
    }
}

fn agent(arguments: &WatchRun) -> Result<ExitCode, Failure> {
    let plan = arguments.plan.as_deref().map(load_plan).transpose()?;
    plan.iter().for_each(check::tell_notices);
    let host = match &arguments.host {
        Some(host) => host.clone(),
        None => trunkline::host::name(),
    };
    let options = RunOptions {
        host,
        collector: arguments.collector.clone(),
        token: trunkline_watch::read_token(&arguments.token_file)?,
        state: arguments.state.clone(),
        port: arguments.port,
        tokens: arguments.tokens.clone(),
    };
    if let Some(plan) = &plan {
        plan.hosts_of(&options.host)?;
    }
    let cancel = stop::listen()?;
    tell!(
        "agent of {}; results wait in {} and go to {}",
        options.host,
        options.state.display(),
        options.collector
    );
    let on_serve = Arc::new(describe_event);
    trunkline_watch::run(
        plan.as_ref(),
        options,
        &cancel,
        &|event| log::line(&plain(&event.to_string())),
        on_serve,
    )?;
    log::line("stopped");
    Ok(ExitCode::SUCCESS)
}

fn test_alerts(arguments: &TestAlerts) -> Result<ExitCode, Failure> {
    let (sentences, is_sent) = trunkline_watch::test_alerts(&arguments.alerts)?;
    for sentence in sentences {
        output::print(&format!("{}\n", plain(&sentence)))?;
    }
    Ok(match is_sent {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn pages(arguments: &WatchServe) -> Result<Option<PageServer>, Failure> {
    let Some(listen) = arguments.web else {
        return Ok(None);
    };
    let token = match &arguments.web_token_file {
        None => None,
        Some(file) => {
            let text = fs::read_to_string(file).map_err(|e| Failure::unreadable(file, &e))?;
            Some(word(file, &text)?)
        }
    };
    Ok(Some(PageServer { listen, token }))
}

/// An empty word would let everyone silence alerts.
fn word(file: &Path, text: &str) -> Result<String, Failure> {
    const LEAST: usize = 16;
    let word = text.trim();
    match word.chars().count() {
        LEAST.. => Ok(word.to_owned()),
        length => Err(Failure::wrong_request(
            &format!(
                "the word in {} has {length} characters, and {LEAST} are the least",
                file.display()
            ),
            "write a longer one: `head -c 24 /dev/urandom | base64`",
        )),
    }
}

fn collector(arguments: &WatchServe) -> Result<ExitCode, Failure> {
    let plan = load_plan(&arguments.plan.plan)?;
    check::tell_notices(&plan);
    let cancel = stop::listen_as_server()?;
    let options = CollectOptions {
        database: arguments.database.clone(),
        tokens: arguments.tokens.clone(),
        port: arguments.port,
        keep_raw: arguments.keep_raw,
        alerts: arguments.alerts.clone().map(|rules| AlertFiles {
            rules,
            state: arguments.alerts_state.clone(),
        }),
        pages: pages(arguments)?,
    };
    let on_event =
        Arc::new(|event: &trunkline_watch::CollectorEvent| log::line(&plain(&event.to_string())));
    let server = CollectorServer::bind(&plan, &options, on_event)?;
    copies::reread(server.tokens().clone())?;
    tell!("results go to {}", options.database);
    server.run(&cancel)?;
    log::line("stopped");
    Ok(ExitCode::SUCCESS)
}
