//! Running many scenarios on all processors.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use std::{io, thread};

use sim::{RunResult, Scenario, ScenarioError, Simulation};
use units::{Span, Time};

use super::{Cache, Finished, GridFailure, Progress, Ran, cost, thread_cpu};

/// Simulated time between two looks at whether to stop. Some milliseconds of a processor on most
/// paths.
const STEP: Span = Span::from_millis(500);
/// Time between two words of a worker about a run that goes on. Each wakes the thread that listens,
/// which takes a processor from the workers.
const WORD: Duration = Duration::from_millis(200);

/// What runs a scenario. It is told to stop by its second argument, which it calls with the share
/// of the time that lies behind; then it has no result.
pub(super) type Engine<'a> = dyn Fn(
        &Scenario,
        &mut dyn FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Option<RunResult>, ScenarioError>
    + Sync
    + 'a;

/// Whether every scenario can be run, without running any.
///
/// # Errors
/// When one cannot.
pub fn check(scenarios: &[Scenario]) -> Result<(), ScenarioError> {
    scenarios.iter().try_for_each(Scenario::check)
}

/// Runs `scenarios`, as many at once as there are processors.
///
/// Those that are expected to take longest come first, so that at the end all processors have
/// something to do.
///
/// * `cache`: where finished runs are kept and looked up; `None` keeps nothing.
/// * `cancel`: runs that go on are given up soon after it is set.
/// * `watch`: called on this thread, a few times a second and whenever a run is done.
///
/// # Errors
/// When a scenario cannot be run, or the campaign was cancelled.
pub fn run(
    scenarios: &[Scenario],
    cache: Option<&Cache>,
    cancel: &AtomicBool,
    watch: &mut dyn FnMut(&Progress),
) -> Result<Finished, GridFailure> {
    run_with(&simulate, scenarios, cache, cancel, watch)
}

