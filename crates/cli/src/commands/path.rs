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
    let cancel = stop::listen()?;
    let takes_time = !matches!(name, TargetName::Simulated(_));
    let target = arguments.target.open(name)?;
    if takes_time {
        tell!("{}", expected(arguments));
    }
    let mut progress = RunProgress::new();
    progress.label(&arguments.target.name);
    let document = trunkline::examine(target, &arguments.wanted(), &cancel, &mut |event| {
        progress.on(event)
    })?;
    drop(progress);
    output::deliver(document, &arguments.output, &arguments.keep)?;
    match cancel.is_cancelled() {
        true => Err(Failure::ended_by_user()),
        false => Ok(ExitCode::SUCCESS),
    }
}

/// How long it takes, roughly: probes have a pace of their own, and a trace waits for routers that
/// do not answer.
fn expected(arguments: &PathOf) -> &'static str {
    match (arguments.quick, arguments.no_load) {
        (true, _) => "small packets only: about 15 s",
        (_, true) => "packets and trains of them: up to three minutes",
        _ => "packets, trains of them, then streams: two to four minutes",
    }
}
