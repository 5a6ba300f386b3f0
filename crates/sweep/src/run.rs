//! Makes the visits of a sweep, one after another, and keeps each as it is finished.

use std::error::Error;

use observe::{Context, Fault, Observation, Target, TargetError, Watch, diagnose};
use observe::{Limit, Summary, Verdict};
use thiserror::Error as ThisError;
use units::Span;

use crate::{CellFigures, Done, Ledger, SweepPlan, Visit};

/// What passes before a visit that failed is tried again: a server that is restarted is mostly back after ten
/// seconds, and all waits together come to twenty.
pub const RETRIES: [Span; 3] = [Span::from_secs(1), Span::from_secs(4), Span::from_secs(15)];

/// Visits in a row that failed, each after all its retries, before a sweep ends: by then nobody was there for
/// well over a minute, and the hours to come would show nothing.
pub const FAILED_IN_A_ROW: usize = 5;

/// What passes before a finished visit is kept again that could not be: time to make room on a disk.
pub const KEEP_RETRIES: [Span; 6] = [
    Span::from_secs(1),
    Span::from_secs(2),
    Span::from_secs(5),
    Span::from_secs(10),
    Span::from_secs(20),
    Span::from_secs(30),
];

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
#[derive(Debug, ThisError)]
#[error("{what}")]
pub struct KeepError {
    /// What went wrong.
    pub what: String,
    /// The next step.
    pub hint: Option<String>,
    /// Whether it may go better later: a full disk, another process that writes.
    pub may_pass: bool,
}

/// Somebody who keeps visits as they are finished.
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

/// Somebody who looks on, has a clock and can wait.
pub trait SweepWatch: Watch {
    /// The monotonic clock: time since whatever moment.
    fn now(&self) -> Span;

    /// Waits; shorter where [`Watch::is_cancelled`] becomes true meanwhile.
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

/// Why a sweep ended before its last visit. Everything that was finished is kept.
#[derive(Debug, ThisError)]
pub enum SweepError {
    /// The user ended it.
    #[error("cancelled")]
    Cancelled,
    /// What it asks for cannot be had from this target.
    #[error(transparent)]
    Request(TargetError),
    /// Too many visits in a row failed.
    #[error("{visits} visits in a row failed, the last because {}", reason(last))]
    Failing {
        /// How many.
        visits: usize,
        /// Why the last one did.
        last: TargetError,
    },
    /// A finished visit could not be kept.
    #[error("visit {number} was measured and could not be kept")]
    NotKept {
        /// The visit's number.
        number: u32,
        /// Why.
        source: KeepError,
    },
}

/// Makes the visits of `plan` that `ledger` does not have as measured.
///
/// Each is retried as [`RETRIES`] say, and then kept as failed; the sweep goes on with the next one.
///
/// # Errors
/// When it ended before its last visit, see [`SweepError`].
pub fn run(
    target: &mut dyn Target,
    plan: &SweepPlan,
    ledger: &mut Ledger,
    keeper: &mut dyn Keeper,
    watch: &mut dyn SweepWatch,
) -> Result<(), SweepError> {
    let ended = visit_all(target, plan, ledger, keeper, watch);
    target.stop();
    ended
}

fn visit_all(
    target: &mut dyn Target,
    plan: &SweepPlan,
    ledger: &mut Ledger,
    keeper: &mut dyn Keeper,
    watch: &mut dyn SweepWatch,
) -> Result<(), SweepError> {
    let visits = plan.remaining(ledger);
    let mut failed_in_a_row = 0;
    for (made, visit) in visits.iter().enumerate() {
        if watch.is_cancelled() {
            return Err(SweepError::Cancelled);
        }
        watch.on_visit_started(visit, plan.time_for(visits.len() - made, ledger));
        keeper.begin(visit);
        let known = ledger.knows(visit.index);
        let (outcome, took) = patiently(target, plan, visit, known, watch)?;
        let (finished, failure) = match outcome {
            Ok(seen) => (Finished::Measured(Box::new(judged(seen))), None),
            Err(error) => (Finished::Failed(reason(&error)), Some(error)),
        };
        keep(visit, &finished, took, keeper, watch)?;
        let done = match failure {
            Some(_) => Done::Failed,
            None => Done::Measured(took),
        };
        ledger.enter(visit.key(), done);
        let left = plan.time_for(visits.len() - made - 1, ledger);
        watch.on_visit_done(visit, &finished, left);
        failed_in_a_row = match failure {
            None => 0,
            Some(last) if failed_in_a_row + 1 == FAILED_IN_A_ROW => {
                return Err(SweepError::Failing {
                    visits: FAILED_IN_A_ROW,
                    last,
                });
            }
            Some(_) => failed_in_a_row + 1,
        };
    }
    Ok(())
}

/// What came of a visit: an observation, or why it failed after all retries; and how long the last try took.
type Tried = (Result<Observation, TargetError>, Span);

/// Tries a visit until it succeeds or all retries are used up.
///
/// * `known`: this setting was measured before, so the request cannot be wrong.
///
/// # Errors
/// Only where the sweep has to end: it was cancelled, or the request is wrong.
fn patiently(
    target: &mut dyn Target,
    plan: &SweepPlan,
    visit: &Visit,
    known: bool,
    watch: &mut dyn SweepWatch,
) -> Result<Tried, SweepError> {
    let mut waits = RETRIES.iter();
    loop {
        let begun = watch.now();
        target.draw_from(visit.number.into());
        let observed = target.observe(&visit.setting, &plan.sample_plan(), &mut *watch);
        let took = watch.now() - begun;
        let error = match observed {
            // What was cut short by the user is not a whole visit.
            Ok(_) | Err(_) if watch.is_cancelled() => return Err(SweepError::Cancelled),
            Ok(seen) => return Ok((Ok(seen), took)),
            Err(error) => error,
        };
        match error.fault {
            Fault::Cancelled => return Err(SweepError::Cancelled),
            Fault::Request if !known => return Err(SweepError::Request(error)),
            Fault::Request | Fault::Run => {}
        }
        let Some(wait) = waits.next() else {
            return Ok((Err(error), took));
        };
        watch.on_retry(visit, &error, *wait);
        watch.pause(*wait);
        if watch.is_cancelled() {
            return Err(SweepError::Cancelled);
        }
    }
}

fn judged(seen: Observation) -> Measured {
    let summary = seen.summary();
    let verdict = diagnose(&summary, &Context::default());
    let limit: Limit = verdict.limit;
    let figures = CellFigures::of(&seen, Some(limit));
    Measured {
        seen,
        summary,
        verdict,
        figures,
    }
}

/// Keeps a finished visit, also where that takes a few tries.
fn keep(
    visit: &Visit,
    finished: &Finished,
    took: Span,
    keeper: &mut dyn Keeper,
    watch: &mut dyn SweepWatch,
) -> Result<(), SweepError> {
    let mut waits = KEEP_RETRIES.iter();
    loop {
        let Err(error) = keeper.keep(visit, finished, took) else {
            return Ok(());
        };
        let wait = waits.next().filter(|_| error.may_pass);
        let Some(wait) = wait.filter(|_| !watch.is_cancelled()) else {
            return Err(SweepError::NotKept {
                number: visit.number,
                source: error,
            });
        };
        watch.on_not_kept(visit, &error, *wait);
        watch.pause(*wait);
    }
}

/// An error and everything underneath as one sentence.
fn reason(error: &TargetError) -> String {
    let mut reason = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        reason.push_str(&format!(": {error}"));
        cause = error.source();
    }
    reason
}

#[cfg(test)]
mod tests;
