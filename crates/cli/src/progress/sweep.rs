//! What is shown while a sweep goes on: one line on a terminal, elsewhere a line for each visit.

use std::thread;
use std::time::{Duration, Instant};

use observe::{Snapshot, TargetError, Watch};
use sweep::{Finished, KeepError, SweepPlan, SweepWatch, Visit};
use units::{Rate, Span};

use super::Progress;
use crate::output::tell;
use crate::stop::Stop;

/// How soon a cancellation is noticed.
const TICK: Duration = Duration::from_millis(100);

/// Follows a sweep.
pub(crate) struct SweepProgress {
    line: Progress,
    visits: u64,
    begun: Instant,
    /// Goodput of the last visit that was measured.
    last: Option<Rate>,
}

impl SweepProgress {
    pub(crate) fn new(stop: &Stop, plan: &SweepPlan) -> Self {
        SweepProgress {
            line: Progress::new(stop),
            visits: plan.visits(),
            begun: Instant::now(),
            last: None,
        }
    }

    /// Something that stays to be read.
    fn say(&self, text: &str) {
        match self.line.is_drawn() {
            true => self.line.leave(text),
            false => tell!("{text}"),
        }
    }

    /// `visit 85 of 1680, cycle 3: 8 x 64KiB`.
    fn name(&self, visit: &Visit) -> String {
        format!(
            "visit {} of {}, cycle {}: {}",
            visit.number,
            self.visits,
            visit.cycle,
            report::text::asked(&(&visit.setting).into())
        )
    }
}

impl Watch for SweepProgress {
    fn on_progress(&mut self, snapshot: &Snapshot) {
        self.line.show(&format!("  now {}", snapshot.rate.human()));
    }

    fn is_cancelled(&self) -> bool {
        self.line.is_cancelled()
    }

    fn on_wait(&mut self, why: &str, wait: Span) {
        self.line.on_wait(why, wait);
    }
}

impl SweepWatch for SweepProgress {
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
        let left = report::format::lasting(left.as_secs_f64());
        self.line
            .label(&format!("{}, {left} left", self.name(visit)));
        if let Some(last) = self.last {
            self.line.show(&format!("  last {}", last.human()));
        }
    }

    fn on_retry(&mut self, visit: &Visit, error: &TargetError, wait: Span) {
        let name = self.name(visit);
        self.say(&format!("{name}: {error}; again in {}", wait.human()));
    }

    fn on_not_kept(&mut self, visit: &Visit, error: &KeepError, wait: Span) {
        let hint = error.hint.as_deref().unwrap_or("nothing is lost yet");
        self.say(&format!(
            "warning: visit {} is measured and not kept yet: {error}; again in {}\nhint: {hint}",
            visit.number,
            wait.human()
        ));
    }

    fn on_visit_done(&mut self, visit: &Visit, finished: &Finished, left: Span) {
        let name = self.name(visit);
        let left = report::format::lasting(left.as_secs_f64());
        match finished {
            Finished::Measured(measured) => {
                let goodput = Rate::from_f64(measured.figures.goodput);
                self.last = Some(goodput);
                if !self.line.is_drawn() {
                    tell!("{name}  {}, {left} left", goodput.human());
                }
            }
            Finished::Failed(why) => self.say(&format!("{name} failed: {why}")),
        }
    }
}
