//! Made-up simulations: a toy path of 45 Mbit/s and 165 ms with cross traffic.

use netpath::PathSpec;
use sim::{
    CrossResult, Drops, QueueUse, RoundTrips, RunResult, Sample, Scenario, StreamResult, Variant,
    Work, WorkDone,
};
use units::{Bytes, Rate, Span, Time};

use super::origin;
use super::run::Noise;
use crate::simulate::{Cell, Ran};
use crate::{Campaign, Document, Simulate};

const PATH: &str = r#"
[forward]
rate  = "45Mbit/s"
delay = "82.5ms"
queue = { kind = "drop-tail", limit = "128KiB" }
loss  = { kind = "random", rate = 2e-5 }
[hosts]
congestion = "reno"
[[cross]]
streams = 5
window  = "64KiB"
"#;

/// The scenario of the toy path.
///
/// # Panics
/// Never: the path is right.
pub fn scenario() -> Scenario {
    let path = PathSpec::from_toml("toy", PATH).expect("a valid path");
    Scenario {
        streams: 8,
        warmup: Span::from_secs(5),
        series_interval: Some(Span::from_millis(250)),
        ..Scenario::new(path).expect("reno is simulated")
    }
}

/// A simulate document of `streams` endless streams with three seeds.
pub fn simulate(streams: u32) -> Document<Simulate> {
    let scenario = Scenario {
        streams,
        ..scenario()
    };
    one(
        &scenario,
        "trunkline simulate toy.toml -P 8 --seeds 3 --series 250ms",
    )
}

/// A simulate document of data with an end; the last of three seeds left some where `unfinished`.
pub fn transfer(unfinished: bool) -> Document<Simulate> {
    let scenario = Scenario {
        work: Work::Striped(Bytes::new(500_000_000)),
        warmup: Span::ZERO,
        duration: Span::from_secs(300),
        ..scenario()
    };
    let mut results = results(&scenario, 3);
    if unfinished {
        results[2].completion = None;
        results[2].streams[0].completed = None;
    }
    document(
        &scenario,
        &results,
        "trunkline simulate toy.toml -P 8 --bytes 500MB --seeds 3",
    )
}

/// A campaign document: 1 to 32 streams by doubling, three windows, two variants, two seeds.
pub fn campaign() -> Document<Campaign> {
    let kib = |kib| Some(Bytes::from_kib(kib));
    let mut cells = Vec::new();
    for variant in [Variant::Sack, Variant::Cubic] {
        for streams in [1, 2, 4, 8, 16, 32] {
            for window in [None, kib(64), kib(256)] {
                cells.push(cell(&Scenario {
                    streams,
                    window,
                    variant,
                    series_interval: None,
                    ..scenario()
                }));
            }
        }
    }
    let words = "trunkline simulate toy.toml -P 1,2,4,8,16,32 -w auto,64k,256k --variant \
        sack,cubic --seeds 2";
    let base = Scenario {
        series_interval: None,
        ..scenario()
    };
    let body = Campaign::new(&base, cells, Span::from_millis(12_340));
    Document::new(origin(words, 1), body)
}

fn one(scenario: &Scenario, words: &str) -> Document<Simulate> {
    document(scenario, &results(scenario, 3), words)
}

fn document(scenario: &Scenario, results: &[RunResult], words: &str) -> Document<Simulate> {
    let alone = alone(scenario, results.len() as u64);
    let cpu = Span::from_millis(480);
    let body = Simulate::new(scenario, &ran(results), &ran(&alone), cpu);
    Document::new(origin(words, 1), body)
}

fn cell(scenario: &Scenario) -> Cell {
    let alone = alone(scenario, 2);
    Cell::new(scenario, &ran(&results(scenario, 2)), &ran(&alone))
}

/// The cross traffic without the streams; not run for data with an end.
fn alone(scenario: &Scenario, seeds: u64) -> Vec<RunResult> {
    if scenario.work != Work::Endless {
        return Vec::new();
    }
    let mut results = results(scenario, seeds);
    for result in &mut results {
        result.streams.clear();
        result.cross[0].goodput = Rate::from_bits_per_second(15_300_000 + result.seed * 10_000);
    }
    results
}

fn ran(results: &[RunResult]) -> Vec<Ran> {
    let run = |(index, result): (usize, &RunResult)| Ran {
        result: result.clone(),
        cpu: Span::from_millis(160),
        cached: index == 0,
    };
    results.iter().enumerate().map(run).collect()
}

pub(crate) fn results(scenario: &Scenario, seeds: u64) -> Vec<RunResult> {
    let seeded = |seed| Scenario {
        seed,
        ..scenario.clone()
    };
    (1..=seeds).map(|seed| result(&seeded(seed))).collect()
}

