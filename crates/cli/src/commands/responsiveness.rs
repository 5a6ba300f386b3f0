//! `trunkline responsiveness`: round trips while the path is full.

use std::process::ExitCode;

use probing::responsiveness::measure;
use record::{Document, Responsiveness as Body, Target};
use target::TargetName;

use crate::args::Responsiveness;
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;
use crate::stop::Stop;

pub(crate) fn run(arguments: &Responsiveness) -> Result<ExitCode, Failure> {
    let name = TargetName::parse(&arguments.target.name, arguments.target.port)?;
    output::check_places(&arguments.output, None)?;
    let seed = arguments.target.seed.seed;
    let stop = Stop::listen()?;
    let mut target = target::open(&name, seed)?;
    let mut progress = Progress::new(&stop);
    progress.label(&arguments.target.name);
    let measured = measure(&mut *target, &arguments.plan(), &mut progress)?;
    drop(progress);
    let shape = Target::from(&target.describe()).on_path(name.path());
    let body = Body::new(shape, arguments.duration, &measured);
    let document = Document::new(output::origin(seed), body);
    output::deliver(document, &arguments.output, &arguments.keep)?;
    match stop.is_asked() {
        true => Err(Failure::ended_by_user()),
        false => Ok(ExitCode::SUCCESS),
    }
}
