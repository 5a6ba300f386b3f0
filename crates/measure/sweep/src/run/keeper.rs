//! What takes part in a sweep: a keeper of finished visits, and a watch.

use observe::{Observation, RunObserver, Summary, TargetError, Verdict};
use thiserror::Error;
use units::Span;

use crate::{CellFigures, Visit};

/// A finished visit that was measured: everything there is of it.
#[derive(Debug)]
pub struct Measured {
    /// What was seen.
    pub seen: Observation,
    /// Its figures.
    pub summary: Summary,
    /// What limited it.
    pub verdict: Verdict,
    /// What it comes down to.
    pub figures: CellFigures,
}

/// What is to be kept of a visit.
#[derive(Debug)]
pub enum Finished {
    /// It was measured.
    Measured(Box<Measured>),
    /// It could not be, for this reason: a sentence without a full stop.
    Failed(String),
}

/// Why a finished visit could not be kept.
#[derive(Debug, Error)]
#[error("{what}")]
pub struct KeepError {
    /// What went wrong.
    pub what: String,
    /// The next step.
    pub hint: Option<String>,
    /// Whether it may go better later: a full disk, another process that writes.
    pub may_pass: bool,
}

/// Keeps visits as they are finished.
pub trait Keeper {
    /// A visit begins.
    fn begin(&mut self, visit: &Visit) {
        let _ = visit;
    }

    /// Keeps a finished visit for good.
    ///
    /// * `took`: how long the attempt took that succeeded, or the last one.
    ///
    /// # Errors
    /// When it is not kept.
    fn keep(&mut self, visit: &Visit, finished: &Finished, took: Span) -> Result<(), KeepError>;
}

/// Follows a sweep, has a clock and can wait.
pub trait SweepObserver: RunObserver {
    /// The monotonic clock: time since whatever moment.
    fn now(&self) -> Span;

    /// Waits; shorter where [`RunObserver::is_cancelled`] becomes true meanwhile.
    fn pause(&mut self, wait: Span);

    /// A visit begins; `left` is the time that it and all others will take.
    fn on_visit_started(&mut self, visit: &Visit, left: Span) {
        let _ = (visit, left);
    }

    /// A visit failed and is tried again after `wait`.
    fn on_retry(&mut self, visit: &Visit, error: &TargetError, wait: Span) {
        let _ = (visit, error, wait);
    }

    /// A finished visit could not be kept and will be tried again after `wait`.
    fn on_not_kept(&mut self, visit: &Visit, error: &KeepError, wait: Span) {
        let _ = (visit, error, wait);
    }

    /// A visit is done and kept; `left` is the time that the others will take.
    fn on_visit_done(&mut self, visit: &Visit, finished: &Finished, left: Span) {
        let _ = (visit, finished, left);
    }
}
