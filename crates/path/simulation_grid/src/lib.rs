//! Many simulations: spread over the processors, kept as they finish, resumed where they stopped.
//!
//! A simulation is a function of its scenario, so what was computed once need not be computed
//! again: each finished run is kept at once in a folder, under a name that follows from everything
//! it depends on. A campaign that is interrupted loses only the runs that were going on.
//!
//! Left out: several machines, and a bound on the folder's size; it can be deleted at any time.
//!
//! Reading order: [`Grid`] and [`Plan`] for which runs, [`run`] for running them, `cost.rs` for
//! which comes first, [`Cache`] for keeping them, `entry.rs` for the text they are kept as,
//! [`figures`] for what the seeds show together, [`log`](fn@log) for the packets of a run.

mod cache;
mod cost;
mod entry;
pub mod figures;
mod grid;
mod log;
mod plan;
mod workers;

use errors::{Fault, Hint};
use std::io;

use nix::time::{ClockId, clock_gettime};
use sim::{RunResult, Scenario, ScenarioError, Work};
use thiserror::Error;
use units::Span;

pub use cache::{Cache, CacheError, ENGINE};
pub use grid::{Grid, RUNS_MAX, SERIES_VALUES_MAX};
pub use log::{LogError, LogForm, log};
pub use plan::{Plan, scenario, to_draw};
pub use workers::{check, run};

/// A run that is done.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    /// What it showed.
    pub result: RunResult,
    /// Processor time when it was computed.
    pub cpu: Span,
    /// Whether an earlier campaign had computed it.
    pub cached: bool,
}

/// All runs of a campaign.
#[derive(Debug)]
pub struct Finished {
    /// In the order in which they were asked for.
    pub runs: Vec<Ran>,
    /// Why a run could not be kept, when one could not.
    pub not_kept: Option<io::Error>,
}

/// How many of `runs`, the runs of `scenario`, left data when their time was over.
pub fn unfinished(scenario: &Scenario, runs: &[Ran]) -> usize {
    if scenario.work == Work::Endless {
        return 0;
    }
    runs.iter()
        .filter(|ran| ran.result.completion.is_none())
        .count()
}

/// How far a campaign has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// All runs.
    pub runs: usize,
    /// Those that are done.
    pub done: usize,
    /// Of these, those that an earlier campaign had computed.
    pub cached: usize,
    /// The share of the expected work that lies behind, 0 to 1.
    pub share: f64,
}

impl Progress {
    /// The share that lies behind, of `whole` steps.
    pub fn share_of(&self, whole: u64) -> u64 {
        (self.share.clamp(0.0, 1.0) * whole as f64).round() as u64
    }
}

/// Why a campaign has no result.
#[derive(Debug, Error)]
pub enum GridFailure {
    /// A scenario cannot be run.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// There are more runs than a campaign may have.
    #[error("{runs} runs are more than {RUNS_MAX}")]
    TooMany {
        /// How many were asked for.
        runs: usize,
    },
    /// The seeds do not all exist.
    #[error("{seeds} seeds from {seed} go beyond {}, the largest", u64::MAX)]
    SeedsEnd {
        /// The first.
        seed: u64,
        /// How many.
        seeds: u64,
    },
    /// What would be recorded over time does not fit into memory.
    #[error("{values} recorded numbers are more than {SERIES_VALUES_MAX}")]
    LongSeries {
        /// Numbers in the series of all runs, if each lasts its whole duration.
        values: u64,
    },
    /// A warm-up was asked for together with data that has an end.
    #[error(
        "a warm-up of {warmup} with data that has an end: a transfer counts from its beginning"
    )]
    WarmTransfer {
        /// What was asked for.
        warmup: Span,
    },
    /// It was cancelled.
    #[error("{done} of {runs} runs are done")]
    Cancelled {
        /// How many were finished.
        done: usize,
        /// Of how many.
        runs: usize,
        /// Whether those that were finished are kept.
        kept: bool,
    },
}

impl Hint for GridFailure {
    fn fault(&self) -> Fault {
        match self {
            GridFailure::Cancelled { .. } => Fault::Cancelled,
            _ => Fault::Request,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            GridFailure::Scenario(error) => error.hint.clone(),
            GridFailure::TooMany { .. } => {
                "give fewer streams, windows, variants or seeds".to_owned()
            }
            GridFailure::SeedsEnd { .. } => "begin with a smaller seed".to_owned(),
            GridFailure::LongSeries { .. } => {
                "record less often, or for a shorter `--duration`; a sample has a number for each \
                    stream and four more"
                    .to_owned()
            }
            GridFailure::WarmTransfer { .. } => {
                "leave the warm-up out, or let the data have no end".to_owned()
            }
            GridFailure::Cancelled { kept: true, .. } => {
                "they are kept; run the same command again to resume".to_owned()
            }
            GridFailure::Cancelled { kept: false, .. } => {
                "nothing was kept; without `--no-cache` the same command would resume here"
                    .to_owned()
            }
        };
        Some(hint)
    }
}

/// Processor time of this process so far, user and system, all threads.
pub fn process_cpu() -> Span {
    cpu(ClockId::CLOCK_PROCESS_CPUTIME_ID)
}

/// Processor time of this thread so far.
pub fn thread_cpu() -> Span {
    cpu(ClockId::CLOCK_THREAD_CPUTIME_ID)
}

/// Linux always has both clocks; a system without them has no processor time to tell.
fn cpu(clock: ClockId) -> Span {
    clock_gettime(clock).map_or(Span::ZERO, |time| {
        Span::from(std::time::Duration::from(time))
    })
}

#[cfg(test)]
mod tests;
