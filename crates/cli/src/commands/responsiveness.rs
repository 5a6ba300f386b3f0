//! `trunkline responsiveness`: round trips while the path is full.

use std::process::ExitCode;

use crate::args::Responsiveness;
use crate::failure::Failure;
use crate::output;
use crate::progress::RunProgress;
use crate::stop;

pub(crate) fn run(arguments: &Responsiveness) -> Result<ExitCode, Failure> {
    let name = arguments.target.parse()?;
    output::check_places(&arguments.output, None)?;
    let login = arguments.target.login.at(&name)?;
    let cancel = stop::listen()?;
    let mut target = arguments.target.open(name, login)?;
    let mut progress = RunProgress::new();
    progress.label(&arguments.target.name);
    let plan = arguments.plan();
    let document =
        trunkline::responsiveness(&mut target, &plan, &cancel, &mut |event| progress.on(event))?;
    drop(progress);
    output::deliver(document, &arguments.output, &arguments.keep)?;
    match cancel.is_cancelled() {
        true => Err(Failure::ended_by_user()),
        false => Ok(ExitCode::SUCCESS),
    }
}
