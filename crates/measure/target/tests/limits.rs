//! The paths of `limits/` are valid, their page names each, and what holds streams back on them is
//! what the inferred path says.

use std::fs;
use std::path::Path;

use inference::{Posterior, of_setting};
use netpath::PathSpec;
use observe::{
    Limit, Observation, SamplePlan, Setting, StreamCount, Target, TerminalCpu, Verdict, Window,
};
use target::SimulatedPath;
use units::{Rate, Span};

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/limits")
}

#[test]
fn each_path_is_valid_and_on_the_page() {
    let page = fs::read_to_string(folder().join("README.md")).unwrap();
    let files = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let paths: Vec<PathSpec> = files
        .filter(|file| file.extension().is_some_and(|ending| ending == "toml"))
        .map(|file| PathSpec::load(file.to_str().unwrap()).unwrap())
        .collect();
    assert_eq!(paths.len(), page.matches("\n| `").count());
    for path in paths {
        assert!(
            page.contains(&format!("\n| `{}` |", path.name)),
            "{}",
            path.name
        );
    }
}

/// What a path carries with so many streams in `seconds`.
fn seen(name: &str, streams: u64, pacing: Option<u64>, seconds: u64) -> Observation {
    seen_by(name, streams, pacing, seconds, 1)
}

fn seen_by(name: &str, streams: u64, pacing: Option<u64>, seconds: u64, seed: u64) -> Observation {
    let file = folder().join(format!("{name}.toml"));
    let path = PathSpec::load(file.to_str().unwrap()).unwrap();
    let setting = Setting {
        pacing: pacing.map(Rate::from_bits_per_second),
        ..Setting::new(StreamCount::new(streams).unwrap(), Window::Auto)
    };
    let plan = SamplePlan::lasting(Span::from_secs(seconds));
    SimulatedPath::new(&path, seed)
        .observe(&setting, &plan, &mut ())
        .unwrap()
}

/// The first of those that are right has to be named, first or among those that may be it.
fn said(name: &str, seen: &Observation, right: &[Limit]) {
    names(name, &inference::verdict(seen), right);
}

fn names(name: &str, verdict: &Verdict, right: &[Limit]) {
    let named = [&[verdict.limit][..], &verdict.or].concat();
    assert!(
        named.iter().any(|limit| right.contains(limit)),
        "{name}: {named:?}, not {right:?}: {}",
        verdict.because
    );
    assert!(named.len() <= 4, "{name}: {named:?}");
}

#[test]
fn what_holds_the_streams_back_is_said() {
    use Limit::*;
    for (name, streams, pacing, seconds, right) in [
        ("link-full", 4, None, 6, &[Link][..]),
        ("random-loss", 1, None, 10, &[Loss]),
        ("receive-buffer", 1, None, 6, &[ReceiveBuffer]),
        ("send-buffer", 1, None, 6, &[SendBuffer]),
        ("pacing", 1, Some(10_000_000), 6, &[RateLimit]),
        ("policer", 8, None, 10, &[Policer]),
        ("reordering", 1, None, 10, &[Reordering]),
        ("narrow-way-back", 1, None, 20, &[WayBack]),
        ("elastic-others", 4, None, 10, &[Others, Link]),
        ("on-off-others", 4, None, 10, &[Others, Link]),
        ("varying-rate", 4, None, 10, &[VaryingRate, Link]),
    ] {
        said(name, &seen(name, streams, pacing, seconds), right);
    }
}

/// One stream that loses packets leaves open why: eight beside it tell. What chance does in ten
/// seconds hides a short queue in half of all cases (48 of 96), so sixteen are asked.
#[test]
fn two_runs_tell_what_one_leaves_open() {
    for (name, right, at_least) in [
        ("shallow-queue", Limit::ShallowQueue, 4),
        ("policer", Limit::Policer, 16),
        ("random-loss", Limit::Loss, 16),
    ] {
        let verdicts = (1..=16).map(|seed| verdict_of_two(name, seed));
        let is_named = |verdict: &Verdict| verdict.limit == right || verdict.or.contains(&right);
        let (named, others): (Vec<_>, Vec<_>) = verdicts.partition(is_named);
        assert!(named.len() >= at_least, "{name}: {others:?}");
    }
}

/// What holds one stream back, as it and eight streams after it tell.
fn verdict_of_two(name: &str, seed: u64) -> Verdict {
    let runs = [1, 8].map(|streams| seen_by(name, streams, None, 10, seed));
    let posterior = Posterior::explaining(&runs, None, None).unwrap();
    let one = of_setting(&runs[0].setting, None);
    posterior.verdict(&one).unwrap()
}

/// A simulation has neither programs that pause nor processors: what a kernel would have counted is
/// written into its readings.
#[test]
fn what_only_kernels_count_is_said() {
    let paused = counted(&|one| {
        one.busy = one
            .busy
            .map(|busy| Span::from_secs_f64(busy.as_secs_f64() / 2.0));
    });
    said("application", &paused, &[Limit::Application]);
    let mut full = counted(&|_| {});
    full.streams[0].thread_cpu = Some(full.duration);
    said("processor", &full, &[Limit::Host]);
    let mut full = paused.clone();
    full.cpu_near = Some(used(full.duration));
    said("processor", &full, &[Limit::Host]);
    let slow = counted(&|one| {
        let share = one
            .busy
            .map(|busy| Span::from_secs_f64(busy.as_secs_f64() * 0.6));
        one.receive_window_limited = share;
        let tenths = one.at.as_nanos() / 100_000_000;
        let is_closed = tenths.is_multiple_of(7);
        one.peer_window = one
            .peer_window
            .filter(|_| !is_closed)
            .or(Some(units::Bytes::new(2_000)));
    });
    said("slow-reader", &slow, &[Limit::SlowReader]);
}

/// A stream that carries a tenth of a path on which nothing binds, with readings changed.
fn counted(change: &dyn Fn(&mut observe::TcpSample)) -> Observation {
    let mut seen = seen("application", 1, Some(100_000_000), 4);
    seen.setting.pacing = None;
    seen.streams[0].tcp.iter_mut().for_each(change);
    seen
}

/// A whole processor.
fn used(duration: Span) -> TerminalCpu {
    let at = |span: Span| observe::CpuSample {
        at: units::Time::ZERO + span,
        user: span,
        kernel: Span::ZERO,
    };
    TerminalCpu {
        samples: vec![at(Span::ZERO), at(duration)],
    }
}

/// Nothing is lost, and what bounds the stream is a queue that marks.
#[test]
fn marks_of_a_queue_are_seen_and_said() {
    let seen = seen("marking-queue", 1, None, 30);
    let tcp = seen.summary().main().unwrap().tcp;
    assert_eq!((tcp.ecn, tcp.retransmits), (Some(true), Some(0)));
    assert!(tcp.mark_echoed_share > Some(0.0), "{tcp:?}");
    said("marking-queue", &seen, &[Limit::Marks, Limit::Link]);
    let drops = seen_by("link-full", 1, None, 6, 1);
    let tcp = drops.summary().main().unwrap().tcp;
    assert_eq!((tcp.ecn, tcp.mark_echoed_share), (Some(false), None));
}

/// When chance strikes is no figure of the path: one stream tells losses from a short queue.
#[test]
fn losses_by_chance_are_no_short_queue() {
    for seed in 1..=4 {
        let one = seen_by("random-loss", 1, None, 10, seed);
        let verdict = inference::verdict(&one);
        assert_eq!(verdict.limit, Limit::Loss, "seed {seed}: {verdict:?}");
    }
}
