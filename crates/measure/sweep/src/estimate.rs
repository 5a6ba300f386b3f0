//! How far a sweep is, and how long the rest takes.

use std::collections::BTreeMap;

use units::Span;

use crate::{SweepPlan, Visit, VisitKey};

/// What became of a visit, as far as the rest of the sweep needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// Measured, in this time.
    Measured(Span),
    /// It could not be measured.
    Failed,
}

/// The visits that were made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ledger {
    done: BTreeMap<VisitKey, Done>,
}

/// Connecting and the exchange of results on a long path, per visit: some round trips of 0.2 s.
/// What is only known once a visit was made is so at least not forgotten before.
const AROUND: Span = Span::from_secs(1);

impl Ledger {
    /// Enters what became of a visit. A visit that failed before and was made again counts as it
    /// went last.
    pub fn enter(&mut self, key: VisitKey, done: Done) {
        self.done.insert(key, done);
    }

    /// Whether a visit was made and measured.
    pub fn is_measured(&self, key: VisitKey) -> bool {
        matches!(self.done.get(&key), Some(Done::Measured(_)))
    }

    /// How many visits were made, whatever came of them.
    pub fn made(&self) -> usize {
        self.done.len()
    }

    /// How many visits were measured.
    pub fn measured(&self) -> usize {
        self.times().len()
    }

    /// How many failed.
    pub fn failed(&self) -> usize {
        self.made() - self.measured()
    }

    /// Whether this setting was ever measured.
    pub fn knows(&self, index: usize) -> bool {
        let mut measured = self.done.iter();
        measured.any(|(key, done)| key.index == index && matches!(done, Done::Measured(_)))
    }

    /// The settings that failed in every visit so far, by their places in the plan; only those that
    /// were visited in every cycle.
    pub fn always_failed(&self, plan: &SweepPlan) -> Vec<usize> {
        let failed = |index: usize| {
            let mut cycles = 1..=plan.cycles;
            cycles.all(|cycle| self.done.get(&VisitKey { cycle, index }) == Some(&Done::Failed))
        };
        (0..plan.places()).filter(|index| failed(*index)).collect()
    }

    fn times(&self) -> Vec<f64> {
        let seconds = |done: &Done| match done {
            Done::Measured(time) => Some(time.as_secs_f64()),
            Done::Failed => None,
        };
        self.done.values().filter_map(seconds).collect()
    }
}

impl SweepPlan {
    /// The visits that are still to be made, in order: those never made and those that failed.
    pub fn remaining(&self, ledger: &Ledger) -> Vec<Visit> {
        let mut visits = self.order();
        visits.retain(|visit| !ledger.is_measured(visit.key()));
        visits
    }

    /// How long `visits` more visits take: each as long as those that were measured took in the
    /// mean, or before the first as the plan says, with one second for all around it.
    ///
    /// ```
    /// use observe::{Setting, StreamCount, Window};
    /// use sweep::{Done, Ledger, SweepPlan, VisitKey};
    /// use units::Span;
    /// let plan = SweepPlan {
    ///     settings: vec![Setting::new(StreamCount::ONE, Window::Auto)],
    ///     cycles: 4, durations: vec![Span::from_secs(10)], unloaded: Span::from_secs(1), seed: 1,
    ///     via: units::Via::default(),
    ///     user: None,
    /// };
    /// let mut ledger = Ledger::default();
    /// assert_eq!(plan.time_for(4, &ledger), Span::from_secs(48));
    /// ledger.enter(VisitKey { cycle: 1, index: 0 }, Done::Measured(Span::from_secs(15)));
    /// assert_eq!(plan.time_for(3, &ledger), Span::from_secs(45));
    /// ```
    pub fn time_for(&self, visits: usize, ledger: &Ledger) -> Span {
        let seen = stats::mean(&ledger.times()).map(Span::from_secs_f64);
        let all: Vec<f64> = self.durations.iter().map(|d| d.as_secs_f64()).collect();
        let planned = Span::from_secs_f64(stats::mean(&all).unwrap_or(0.0));
        let each = seen.unwrap_or(planned + self.unloaded + AROUND);
        each.times(visits as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use observe::{Setting, StreamCount, Window};

    fn plan() -> SweepPlan {
        let setting = |n| Setting::new(StreamCount::new(n).unwrap(), Window::Auto);
        SweepPlan {
            settings: (1..=3).map(setting).collect(),
            cycles: 2,
            durations: vec![Span::from_secs(10)],
            unloaded: Span::from_secs(1),
            seed: 5,
            via: units::Via::default(),
            user: None,
        }
    }

    const TEN: Done = Done::Measured(Span::from_secs(10));

    #[test]
    fn what_failed_is_made_again_and_what_was_measured_is_not() {
        let plan = plan();
        let order = plan.order();
        let mut ledger = Ledger::default();
        ledger.enter(order[0].key(), TEN);
        ledger.enter(order[1].key(), Done::Failed);
        assert_eq!(plan.remaining(&ledger), order[1..]);
        assert_eq!((ledger.measured(), ledger.failed()), (1, 1));
        assert!(ledger.knows(order[0].index) && !ledger.knows(order[1].index));
    }

    #[test]
    fn failures_do_not_shorten_the_estimate() {
        let plan = plan();
        let mut ledger = Ledger::default();
        for (visit, done) in plan.order().iter().zip([TEN, Done::Failed, Done::Failed]) {
            ledger.enter(visit.key(), done);
        }
        assert_eq!(plan.time_for(3, &ledger), Span::from_secs(30));
    }

    #[test]
    fn a_setting_is_told_that_fails_in_every_cycle_and_only_then() {
        let plan = plan();
        let mut ledger = Ledger::default();
        ledger.enter(VisitKey { cycle: 1, index: 2 }, Done::Failed);
        ledger.enter(VisitKey { cycle: 1, index: 0 }, Done::Failed);
        ledger.enter(VisitKey { cycle: 2, index: 0 }, TEN);
        assert!(ledger.always_failed(&plan).is_empty());
        ledger.enter(VisitKey { cycle: 2, index: 2 }, Done::Failed);
        assert_eq!(ledger.always_failed(&plan), [2]);
    }
}
