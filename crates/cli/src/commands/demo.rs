//! `trunkline demo`: published settings beside the tuner's, on an emulated path.

use std::process::ExitCode;

use trunkline::measure::{SamplePlan, Setting, StreamCount, Window};
use trunkline::record::{Demo as Body, LabelledRun, Published};
use trunkline::tune::{Controls, Ended, TunePlan};
use trunkline::units::{Bytes, Span};
use trunkline::{Cancel, Document, Target};

use crate::args::Demo;
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::progress::RunProgress;
use crate::stop;

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
    let cancel = stop::listen()?;
    let mut target = Target::open(PATH, seed)?;
    if let Some(path) = target.path() {
        tell!("emulating {}: {path}", path.name);
    }
    let mut progress = RunProgress::new();
    let mut runs = Vec::new();
    for row in rows() {
        runs.push(usual(&mut target, &row, &cancel, &mut progress)?);
    }
    // Streams and windows alone, as in the settings that it is compared with. What it recommends is
    // run once more, and may change its answer.
    let plan = TunePlan {
        controls: Controls::Kept,
        confirms: Some(SHORT),
        asked: runs.iter().map(|run| run.run.setting.clone()).collect(),
        ..TunePlan::default()
    };
    let tuned = trunkline::tune(&mut target, &plan, &cancel, &mut |event| progress.on(event))?;
    drop(progress);
    let answer = match &tuned.tuning.ended {
        Ended::Found(answer) | Ended::Cut(answer, _) => answer,
        Ended::Stopped(error) => return Err(Failure::cut_short(error)),
    };
    for (run, promise) in runs.iter_mut().zip(&tuned.tuning.asked) {
        run.promise = Some(promise.into());
    }
    let tune = tuned.document.body;
    let setting = &answer.recommended.setting;
    let asked = |sample: usize| tuned.tuning.samples.get(sample).map(|one| &one.setting);
    let mut confirmations = tune.confirmations.iter();
    let confirmed = confirmations.find(|one| asked(one.sample) == Some(setting));
    let best = confirmed.and_then(|one| tune.samples.get(one.sample));
    let body = Body {
        target: tune.target.clone(),
        runs,
        tuned: best.map(|sample| sample.run.clone()),
        tune,
    };
    let document = Document::new(trunkline::origin(Some(seed)), body);
    output::deliver(document, &arguments.output(), &arguments.keep)?;
    Ok(ExitCode::SUCCESS)
}

/// Measures a usual setting.
fn usual(
    target: &mut Target,
    row: &Row,
    cancel: &Cancel,
    progress: &mut RunProgress,
) -> Result<LabelledRun, Failure> {
    progress.label(row.label);
    let setting = Setting::new(row.streams, row.window);
    let published = row.published_bits_per_second.map(|rate| Published {
        goodput_bits_per_second: rate,
        source: SOURCE.to_owned(),
    });
    let plan = SamplePlan::lasting(row.length);
    let mut on_progress = |event: trunkline::Progress<'_>| progress.on(event);
    let measured = trunkline::measure(target, &setting, &plan, cancel, &mut on_progress)?;
    Ok(LabelledRun {
        label: row.label.to_owned(),
        promise: None,
        published,
        run: measured.run(),
    })
}
