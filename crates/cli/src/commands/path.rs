//! `trunkline path`: what a path is like.

use std::process::ExitCode;

use trunkline::TargetName;

use crate::args::PathOf;
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::progress::RunProgress;
use crate::stop;

pub(crate) fn run(arguments: &PathOf) -> Result<ExitCode, Failure> {
    let name = arguments.target.parse()?;
    output::check_places(&arguments.output, None)?;
    arguments
        .path_file
        .as_deref()
        .map_or(Ok(()), output::check_place)?;
    let login = arguments.target.login.at(&name)?;
    let cancel = stop::listen()?;
    let takes_time = !matches!(name, TargetName::Simulated(_));
    let target = arguments.target.open(name, login)?;
    if takes_time {
        tell!("{}", expected(arguments));
        if arguments.way_back {
            tell!("the way back: up to 40 s more");
        }
        if let Some(flows) = arguments.flows {
            tell!("the hops of {flows} flows: two seconds more for each");
        }
        if arguments.hop_capacity {
            tell!("the rate of each hop: at most a minute more");
        }
    }
    let mut progress = RunProgress::new();
    progress.label(&arguments.target.name);
    let (wanted, infers) = (arguments.wanted(), arguments.path_file.is_some());
    let examined = trunkline::examine(target, &wanted, infers, &cancel, &mut |event| {
        progress.on(event);
    });
    drop(progress);
    let document = examined?.into();
    output::deliver_any(&document, &arguments.output, &arguments.keep)?;
    if let Some(file) = &arguments.path_file {
        output::write_path(&document, file)?;
    }
    match cancel.is_cancelled() {
        true => Err(Failure::ended_by_user()),
        false => Ok(ExitCode::SUCCESS),
    }
}

/// How long it takes, roughly: probes have a pace of their own, and a trace waits for routers that
/// do not answer.
fn expected(arguments: &PathOf) -> &'static str {
    match (arguments.quick, arguments.no_load) {
        (true, _) => "round trips, MTU and hops: about 15 s",
        (_, true) => "packets and trains of them: up to three minutes",
        _ if arguments.path_file.is_some() => {
            "a search, packets, trains of them, then streams: three to five minutes"
        }
        _ => "packets, trains of them, then streams: two to four minutes",
    }
}
