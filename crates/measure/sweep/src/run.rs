//! Makes the visits of a sweep, one after another, and keeps each as it is finished.

mod keeper;

use errors::Hint;
use std::error::Error;

use observe::{Fault, Observation, Target, TargetError};
use thiserror::Error as ThisError;
use units::Span;

use crate::{CellFigures, Done, Ledger, SweepPlan, Visit};
pub use keeper::{Finished, KeepError, Keeper, Measured, SweepObserver};

/// What passes before a visit that failed is tried again: a server that is restarted is mostly back
/// after ten seconds, and all waits together come to twenty.
pub const RETRIES: [Span; 3] = [Span::from_secs(1), Span::from_secs(4), Span::from_secs(15)];

/// Visits in a row that failed, each after all its retries, before a sweep ends: by then no host
/// was there for well over a minute, and the hours to come would show nothing.
pub const FAILED_IN_A_ROW: usize = 5;

/// The same before the first that was measured: a name may be wrong, or no server be there, and two
/// settings are enough to tell that from one that cannot be had.
pub const FAILED_AT_FIRST: usize = 2;

/// What passes before a finished visit is kept again that could not be: time to make room on a
/// disk.
pub const KEEP_RETRIES: [Span; 6] = [
    Span::from_secs(1),
    Span::from_secs(2),
    Span::from_secs(5),
    Span::from_secs(10),
    Span::from_secs(20),
    Span::from_secs(30),
];

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
    #[error("{}: {}", failed(*visits), reason(last))]
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

impl Hint for SweepError {
    fn fault(&self) -> Fault {
        match self {
            SweepError::Cancelled => Fault::Cancelled,
            SweepError::Request(_) => Fault::Request,
            SweepError::Failing { .. } | SweepError::NotKept { .. } => Fault::Run,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            SweepError::Request(error) | SweepError::Failing { last: error, .. } => {
                error.hint.clone()
            }
            SweepError::NotKept { source, .. } => source.hint.clone(),
            SweepError::Cancelled => None,
        }
    }
}

/// Makes the visits of `plan` that `ledger` does not have as measured.
///
/// Each is retried as [`RETRIES`] say, and then kept as failed; the sweep goes on with the next
/// one.
///
/// # Errors
/// When it ended before its last visit, see [`SweepError`].
pub fn run(
    target: &mut dyn Target,
    plan: &SweepPlan,
    ledger: &mut Ledger,
    keeper: &mut dyn Keeper,
    watch: &mut dyn SweepObserver,
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
    watch: &mut dyn SweepObserver,
) -> Result<(), SweepError> {
    let visits = plan.remaining(ledger);
    let mut failed_in_a_row = 0;
    let mut last_failure = None;
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
            Some(_) => failed_in_a_row + 1,
        };
        last_failure = failure;
        if failed_in_a_row >= failures_borne(ledger) {
            break;
        }
    }
    let hopeless = failed_in_a_row >= failures_borne(ledger) || ledger.measured() == 0;
    match last_failure.filter(|_| hopeless) {
        Some(last) => Err(SweepError::Failing {
            visits: failed_in_a_row,
            last,
        }),
        None => Ok(()),
    }
}

/// How many visits in a row may fail.
fn failures_borne(ledger: &Ledger) -> usize {
    match ledger.measured() {
        0 => FAILED_AT_FIRST,
        _ => FAILED_IN_A_ROW,
    }
}

fn failed(visits: usize) -> String {
    match visits {
        1 => "the only visit failed".to_owned(),
        visits => format!("{visits} visits in a row failed, the last like this"),
    }
}

/// What came of a visit: an observation, or why it failed after all retries; and how long the last
/// try took.
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
    watch: &mut dyn SweepObserver,
) -> Result<Tried, SweepError> {
    let mut waits = RETRIES.iter();
    loop {
        let begun = watch.now();
        target.draw_from(visit.number.into());
        let observed = target.observe(
            &visit.setting,
            &plan.sample_plan(visit.duration),
            &mut *watch,
        );
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
            Fault::Request | Fault::Run | Fault::Later => {}
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
    let verdict = inference::verdict(&seen);
    let figures = CellFigures::of(&seen, Some(verdict.limit));
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
    watch: &mut dyn SweepObserver,
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