/// Goodput of the toy path: what windows, losses and the link allow, whichever is least.
fn goodput(scenario: &Scenario) -> f64 {
    let streams = f64::from(scenario.streams);
    let window = scenario.window.unwrap_or(Bytes::from_mib(3));
    let one = match scenario.variant {
        Variant::Cubic => 7.8e6,
        _ => 4.9e6,
    };
    let by_window = streams * window.as_f64() * 8.0 / 0.175;
    let by_link = 38.0e6 * (1.0 - 0.25 / (1.0 + streams)) - 1.0e5 * streams;
    by_window.min(streams * one).min(by_link)
}

fn result(scenario: &Scenario) -> RunResult {
    let mut noise = Noise::new(scenario.seed ^ (u64::from(scenario.streams) << 32));
    let total = goodput(scenario) * noise.factor(0.04);
    let cross = (41.5e6 - total).clamp(2.0e6, 15.0e6) * noise.factor(0.04);
    let completion = completion(scenario, total);
    let measured = completion.unwrap_or(scenario.duration - scenario.warmup);
    RunResult {
        seed: scenario.seed,
        measured,
        streams: streams(scenario, total, completion, measured, &mut noise),
        cross: vec![CrossResult {
            goodput: Rate::from_f64(cross),
            transfers: 0,
            turned_away: 0,
        }],
        drops: Drops {
            queue_full: (total / 1e5) as u64,
            wire_loss: 40 + scenario.seed,
            ..Drops::default()
        },
        marks: 0,
        queue: QueueUse {
            mean_packets: total / 1e6,
            peak_bytes: Bytes::from_kib(127),
        },
        utilisation: ((total + cross) * 1.04 / 45e6).min(1.0),
        round_trips: Some(round_trips(total)),
        completion,
        series: series(scenario, total, cross, &mut noise),
        work: WorkDone {
            data_packets: (total * measured.as_secs_f64() / 12_000.0) as u64,
            events: (total * measured.as_secs_f64() / 2_000.0) as u64,
        },
    }
}

fn completion(scenario: &Scenario, total: f64) -> Option<Span> {
    match scenario.work {
        Work::Endless => None,
        Work::Striped(bytes) => Some(Span::from_secs_f64(bytes.as_f64() * 8.0 / total)),
        Work::PerStream(bytes) => {
            let all = bytes.times(u64::from(scenario.streams));
            Some(Span::from_secs_f64(all.as_f64() * 8.0 / total))
        }
    }
}

fn streams(
    scenario: &Scenario,
    total: f64,
    completion: Option<Span>,
    measured: Span,
    noise: &mut Noise,
) -> Vec<StreamResult> {
    let each = total / f64::from(scenario.streams);
    let stream = |_| {
        let goodput = Rate::from_f64(each * noise.factor(0.15));
        StreamResult {
            goodput,
            acknowledged: goodput.bytes_in(measured),
            retransmitted: 12,
            timeouts: 1,
            completed: completion
                .map(|end| Span::from_secs_f64(end.as_secs_f64() * noise.factor(0.05))),
        }
    };
    (0..scenario.streams).map(stream).collect()
}

fn round_trips(total: f64) -> RoundTrips {
    let ms = |ms: f64| Span::from_secs_f64(ms / 1e3);
    let queue = total / 2e6;
    RoundTrips {
        samples: 20_000,
        min: ms(165.2),
        mean: ms(167.0 + queue * 0.5),
        median: ms(166.8 + queue * 0.4),
        p95: ms(168.0 + queue * 0.9),
        p99: ms(169.0 + queue),
        max: ms(171.0 + queue * 1.1),
    }
}

/// A sawtooth for each stream, and a queue that follows their sum.
fn series(scenario: &Scenario, total: f64, cross: f64, noise: &mut Noise) -> Vec<Sample> {
    let Some(interval) = scenario.series_interval else {
        return Vec::new();
    };
    let top = total * 0.165 / 8.0 / 1448.0 / f64::from(scenario.streams) * 1.35;
    let phases: Vec<f64> = (0..scenario.streams).map(|_| noise.factor(1.0)).collect();
    let sample = |index: u64| {
        let at = interval.times(index);
        let seconds = at.as_secs_f64();
        let ramp = (seconds / 3.0).min(1.0);
        let window = |phase: &f64| ramp * top * (0.5 + 0.5 * (seconds / 9.0 + phase).fract()) + 1.0;
        let windows: Vec<f64> = phases.iter().map(window).collect();
        let outstanding: f64 = windows.iter().sum();
        let full = total * 0.165 / 8.0 / 1448.0;
        Sample {
            at: Time::ZERO + at,
            queue_packets: ((outstanding - full * 0.9).clamp(0.0, 87.0)) as u64,
            windows,
            acknowledged: Bytes::new((total * ramp * seconds / 8.0) as u64),
            cross_delivered: Bytes::new((cross * seconds / 8.0) as u64),
        }
    };
    let end = scenario.duration.as_nanos() / interval.as_nanos();
    (1..=end.min(120)).map(sample).collect()
}
