//! What is shown while a sweep goes on: one line on a terminal, elsewhere a line for each visit.

use trunkline::observe::TargetError;
use trunkline::sweep::{Finished, KeepError, SweepPlan, Visit};
use trunkline::units::{Rate, Span};
use trunkline::{Progress, draw, report};

use super::RunProgress;
use crate::output::tell;

/// Follows a sweep.
pub(crate) struct SweepProgress {
    line: RunProgress,
    visits: u64,
    /// Which path, where there are several; empty for one.
    path: String,
    /// Goodput of the last visit that was measured.
    last: Option<Rate>,
}

impl SweepProgress {
    pub(crate) fn new(plan: &SweepPlan) -> Self {
        SweepProgress {
            line: RunProgress::new(),
            visits: plan.visits(),
            path: String::new(),
            last: None,
        }
    }

    /// Says of which path the next events are.
    pub(crate) fn of(&mut self, path: &str) {
        if self.path != path {
            path.clone_into(&mut self.path);
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
        let path = match self.path.as_str() {
            "" => String::new(),
            path => format!("{path}, "),
        };
        format!(
            "{path}visit {} of {}, cycle {}: {}",
            visit.number,
            self.visits,
            visit.cycle,
            report::text::asked(&visit.setting)
        )
    }
}

impl SweepProgress {
    /// Shows what happens.
    pub(crate) fn on(&mut self, event: Progress<'_>) {
        match event {
            Progress::Running(seen) => self.line.show(&format!("  now {}", seen.rate.human())),
            Progress::VisitStarted { visit, left } => self.visit_started(visit, left),
            Progress::VisitRetried { visit, error, wait } => self.retry(visit, error, wait),
            Progress::VisitNotKept { visit, error, wait } => self.not_kept(visit, error, wait),
            Progress::VisitDone {
                visit,
                finished,
                left,
            } => self.visit_done(visit, finished, left),
            other => self.line.on(other),
        }
    }

    fn visit_started(&mut self, visit: &Visit, left: Span) {
        let left = draw::format::lasting(left.as_secs_f64());
        self.line
            .label(&format!("{}, {left} left", self.name(visit)));
        if let Some(last) = self.last {
            self.line.show(&format!("  last {}", last.human()));
        }
    }

    fn retry(&mut self, visit: &Visit, error: &TargetError, wait: Span) {
        let name = self.name(visit);
        self.say(&format!("{name}: {error}; again in {}", wait.human()));
    }

    fn not_kept(&mut self, visit: &Visit, error: &KeepError, wait: Span) {
        let hint = error.hint.as_deref().unwrap_or("nothing is lost yet");
        self.say(&format!(
            "warning: visit {} is measured and not kept yet: {error}; again in {}\nhint: {hint}",
            visit.number,
            wait.human()
        ));
    }

    fn visit_done(&mut self, visit: &Visit, finished: &Finished, left: Span) {
        let name = self.name(visit);
        let left = draw::format::lasting(left.as_secs_f64());
        match finished {
            Finished::Measured(measured) => {
                let goodput = Rate::from_bits_per_second(measured.figures.goodput_bits_per_second);
                self.last = Some(goodput);
                if !self.line.is_drawn() {
                    tell!("{name}  {}, {left} left", goodput.human());
                }
            }
            Finished::Failed(why) => self.say(&format!("{name} failed: {why}")),
        }
    }
}
