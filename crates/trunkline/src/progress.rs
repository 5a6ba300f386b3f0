//! What an operation on a target tells while it runs.

use std::thread;
use std::time::{Duration, Instant};

use observe::{RunObserver, Snapshot, TargetError};
use sweep::{Finished, KeepError, SweepObserver, Visit};
use tune::{FailedSample, Request, Sample};
use units::Span;

use crate::Cancel;

/// How soon a cancellation is noticed while a sweep pauses.
const TICK: Duration = Duration::from_millis(100);

/// What happens while a target is measured. Simulations tell of [`crate::simulate::Progress`],
/// copies of [`crate::copy::CopyEvent`].
#[derive(Debug)]
pub enum Progress<'a> {
    /// Streams run: where they stand, ten times a second.
    Running(&'a Snapshot),
    /// The target makes the run wait.
    Waiting {
        /// Why, as a sentence without a full stop.
        why: &'a str,
        /// How long.
        wait: Span,
    },
    /// A search takes a sample.
    SampleStarted {
        /// Counts from 1.
        number: usize,
        /// Which setting, and why.
        request: &'a Request,
    },
    /// A sample of a search is done.
    SampleDone {
        /// Counts from 1.
        number: usize,
        /// What it showed.
        sample: &'a Sample,
    },
    /// A sample of a search could not be taken, and the search goes on without it.
    SampleFailed {
        /// Counts from 1; the next sample has the same number.
        number: usize,
        /// Which setting, and why.
        failed: &'a FailedSample,
    },
    /// A part of an examination begins, or a setting is simulated beside a sweep: a few words, such
    /// as "capacity forward".
    PartStarted(&'a str),
    /// A visit of a sweep begins.
    VisitStarted {
        /// Which.
        visit: &'a Visit,
        /// Time that it and all others will take.
        left: Span,
    },
    /// A visit failed and is tried again.
    VisitRetried {
        /// Which.
        visit: &'a Visit,
        /// Why it failed.
        error: &'a TargetError,
        /// When it is tried again.
        wait: Span,
    },
    /// A finished visit could not be kept, and that is tried again.
    VisitNotKept {
        /// Which.
        visit: &'a Visit,
        /// Why.
        error: &'a KeepError,
        /// When it is tried again.
        wait: Span,
    },
    /// A visit is done and kept.
    VisitDone {
        /// Which.
        visit: &'a Visit,
        /// What came of it.
        finished: &'a Finished,
        /// Time that the others will take.
        left: Span,
    },
}

/// Takes what happens, on the thread that runs the operation or one that it started.
pub type OnProgress<'a> = dyn FnMut(Progress<'_>) + Send + 'a;

/// A cancel token and a taker of progress, as the rooms want them.
pub(crate) struct Watcher<'a, 'b> {
    cancel: &'a Cancel,
    on_progress: &'a mut OnProgress<'b>,
    begun: Instant,
}

impl<'a, 'b> Watcher<'a, 'b> {
    pub(crate) fn new(cancel: &'a Cancel, on_progress: &'a mut OnProgress<'b>) -> Self {
        Watcher {
            cancel,
            on_progress,
            begun: Instant::now(),
        }
    }
}

impl RunObserver for Watcher<'_, '_> {
    fn on_progress(&mut self, snapshot: &Snapshot) {
        (self.on_progress)(Progress::Running(snapshot));
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    fn on_wait(&mut self, why: &str, wait: Span) {
        (self.on_progress)(Progress::Waiting { why, wait });
    }
}

impl tune::SampleObserver for Watcher<'_, '_> {
    fn on_sample_started(&mut self, number: usize, request: &Request) {
        (self.on_progress)(Progress::SampleStarted { number, request });
    }

    fn on_sample_done(&mut self, number: usize, sample: &Sample) {
        (self.on_progress)(Progress::SampleDone { number, sample });
    }

    fn on_sample_failed(&mut self, number: usize, failed: &FailedSample) {
        (self.on_progress)(Progress::SampleFailed { number, failed });
    }
}

impl probing::PartObserver for Watcher<'_, '_> {
    fn on_part(&mut self, part: &str) {
        (self.on_progress)(Progress::PartStarted(part));
    }
}

impl SweepObserver for Watcher<'_, '_> {
    fn now(&self) -> Span {
        self.begun.elapsed().into()
    }

    fn pause(&mut self, wait: Span) {
        let end = Instant::now() + Duration::from(wait);
        while !self.is_cancelled() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            thread::sleep(left.min(TICK));
        }
    }

    fn on_visit_started(&mut self, visit: &Visit, left: Span) {
        (self.on_progress)(Progress::VisitStarted { visit, left });
    }

    fn on_retry(&mut self, visit: &Visit, error: &TargetError, wait: Span) {
        (self.on_progress)(Progress::VisitRetried { visit, error, wait });
    }

    fn on_not_kept(&mut self, visit: &Visit, error: &KeepError, wait: Span) {
        (self.on_progress)(Progress::VisitNotKept { visit, error, wait });
    }

    fn on_visit_done(&mut self, visit: &Visit, finished: &Finished, left: Span) {
        (self.on_progress)(Progress::VisitDone {
            visit,
            finished,
            left,
        });
    }
}
