//! `trunkline demo`: published settings beside the tuner's, on an emulated path.

use std::process::ExitCode;

use lab::TargetName;
use observe::limit::{Context, diagnose};
use observe::{SamplePlan, Setting, StreamCount, Target, Window};
use record::{Demo as Body, Document, LabelledRun, Published, Run, Tune};
use tune::{TunePlan, advice};
use units::{Bytes, Span};

use crate::args::Demo;
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::progress::Progress;
use crate::stop::Stop;

/// The path that the story is told on.
const PATH: &str = "emu:slac-cern";
/// Long enough at 165 ms for a window to fall to what the losses allow, in the later half.
const RUN: Span = Span::from_secs(10);
const SOURCE: &str = "Cottrell, SLAC to CERN, 2000-2001";

/// A setting that was published with what it carried then.
struct Row {
    streams: u16,
    window: Bytes,
    published_bits_per_second: u64,
}

const ROWS: [Row; 2] = [
    Row {
        streams: 2,
        window: Bytes::from_kib(256),
        published_bits_per_second: 9_450_000,
    },
    Row {
        streams: 8,
        window: Bytes::from_kib(64),
        published_bits_per_second: 26_800_000,
    },
];

pub(crate) fn run(arguments: &Demo) -> Result<ExitCode, Failure> {
    output::check_places(&arguments.output(), None)?;
    let seed = arguments.seed.seed;
    let name = TargetName::parse(PATH, net::PORT_DEFAULT)?;
    let stop = Stop::listen()?;
    let mut target = lab::open(&name, seed)?;
    if let TargetName::Emulated(path) = &name {
        tell!("emulating {}: {path}", path.name);
    }
    let mut progress = Progress::new(&stop);
    let mut runs = Vec::new();
    for row in &ROWS {
        runs.push(published(&mut *target, row, &mut progress)?);
    }
    let tuning = tune::tune(&mut *target, &TunePlan::default(), &mut progress)?;
    drop(progress);
    let info = target.describe();
    let advice = advice::for_setting(&tuning.recommended.setting);
    let mut tune = Tune::new(&info, &tuning, &advice);
    tune.target = tune.target.on_path(name.path());
    let target = tune.target.clone();
    let body = Body { target, runs, tune };
    let document = Document::new(output::origin(seed), body);
    output::deliver(document, &arguments.output(), &arguments.keep)?;
    Ok(ExitCode::SUCCESS)
}

/// Measures a published setting.
fn published(
    target: &mut dyn Target,
    row: &Row,
    progress: &mut Progress,
) -> Result<LabelledRun, Failure> {
    let streams = StreamCount::new(u64::from(row.streams)).unwrap_or(StreamCount::ONE);
    let setting = Setting::new(streams, Window::Fixed(row.window));
    progress.label(&format!("{} x {}", row.streams, row.window));
    let observation = target.observe(&setting, &SamplePlan::lasting(RUN), progress)?;
    let summary = observation.summary();
    let verdict = diagnose(&summary, &Context::default());
    Ok(LabelledRun {
        label: format!("{} x {}", row.streams, row.window),
        published: Some(Published {
            goodput_bits_per_second: row.published_bits_per_second,
            source: SOURCE.to_owned(),
        }),
        run: Run::new(&observation, &summary, Some(&verdict)),
    })
}
