//! `trunkline demo`: published settings beside the tuner's, on an emulated path.

use std::process::ExitCode;

use observe::limit::{Context, diagnose};
use observe::{SamplePlan, Setting, StreamCount, Target, Window};
use record::{Demo as Body, Document, LabelledRun, Published, Run, Tune};
use target::TargetName;
use tune::{Ended, TunePlan};
use units::{Bytes, Span};

use crate::args::Demo;
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::progress::Progress;
use crate::stop::Stop;

/// The path that the story is told on.
const PATH: &str = "emu:slac-cern";
const SOURCE: &str = "Cottrell, SLAC to CERN, 2000-2001";
/// Where buffers bind or the link is full, a run tells soon what a longer one would carry.
const SHORT: Span = Span::from_secs(20);

/// A usual setting, with what it carried when it was published. Two of the three are slow by
/// losses, of which one of their streams sees one in 7 s: it takes so long to see enough of them.
struct Row {
    label: &'static str,
    streams: StreamCount,
    window: Window,
    published_bits_per_second: Option<u64>,
    length: Span,
}

fn rows() -> [Row; 3] {
    let fixed = |kib| Window::Fixed(Bytes::from_kib(kib));
    let streams = |n| StreamCount::new(n).unwrap_or(StreamCount::ONE);
    [
        Row {
            label: "1 default stream",
            streams: StreamCount::ONE,
            window: Window::Auto,
            published_bits_per_second: None,
            length: Span::from_secs(90),
        },
        Row {
            label: "2 x 256KiB",
            streams: streams(2),
            window: fixed(256),
            published_bits_per_second: Some(9_450_000),
            length: Span::from_secs(60),
        },
        Row {
            label: "8 x 64KiB",
            streams: streams(8),
            window: fixed(64),
            published_bits_per_second: Some(26_800_000),
            length: SHORT,
        },
    ]
}

pub(crate) fn run(arguments: &Demo) -> Result<ExitCode, Failure> {
    output::check_places(&arguments.output(), None)?;
    let seed = arguments.seed.seed;
    let name = TargetName::parse(PATH, sockets::PORT_DEFAULT)?;
    let stop = Stop::listen()?;
    let mut target = target::open(&name, seed)?;
    if let TargetName::Emulated(path) = &name {
        tell!("emulating {}: {path}", path.name);
    }
    let mut progress = Progress::new(&stop);
    let mut runs = Vec::new();
    for row in rows() {
        runs.push(usual(&mut *target, &row, &mut progress)?);
    }
    let tuning = tune::tune(&mut *target, &TunePlan::default(), &mut progress)?;
    let answer = match &tuning.ended {
        Ended::Found(answer) | Ended::Cut(answer, _) => answer,
        Ended::Stopped(error) => return Err(Failure::cut_short(error)),
    };
    progress.label("what the search recommends, once more");
    let setting = &answer.recommended.setting;
    let tuned = measured(&mut *target, setting, SHORT, &mut progress)?;
    drop(progress);
    let info = target.describe();
    let mut tune = Tune::new(&info, &tuning);
    tune.target = tune.target.on_path(name.path());
    let target = tune.target.clone();
    let body = Body {
        target,
        runs,
        tune,
        tuned: Some(tuned),
    };
    let document = Document::new(output::origin(seed), body);
    output::deliver(document, &arguments.output(), &arguments.keep)?;
    Ok(ExitCode::SUCCESS)
}

/// Measures a usual setting.
fn usual(
    target: &mut dyn Target,
    row: &Row,
    progress: &mut Progress,
) -> Result<LabelledRun, Failure> {
    progress.label(row.label);
    let setting = Setting::new(row.streams, row.window);
    let published = row.published_bits_per_second.map(|rate| Published {
        goodput_bits_per_second: rate,
        source: SOURCE.to_owned(),
    });
    Ok(LabelledRun {
        label: row.label.to_owned(),
        published,
        run: measured(target, &setting, row.length, progress)?,
    })
}

fn measured(
    target: &mut dyn Target,
    setting: &Setting,
    length: Span,
    progress: &mut Progress,
) -> Result<Run, Failure> {
    let observation = target.observe(setting, &SamplePlan::lasting(length), progress)?;
    let summary = observation.summary();
    let verdict = diagnose(&summary, &Context::alone(&observation.setting));
    Ok(Run::new(&observation, &summary, Some(&verdict)))
}