/// The packet simulator.
fn simulate(
    scenario: &Scenario,
    look: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<Option<RunResult>, ScenarioError> {
    let mut simulation = Simulation::new(scenario)?;
    let end = simulation.end();
    let mut until = Time::ZERO;
    loop {
        until = (until + STEP).min(end);
        if simulation.advance(until) || until == end {
            return Ok(Some(simulation.finish()));
        }
        if look(until.as_secs_f64() / end.as_secs_f64()).is_break() {
            return Ok(None);
        }
    }
}

pub(super) fn run_with(
    engine: &Engine<'_>,
    scenarios: &[Scenario],
    cache: Option<&Cache>,
    cancel: &AtomicBool,
    watch: &mut dyn FnMut(&Progress),
) -> Result<Finished, GridFailure> {
    let workers = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    // A scenario that cannot be run ends the others too.
    let stop = AtomicBool::new(false);
    let costs: Vec<f64> = scenarios.iter().map(cost::expected).collect();
    let work = Work {
        engine,
        scenarios,
        order: longest_first(&costs),
        cache,
        next: AtomicUsize::new(0),
        stops: [cancel, &stop],
    };
    thread::scope(|scope| {
        let (reports, inbox) = channel();
        for _ in 0..workers.min(scenarios.len()) {
            let (work, reports) = (&work, reports.clone());
            scope.spawn(move || work.take_all(&reports));
        }
        drop(reports);
        let gathered = gather(&costs, &inbox, watch);
        stop.store(gathered.is_err(), Ordering::Relaxed);
        gathered?.finish(cache.is_some())
    })
}

/// The places of `costs`, from the highest; equal ones in their order.
pub(super) fn longest_first(costs: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by(|&one, &other| costs[other].total_cmp(&costs[one]));
    order
}

/// What the workers share.
struct Work<'a> {
    engine: &'a Engine<'a>,
    scenarios: &'a [Scenario],
    /// In which the scenarios are taken.
    order: Vec<usize>,
    cache: Option<&'a Cache>,
    next: AtomicUsize,
    stops: [&'a AtomicBool; 2],
}

/// What a worker says about the run with this number.
enum Report {
    Share(usize, f64),
    Done(usize, Box<Ran>),
    NotKept(io::Error),
    Failed(ScenarioError),
}

impl Work<'_> {
    fn is_stopped(&self) -> bool {
        self.stops.iter().any(|stop| stop.load(Ordering::Relaxed))
    }

    /// Takes one scenario after the other until none is left.
    fn take_all(&self, reports: &Sender<Report>) {
        while !self.is_stopped() {
            let next = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(&number) = self.order.get(next) else {
                return;
            };
            let report = match self.take(number, &self.scenarios[number], reports) {
                Ok(Some(ran)) => Report::Done(number, Box::new(ran)),
                Ok(None) => return,
                Err(error) => Report::Failed(error),
            };
            // The receiver is gone only when the campaign has failed.
            let _ = reports.send(report);
        }
    }

    /// From the cache, or else computed and kept; `None` when stopped on the way.
    fn take(
        &self,
        number: usize,
        scenario: &Scenario,
        reports: &Sender<Report>,
    ) -> Result<Option<Ran>, ScenarioError> {
        if let Some(kept) = self.cache.and_then(|cache| cache.load(scenario)) {
            return Ok(Some(kept));
        }
        let before = thread_cpu();
        let mut told = Instant::now();
        let mut look = |share| {
            if told.elapsed() >= WORD {
                told = Instant::now();
                let _ = reports.send(Report::Share(number, share));
            }
            match self.is_stopped() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let Some(result) = (self.engine)(scenario, &mut look)? else {
            return Ok(None);
        };
        let ran = Ran {
            result,
            cpu: thread_cpu() - before,
            cached: false,
        };
        if let Some(Err(error)) = self.cache.map(|cache| cache.store(scenario, &ran)) {
            let _ = reports.send(Report::NotKept(error));
        }
        Ok(Some(ran))
    }
}

/// What has come in.
struct Gathered {
    runs: Vec<Option<Ran>>,
    shares: Vec<f64>,
    /// Of the whole work, what each run is expected to be.
    weights: Vec<f64>,
    progress: Progress,
    not_kept: Option<io::Error>,
}

/// Listens until all workers have ended.
///
/// * `costs`: what each run is expected to cost.
fn gather(
    costs: &[f64],
    inbox: &Receiver<Report>,
    watch: &mut dyn FnMut(&Progress),
) -> Result<Gathered, ScenarioError> {
    let mut gathered = Gathered::new(costs);
    for report in inbox {
        match report {
            Report::Share(number, share) => gathered.advance(number, share),
            Report::Done(number, ran) => gathered.finish_run(number, *ran),
            Report::NotKept(error) => gathered.not_kept = Some(error),
            Report::Failed(error) => return Err(error),
        }
        watch(&gathered.progress);
    }
    Ok(gathered)
}

impl Gathered {
    fn new(costs: &[f64]) -> Self {
        let (runs, whole) = (costs.len(), costs.iter().sum::<f64>());
        Gathered {
            runs: vec![None; runs],
            shares: vec![0.0; runs],
            weights: costs.iter().map(|cost| cost / whole).collect(),
            progress: Progress {
                runs,
                done: 0,
                cached: 0,
                share: 0.0,
            },
            not_kept: None,
        }
    }

    fn advance(&mut self, number: usize, share: f64) {
        self.progress.share += (share - self.shares[number]) * self.weights[number];
        self.shares[number] = share;
    }

    fn finish_run(&mut self, number: usize, ran: Ran) {
        self.advance(number, 1.0);
        self.progress.done += 1;
        self.progress.cached += usize::from(ran.cached);
        self.runs[number] = Some(ran);
    }

    fn finish(self, kept: bool) -> Result<Finished, GridFailure> {
        let Progress { runs, done, .. } = self.progress;
        match done < runs {
            true => Err(GridFailure::Cancelled {
                done,
                runs,
                kept: kept && self.not_kept.is_none(),
            }),
            false => Ok(Finished {
                runs: self.runs.into_iter().flatten().collect(),
                not_kept: self.not_kept,
            }),
        }
    }
}
