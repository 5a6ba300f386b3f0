//! Long runs of single settings: what a setting gives when it has had time to settle.
//!
//! They go through [`simulation_grid`]: on all processors, each kept on disk as it ends under a
//! name that follows from the path, the setting, the seed and the simulator's sources.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use netpath::PathSpec;
use observe::{Setting, TargetError};
use sim::{RunResult, Scenario, Variant};
use simulation_grid::{self, Cache, Progress};
use target::SimulatedPath;
use units::{Bytes, Rate, Span};

use crate::store::{self, Store};

/// Cross traffic has the path for itself first, as long as in a sample of the tuner.
const LEAD: Span = Span::from_secs(5);
/// What slow start and the first climb after it take at the most on nearly all paths.
const WARMUP: (Span, u64) = (Span::from_secs(6), 40);
/// What is counted: seconds, or round trips where they are longer.
const MEASURED: (Span, u64) = (Span::from_secs(24), 120);
/// ... and no more packets than this: 18 s of packets of 9000 bytes at 10 Gbit/s.
const PACKETS_MAX: f64 = 2.5e6;
/// What is counted of a run of [`Length::Minute`].
const MINUTE: Span = Span::from_secs(60);

/// How much of a run is counted, after its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// 24 s, or 120 round trips where they are longer: for the many cells of a grid.
    Usual,
    /// A minute, as a copy of a user lasts.
    Minute,
}

/// A long run to make.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    pub path: &'a PathSpec,
    /// `None` leaves the path to its cross traffic.
    pub setting: Option<&'a Setting>,
    pub seed: u64,
    pub length: Length,
}

/// What a long run showed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Outcome {
    /// Payload of all streams, bits per second.
    pub goodput: f64,
    /// Payload of the cross traffic, bits per second.
    pub cross: f64,
    /// Mean wait in the queue, seconds.
    pub wait: f64,
    /// Segments sent again, as a share of all that were sent.
    pub resent: f64,
}

impl Outcome {
    /// The same with no more goodput than the link carries. What counts is what was acknowledged:
    /// where a loss at the beginning held back a queue of acknowledgements, that is a percent or
    /// two more.
    fn on(self, path: &PathSpec) -> Self {
        Outcome {
            goodput: self.goodput.min(carried_most(path)),
            ..self
        }
    }
}

/// The payload that the link of `path` carries when it is full, bits per second.
pub fn carried_most(path: &PathSpec) -> f64 {
    let packet = f64::from(path.hosts.mtu);
    path.forward.rate.as_f64() * (packet - HEADER) / packet
}

/// Makes long runs, each once.
#[derive(Debug)]
pub struct Runner {
    /// Keeps runs while others go on.
    pub cache: Cache,
    /// Keeps what they came to.
    pub store: Store,
}

impl Runner {
    /// The outcome of each job, in their order.
    ///
    /// # Errors
    /// When one cannot be simulated.
    pub fn run(&mut self, what: &str, jobs: &[Job]) -> Result<Vec<Outcome>, String> {
        let scenarios: Result<Vec<Scenario>, TargetError> = jobs.iter().map(scenario).collect();
        let scenarios = scenarios.map_err(|error| error.to_string())?;
        let keys: Vec<String> = scenarios.iter().map(store::key).collect();
        let mut missing = Vec::new();
        let mut asked = HashSet::new();
        for (key, scenario) in keys.iter().zip(scenarios) {
            if self.store.get(key).is_none() && asked.insert(key) {
                missing.push((key.clone(), scenario));
            }
        }
        self.make(what, missing)?;
        let outcome = |(key, job): (&String, &Job)| {
            let outcome = self.store.get(key).map(|outcome| outcome.on(job.path));
            outcome.ok_or_else(|| format!("{what}: a run is missing"))
        };
        keys.iter().zip(jobs).map(outcome).collect()
    }

