//! Looks on beside the user, and ends a sample that costs more than was allowed.
//!
//! Two bounds are kept while data flows: the bytes of the budget, and under the objective gentle
//! the delay that the path's others have to bear. A sample that is ended so still counts: it shows
//! that its setting is too much. One in which nothing flows fails after a third of the time that
//! the budget leaves, so that others can follow.

use observe::{RunObserver, Snapshot};
use units::{Bytes, Span, Time};

use crate::history::History;
use crate::plan::Objective;
use crate::tuning::Cost;

/// Readings in a row beyond the delay budget that end a sample: half a second.
const READINGS: u32 = 5;

/// How long nothing may flow in any sample, if the budget leaves so much.
const IDLE_ALLOWED: Span = Span::from_secs(10);

/// A [`RunObserver`] that passes everything on to another and keeps the bounds.
pub(crate) struct Guard<'a> {
    observer: &'a mut dyn RunObserver,
    bytes_left: Option<Bytes>,
    /// The longest round trip that is allowed, where it is bounded and the idle path's is known.
    rtt_max: Option<Span>,
    too_long: u32,
    has_enough: bool,
    /// How long nothing may flow.
    idle_max: Span,
    /// Time without data before the first.
    idle: Span,
    /// What the sample has taken so far.
    cost: Cost,
}

impl<'a> Guard<'a> {
    pub fn new(history: &History, observer: &'a mut dyn RunObserver) -> Self {
        Guard {
            observer,
            bytes_left: history.bytes_left(),
            rtt_max: rtt_max(history),
            too_long: 0,
            has_enough: false,
            idle_max: idle_max(history.time_left()),
            idle: Span::ZERO,
            cost: Cost::default(),
        }
    }

    /// What the sample had taken when it was heard of last.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    fn count_delay(&mut self, snapshot: &Snapshot) {
        let seen = snapshot.probe_rtt.or(snapshot.rtt);
        let beyond = self.rtt_max.zip(seen).is_some_and(|(max, seen)| seen > max);
        self.too_long = if beyond { self.too_long + 1 } else { 0 };
    }
}

/// Logging in takes some seconds on long paths.
fn idle_max(time_left: Span) -> Span {
    let third = Span::from_nanos(time_left.as_nanos() / 3);
    third.max(IDLE_ALLOWED).min(time_left)
}

fn rtt_max(history: &History) -> Option<Span> {
    let Objective::Gentle { added_rtt_max, .. } = history.plan.objective else {
        return None;
    };
    Some(history.rtt_unloaded()? + added_rtt_max)
}

impl RunObserver for Guard<'_> {
    fn on_progress(&mut self, snapshot: &Snapshot) {
        self.observer.on_progress(snapshot);
        self.cost = Cost {
            elapsed: self.idle + snapshot.at.since(Time::ZERO),
            bytes: snapshot.bytes,
        };
        self.count_delay(snapshot);
        let spent = self.bytes_left.is_some_and(|left| snapshot.bytes >= left);
        self.has_enough = spent || self.too_long >= READINGS;
    }

    fn on_idle(&mut self, elapsed: Span) {
        self.observer.on_idle(elapsed);
        self.idle = elapsed;
        self.cost.elapsed = elapsed;
        self.has_enough = elapsed >= self.idle_max;
    }

    fn is_cancelled(&self) -> bool {
        self.observer.is_cancelled()
    }

    fn has_enough(&self) -> bool {
        self.has_enough || self.observer.has_enough()
    }

    fn on_wait(&mut self, why: &str, wait: Span) {
        self.observer.on_wait(why, wait);
    }
}
