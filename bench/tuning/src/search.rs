//! Searches on simulated paths, on all processors.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use netpath::PathSpec;
use observe::Setting;
use target::SimulatedPath;
use tune::{Controls, Ended, Objective, Sample, Strategy, TunePlan, Tuning, tune_with};

/// A search to make.
pub struct Search<'a> {
    pub path: &'a PathSpec,
    pub strategy: &'a (dyn Strategy + Sync),
    pub objective: Objective,
    pub seed: u64,
}

/// What a search found and took.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub setting: Setting,
    pub because: String,
    /// The limit of the recommended setting, by its name in documents.
    pub limit: &'static str,
    pub tried: Vec<Tried>,
    /// Target time, seconds.
    pub seconds: f64,
    pub bytes: f64,
    /// Why it ended early, when it did.
    pub cut: Option<String>,
}

/// One sample of a search, for people.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    pub setting: Setting,
    pub purpose: String,
    /// Mean goodput and half the width of its interval, bits per second.
    pub goodput: (f64, Option<f64>),
    pub seconds: f64,
    /// Mean loaded round-trip time, seconds.
    pub rtt: Option<f64>,
    pub resent: Option<f64>,
    pub why: String,
}

/// Makes all searches; what came of each, in their order.
pub fn search_all(searches: &[Search]) -> Vec<Result<Found, String>> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(vec![None; searches.len()]);
    let take_all = || {
        while let Some((number, search)) = take(&next, searches) {
            let one = search.run();
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

fn take<'a, 'b>(next: &AtomicUsize, searches: &'a [Search<'b>]) -> Option<(usize, &'a Search<'b>)> {
    let number = next.fetch_add(1, Ordering::Relaxed);
    searches.get(number).map(|search| (number, search))
}

impl Search<'_> {
    fn run(&self) -> Result<Found, String> {
        let mut target = SimulatedPath::new(self.path, self.seed);
        let plan = TunePlan {
            objective: self.objective,
            // As the searches of the literature and the grid of all cells.
            controls: Controls::Kept,
            ..TunePlan::default()
        };
        let tuning = tune_with(self.strategy, &mut target, &plan, &mut ());
        let tuning = tuning.map_err(|error| error.to_string())?;
        found(&tuning).ok_or_else(|| "the search was stopped".to_owned())
    }
}

/// `None` of a search that was stopped.
fn found(tuning: &Tuning) -> Option<Found> {
    let answer = tuning.answer()?;
    Some(Found {
        setting: answer.recommended.setting.clone(),
        because: answer.recommended.because.clone(),
        limit: answer.limit_recommended.limit.name(),
        tried: tuning.samples.iter().map(tried).collect(),
        seconds: tuning.cost.elapsed.as_secs_f64(),
        bytes: tuning.cost.bytes.as_f64(),
        cut: match &tuning.ended {
            Ended::Cut(_, error) => Some(error.to_string()),
            _ => None,
        },
    })
}

fn tried(sample: &Sample) -> Tried {
    let goodput = sample.summary.goodput();
    let half_width =
        |interval: observe::RateInterval| (interval.high.as_f64() - interval.low.as_f64()) / 2.0;
    let main = sample.summary.main();
    Tried {
        setting: sample.setting.clone(),
        purpose: format!("{:?}", sample.purpose).to_lowercase(),
        goodput: (goodput.mean.as_f64(), goodput.interval.map(half_width)),
        seconds: sample.observation.elapsed.as_secs_f64(),
        rtt: sample.summary.rtt_loaded.map(|rtt| rtt.as_secs_f64()),
        resent: main.and_then(|way| way.tcp.retransmitted_share),
        why: sample.why.clone(),
    }
}