    fn make(&mut self, what: &str, missing: Vec<(String, Scenario)>) -> Result<(), String> {
        let (keys, scenarios): (Vec<String>, Vec<Scenario>) = missing.into_iter().unzip();
        let mut shown = Shown { what, percent: 0 };
        let mut watch = |progress: &Progress| shown.show(progress);
        let never = AtomicBool::new(false);
        let finished = simulation_grid::run(&scenarios, Some(&self.cache), &never, &mut watch);
        let finished = finished.map_err(|error| error.to_string())?;
        let results = finished.runs.iter().zip(&scenarios);
        let outcomes = results.map(|(ran, scenario)| outcome(&ran.result, &scenario.path));
        let kept = self.store.add(keys.into_iter().zip(outcomes).collect());
        if let Some(error) = finished.not_kept.or(kept.err()) {
            eprintln!("{what}: some runs could not be kept: {error}");
        }
        Ok(())
    }
}

/// Progress on standard error.
struct Shown<'a> {
    what: &'a str,
    percent: u64,
}

impl Shown<'_> {
    fn show(&mut self, progress: &Progress) {
        let percent = progress.share_of(100);
        if percent / PERCENTS > self.percent / PERCENTS {
            self.percent = percent;
            eprintln!("{}: {percent} % of {} runs", self.what, progress.runs);
        }
    }
}

/// Between two lines of progress.
const PERCENTS: u64 = 20;

fn scenario(job: &Job) -> Result<Scenario, TargetError> {
    let mut scenario = match job.setting {
        Some(setting) => SimulatedPath::new(job.path, 0).scenario(setting, job.seed)?,
        None => Scenario {
            streams: 0,
            seed: job.seed,
            ..Scenario::of(job.path.clone(), Variant::Sack)
        },
    };
    if !job.path.cross.is_empty() {
        scenario.idle = LEAD;
    }
    // A minute is promised with its start.
    let (start, counted) = match job.length {
        Length::Usual => (longer(job.path, WARMUP), measured(job.path)),
        Length::Minute => (Span::ZERO, MINUTE),
    };
    scenario.warmup = scenario.idle + start;
    scenario.duration = scenario.warmup + counted;
    Ok(scenario)
}

fn longer(path: &PathSpec, (least, round_trips): (Span, u64)) -> Span {
    path.base_rtt().times(round_trips).max(least)
}

fn measured(path: &PathSpec) -> Span {
    let packet = Bytes::new(path.hosts.mtu.into());
    let bound = path.forward.rate.time_to_send(packet).as_secs_f64() * PACKETS_MAX;
    longer(path, MEASURED).min(Span::from_secs_f64(bound))
}

fn outcome(result: &RunResult, path: &PathSpec) -> Outcome {
    let total = |rates: &mut dyn Iterator<Item = Rate>| rates.map(Rate::as_f64).sum();
    let packet = Bytes::new(path.hosts.mtu.into());
    let resent: u64 = result.streams.iter().map(|one| one.retransmitted).sum();
    let arrived: u64 = result
        .streams
        .iter()
        .map(|one| one.acknowledged.get())
        .sum();
    let segments = arrived as f64 / (packet.as_f64() - HEADER);
    Outcome {
        goodput: total(&mut result.streams.iter().map(|one| one.goodput)),
        cross: total(&mut result.cross.iter().map(|one| one.goodput)),
        wait: result.queue.mean_packets * path.forward.rate.time_to_send(packet).as_secs_f64(),
        resent: resent as f64 / (segments + resent as f64).max(1.0),
    }
}

/// IP and TCP headers with timestamps.
const HEADER: f64 = 52.0;

/// The mean of outcomes of one setting with several seeds.
pub fn mean(outcomes: &[Outcome]) -> Outcome {
    let of = |what: fn(&Outcome) -> f64| {
        let values: Vec<f64> = outcomes.iter().map(what).collect();
        stats::mean(&values).unwrap_or(0.0)
    };
    Outcome {
        goodput: of(|one| one.goodput),
        cross: of(|one| one.cross),
        wait: of(|one| one.wait),
        resent: of(|one| one.resent),
    }
}
