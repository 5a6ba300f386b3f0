//! `trunkline measure`: one setting in detail.

use std::process::ExitCode;

use observe::limit::{Context, diagnose};
use observe::{Amount, Direction, SamplePlan, Setting};
use record::{Document, Measure as Body};
use target::TargetName;

use crate::args::{Measure, Way};
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;
use crate::stop::Stop;

pub(crate) fn run(arguments: &Measure) -> Result<ExitCode, Failure> {
    let name = TargetName::parse(&arguments.target.name, arguments.target.port)?;
    output::check_places(&arguments.output.output, None)?;
    let seed = arguments.target.seed.seed;
    let stop = Stop::listen()?;
    let mut target = target::open(&name, seed)?;
    let mut progress = Progress::new(&stop);
    progress.label(&arguments.target.name);
    let observation = target.observe(&setting(arguments), &plan(arguments), &mut progress)?;
    drop(progress);
    let summary = observation.summary();
    let verdict = diagnose(&summary, &Context::alone(&observation.setting));
    let mut body = Body::new(&target.describe(), &observation, &summary, &verdict);
    body.target = body.target.on_path(name.path());
    let document = Document::new(output::origin(seed), body);
    output::deliver_rows(&document.into(), &arguments.output, &arguments.keep)?;
    Ok(ExitCode::SUCCESS)
}

fn setting(arguments: &Measure) -> Setting {
    Setting {
        direction: direction(&arguments.way),
        congestion: arguments.tcp.congestion.clone(),
        pacing: arguments.pacing,
        mss: arguments.tcp.mss,
        ..Setting::new(arguments.streams, arguments.window)
    }
}

fn plan(arguments: &Measure) -> SamplePlan {
    let plan = SamplePlan::lasting(arguments.duration);
    match arguments.bytes {
        Some(bytes) => SamplePlan {
            amount: Amount::Bytes(bytes),
            ..plan
        },
        None => plan,
    }
}

pub(crate) fn direction(way: &Way) -> Direction {
    match (way.reverse, way.bidir) {
        (true, _) => Direction::Reverse,
        (_, true) => Direction::Both,
        _ => Direction::Forward,
    }
}
