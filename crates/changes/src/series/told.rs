//! Before and after of a change, as visits measured them.

use stats::{median, shift};

use super::{BEFORE, Point, Series};
use crate::Moved;

/// Visits before a change that tell the level before: those at like hours of the day ...
const LIKE: usize = 24;
/// ... of the latest ones of two days.
const OF: usize = 2 * BEFORE;
/// Fewer on either side tell nothing.
const VISITS_MIN: usize = 2;

impl Series {
    /// Before and after of a change whose first visit is `first`, with the level that it has since
    /// the visit `since`. Both are medians of measured values.
    pub fn told(&self, first: u64, since: u64) -> Option<Moved> {
        let start = self.index_of(since);
        let after: Vec<&Point> = self.points.range(start..).take(BEFORE).collect();
        let before = self.like(self.before(first), &after);
        self.moved(&before, &after)
    }

    /// Before and after of a slow change: its first day and the latest one.
    pub fn told_slow(&self, first: u64) -> Option<Moved> {
        let start = self.index_of(first);
        let day = self.points.get(start)?.at.day();
        let begin = self.points.range(start..);
        let before: Vec<&Point> = begin.take_while(|point| point.at.day() == day).collect();
        let from = self.points.len().saturating_sub(LIKE).max(start);
        let after: Vec<&Point> = self.points.range(from..).collect();
        self.moved(&before, &after)
    }

    /// Before, and how far the excursions since the visit `first` lead: visits with this score.
    pub fn told_excursions(&self, first: u64, out: f64) -> Option<Moved> {
        let since = self.points.range(self.index_of(first)..);
        let after: Vec<&Point> = since.filter(|point| point.score.abs() >= out).collect();
        let before = self.like(self.before(first), &after);
        self.moved(&before, &after)
    }

    /// The latest visits before one, at the level that the last of them had.
    fn before(&self, first: u64) -> Vec<&Point> {
        let before = self.points.range(..self.index_of(first)).rev();
        let latest = before.clone().next();
        let (level, value) = latest.map_or((0.0, 0.0), |point| (point.offset, point.value));
        let same = self.metric.smallest_shift(value);
        before
            .take_while(|point| (point.offset - level).abs() < same)
            .take(OF)
            .collect()
    }

    /// Those of the visits, the latest first, whose hours are usually like those of others.
    fn like<'a>(&self, mut visits: Vec<&'a Point>, others: &[&Point]) -> Vec<&'a Point> {
        let center = |point: &&Point| self.profile.center(point.at);
        let usual: Vec<f64> = others.iter().map(center).collect();
        if let Some(usual) = stats::mean(&usual) {
            let off = |point: &&Point| (center(point) - usual).abs();
            visits.sort_by(|a, b| off(a).total_cmp(&off(b)));
        }
        visits.truncate(LIKE);
        visits
    }

    fn moved(&self, before: &[&Point], after: &[&Point]) -> Option<Moved> {
        if before.len().min(after.len()) < VISITS_MIN {
            return None;
        }
        let scaled = |side: &[&Point]| -> Vec<f64> { side.iter().map(|p| p.value).collect() };
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
        })
    }
}
