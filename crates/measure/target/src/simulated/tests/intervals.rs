//! A small part of `bench/coverage`: the same runs each time.

use netpath::PathSpec;
use observe::{SamplePlan, Setting, StreamCount, Target, Window};
use units::{Bytes, Span};

use crate::SimulatedPath;

/// What some settings carry in the long run, in Mbit/s, with the standard error: ten runs of 600 s
/// each, of `bench/results/coverage-2026-11-24.md`.
const TRUTHS: [(&str, u64, Option<u64>, f64, f64); 5] = [
    ("slac-cern", 1, None, 4.505, 0.054),
    ("slac-cern", 4, None, 17.896, 0.168),
    ("slac-cern", 8, Some(64), 25.978, 0.075),
    ("slac-caltech", 1, None, 24.912, 0.117),
    ("capped-buffers", 1, None, 13.001, 0.000),
];
const SEEDS: std::ops::Range<u64> = 0..4;
const SECONDS: [u64; 3] = [5, 10, 60];

/// Ends of the interval of one run in Mbit/s.
fn interval(path: &str, setting: &Setting, seconds: u64, seed: u64) -> Option<(f64, f64)> {
    let path = PathSpec::load(path).unwrap();
    let plan = SamplePlan {
        unloaded: Span::ZERO,
        ..SamplePlan::lasting(Span::from_secs(seconds))
    };
    let seen = SimulatedPath::new(&path, seed).observe(setting, &plan, &mut ());
    let interval = seen.unwrap().summary().goodput().interval?;
    Some((interval.low.as_f64() / 1e6, interval.high.as_f64() / 1e6))
}

#[test]
fn intervals_of_single_runs_hold_the_long_run_mean() {
    let (mut given, mut held, mut misses) = (0, 0, Vec::new());
    for (path, streams, window, truth, error) in TRUTHS {
        let window = window.map_or(Window::Auto, |kib| Window::Fixed(Bytes::from_kib(kib)));
        let setting = Setting::new(StreamCount::new(streams).unwrap(), window);
        for (seconds, seed) in SECONDS
            .into_iter()
            .flat_map(|s| SEEDS.map(move |seed| (s, seed)))
        {
            let Some((low, high)) = interval(path, &setting, seconds, seed) else {
                continue;
            };
            given += 1;
            match low - 2.0 * error <= truth && truth <= high + 2.0 * error {
                true => held += 1,
                false => misses.push((path, streams, seconds, seed, low, high, truth)),
            }
        }
    }
    assert!(given >= 25, "{given} of 60 runs gave an interval");
    assert!(
        f64::from(held) >= 0.93 * f64::from(given),
        "{held} of {given}: {misses:?}"
    );
}

#[test]
fn a_default_stream_at_165_ms_is_not_settled_after_ten_seconds() {
    let setting = Setting::new(StreamCount::ONE, Window::Auto);
    for seed in SEEDS {
        assert_eq!(
            interval("slac-cern", &setting, 10, seed),
            None,
            "seed {seed}"
        );
    }
}
