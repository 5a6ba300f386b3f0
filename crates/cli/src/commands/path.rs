//! `trunkline path`: what a path is like.

use std::process::ExitCode;

use probing::{Examined, characterise};
use record::{Characteristics as Body, Document, Target};
use target::{TargetName, UnderLoad};

use crate::args::PathOf;
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::progress::Progress;
use crate::stop::Stop;

pub(crate) fn run(arguments: &PathOf) -> Result<ExitCode, Failure> {
    let name = TargetName::parse(&arguments.target.name, arguments.target.port)?;
    output::check_places(&arguments.output, None)?;
    let seed = arguments.target.seed.seed;
    let stop = Stop::listen()?;
    let mut path = UnderLoad::new(target::open(&name, seed)?);
    if !matches!(name, TargetName::Simulated(_)) {
        tell!("{}", expected(arguments));
    }
    let mut progress = Progress::new(&stop);
    progress.label(&arguments.target.name);
    let found = characterise(&mut path, &arguments.wanted(), &mut progress)?;
    drop(progress);
    let target = Target::from(&path.target().describe()).on_path(name.path());
    let document = Document::new(output::origin(seed), Body::new(target, &found));
    output::deliver(document, &arguments.output, &arguments.keep)?;
    match stop.is_asked() {
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
