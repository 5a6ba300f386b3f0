//! Searches on simulated paths, on all processors.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use netpath::PathSpec;
use observe::{
    Limit, Observation, RateInterval, RunObserver, SamplePlan, Setting, Target, TargetError,
    TargetInfo, Verdict,
};
use simulation_grid::thread_cpu;
use target::SimulatedPath;
use tune::{Controls, Ended, Objective, Sample, Strategy, TunePlan, Tuning, tune_with};
use units::Span;

/// A search to make.
pub struct Search<'a> {
    pub path: &'a PathSpec,
    pub strategy: &'a (dyn Strategy + Sync),
    pub objective: Objective,
    pub controls: Controls,
    pub seed: u64,
}

/// What a search found and took.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub setting: Setting,
    pub because: String,
    pub promise: Promise,
    /// What limits the recommended setting.
    pub limits: Said,
    /// The same of one default stream.
    pub limits_default: Said,
    /// Which of `tried` shows that stream.
    pub default: Option<usize>,
    pub tried: Vec<Tried>,
    /// Target time, seconds.
    pub seconds: f64,
    pub bytes: f64,
    /// Processor time of the search itself, without that of the simulated path, seconds.
    pub own: f64,
    /// Why it ended early, when it did.
    pub cut: Option<String>,
}

/// What is said to limit a setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// The cause that is named, then those that look alike.
    pub limits: Vec<Limit>,
    /// How likely the first is said to be.
    pub probability: Option<f64>,
}

/// The goodput that a setting is said to have, bits per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Promise {
    pub goodput: f64,
    /// Both ends.
    pub interval: Option<(f64, f64)>,
}

/// One sample of a search, for people.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    pub setting: Setting,
    pub purpose: String,
    /// Mean goodput and half the width of its interval, bits per second.
    pub goodput: (f64, Option<f64>),
    /// What it counts for where one is recommended; `None` where it does not count.
    pub promise: Option<Promise>,
    pub seconds: f64,
    /// Mean loaded round-trip time, seconds.
    pub rtt: Option<f64>,
    pub resent: Option<f64>,
    pub why: String,
}

/// Makes all searches, those on the fastest paths first: their packets take longest, and at the end
/// all processors have something to do. What came of each, in their order.
pub fn search_all(searches: &[Search]) -> Vec<Result<Found, String>> {
    let mut order: Vec<usize> = (0..searches.len()).collect();
    order.sort_by_key(|&number| std::cmp::Reverse(searches[number].path.forward.rate));
    let next = AtomicUsize::new(0);
    let found = Mutex::new(vec![None; searches.len()]);
    let take_all = || {
        while let Some(&number) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let one = searches[number].run();
            if let Ok(mut found) = found.lock() {
                found[number] = Some(one);
            }
        }
    };
    let workers = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(take_all))));
    let found = found.into_inner().unwrap_or_default();
    found.into_iter().flatten().collect()
}

impl Search<'_> {
    fn run(&self) -> Result<Found, String> {
        let mut target = Metered {
            target: SimulatedPath::new(self.path, self.seed),
            used: Span::ZERO,
        };
        let plan = TunePlan {
            objective: self.objective,
            controls: self.controls,
            ..TunePlan::default()
        };
        let begun = thread_cpu();
        let tuning = tune_with(self.strategy, &mut target, &plan, &mut ());
        let own = thread_cpu() - begun - target.used;
        let tuning = tuning.map_err(|error| error.to_string())?;
        found(&tuning, own).ok_or_else(|| "the search was stopped".to_owned())
    }
}

/// A simulated path that knows the processor time that its observations took.
struct Metered {
    target: SimulatedPath,
    used: Span,
}

impl Target for Metered {
    fn describe(&self) -> TargetInfo {
        self.target.describe()
    }

    fn observe(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Observation, TargetError> {
        let begun = thread_cpu();
        let observed = self.target.observe(setting, plan, watch);
        self.used += thread_cpu() - begun;
        observed
    }

    fn stop(&mut self) {
        self.target.stop();
    }
}

/// `None` of a search that was stopped.
fn found(tuning: &Tuning, own: Span) -> Option<Found> {
    let answer = tuning.answer()?;
    Some(Found {
        setting: answer.recommended.setting.clone(),
        because: answer.recommended.because.clone(),
        promise: Promise::of(&answer.recommended.promise),
        limits: Said::of(&answer.limit_recommended),
        limits_default: Said::of(&answer.limit_default),
        default: answer.default_sample,
        tried: tuning
            .samples
            .iter()
            .zip(&tuning.promises)
            .map(tried)
            .collect(),
        seconds: tuning.cost.elapsed.as_secs_f64(),
        bytes: tuning.cost.bytes.as_f64(),
        own: own.as_secs_f64(),
        cut: match &tuning.ended {
            Ended::Cut(_, error) => Some(error.to_string()),
            _ => None,
        },
    })
}

impl Said {
    fn of(verdict: &Verdict) -> Self {
        let alike = verdict.or.iter().copied();
        Said {
            limits: std::iter::once(verdict.limit).chain(alike).collect(),
            probability: verdict.probability,
        }
    }
}

impl From<Vec<Limit>> for Said {
    fn from(limits: Vec<Limit>) -> Self {
        Said {
            limits,
            probability: None,
        }
    }
}

impl Promise {
    fn of(promise: &tune::Promise) -> Self {
        let ends = |interval: RateInterval| (interval.low.as_f64(), interval.high.as_f64());
        Promise {
            goodput: promise.goodput.as_f64(),
            interval: promise.interval.map(ends),
        }
    }
}

fn tried((sample, promise): (&Sample, &tune::Promise)) -> Tried {
    let goodput = sample.summary.goodput();
    let half_width =
        |interval: RateInterval| (interval.high.as_f64() - interval.low.as_f64()) / 2.0;
    let main = sample.summary.main();
    Tried {
        setting: sample.setting.clone(),
        purpose: format!("{:?}", sample.purpose).to_lowercase(),
        goodput: (goodput.mean.as_f64(), goodput.interval.map(half_width)),
        promise: Some(Promise::of(promise)),
        seconds: sample.observation.elapsed.as_secs_f64(),
        rtt: sample.summary.rtt_loaded.map(|rtt| rtt.as_secs_f64()),
        resent: main.and_then(|way| way.tcp.retransmitted_share),
        why: sample.why.clone(),
    }
}
