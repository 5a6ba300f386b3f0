//! Before and after of a change, as visits measured them.

use stats::{median, shift};

use super::{BEFORE, Point, Series};
use crate::{Moved, UnixTime};

/// Visits before a change that tell the level before: those at like hours of the day ...
const LIKE: usize = 24;
/// ... of the latest ones of two days.
const OF: usize = 2 * BEFORE;
/// Fewer on either side tell nothing.
const VISITS_MIN: usize = 2;

/// A measured value on the metric's scale, and when.
pub(super) type Value = (UnixTime, f64);

pub(super) fn value(point: &Point) -> Value {
    (point.at, point.value)
}

impl Series {
    /// Before and after of a change with the first visit `first`: medians of measured values.
    pub fn told(&self, first: u64) -> Option<Moved> {
        self.told_since(&self.before(first), first)
    }

    /// The same with the visits before the change, for the level since the visit `since`.
    pub(super) fn told_since(&self, before: &[Value], since: u64) -> Option<Moved> {
        let after = self.points.range(self.index_of(since)..).take(BEFORE);
        let after: Vec<Value> = after.map(value).collect();
        self.moved(&self.like(before, &after), &after)
    }

    /// Before and after of a slow change: its first day and the latest one.
    pub fn told_slow(&self, first: u64) -> Option<Moved> {
        let start = self.index_of(first);
        let day = self.points.get(start)?.at.day();
        let begin = self.points.range(start..);
        let begin = begin.take_while(|point| point.at.day() == day);
        let before: Vec<Value> = begin.map(value).collect();
        let from = self.points.len().saturating_sub(LIKE).max(start);
        let after: Vec<Value> = self.points.range(from..).map(value).collect();
        self.moved(&before, &after)
    }

    /// Before, and how far the excursions since the visit `first` lead: visits with this score.
    pub fn told_excursions(&self, first: u64, out: f64) -> Option<Moved> {
        let since = self.points.range(self.index_of(first)..);
        let after = since.filter(|point| point.score.abs() >= out);
        let after: Vec<Value> = after.map(value).collect();
        self.moved(&self.like(&self.before(first), &after), &after)
    }

    /// The latest visits before one at the level from which it departs, the latest first.
    pub(super) fn before(&self, first: u64) -> Vec<Value> {
        let from = self.offset();
        let before = self.points.range(..self.index_of(first)).rev();
        let same =
            |point: &&Point| (point.offset - from).abs() < self.metric.smallest_shift(point.value);
        before.filter(same).take(OF).map(value).collect()
    }

    /// Those of the visits, the latest first, whose hours are usually like those of others.
    fn like(&self, visits: &[Value], others: &[Value]) -> Vec<Value> {
        let center = |one: &Value| self.profile.center(one.0);
        let mut visits = visits.to_vec();
        let usual: Vec<f64> = others.iter().map(center).collect();
        if let Some(usual) = stats::mean(&usual) {
            let off = |one: &Value| (center(one) - usual).abs();
            visits.sort_by(|a, b| off(a).total_cmp(&off(b)));
        }
        visits.truncate(LIKE);
        visits
    }

    fn moved(&self, before: &[Value], after: &[Value]) -> Option<Moved> {
        if before.len().min(after.len()) < VISITS_MIN {
            return None;
        }
        let scaled = |side: &[Value]| -> Vec<f64> { side.iter().map(|one| one.1).collect() };
        let (before, after) = (scaled(before), scaled(after));
        let interval = shift(&before, &after)?.interval;
        let (before, after) = (median(&before)?, median(&after)?);
        let size = |shift: f64| self.metric.size_of(before, shift);
        let whole = after - before;
        Some(Moved {
            metric: self.metric,
            before: self.metric.unscaled(before),
            after: self.metric.unscaled(after),
            size: size(whole),
            size_low: interval.map(|ends| size(ends.low.min(whole))),
            size_high: interval.map(|ends| size(ends.high.max(whole))),
            strength: 0.0,
            recovered: None,
        })
    }
}
