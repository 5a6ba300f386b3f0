//! One metric of a path over time: levels, seasons, and the shift that stands out now.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use stats::median;

use crate::profile::Profile;
use crate::scores::{score, variance_of_sums};
use crate::{Metric, UnixTime};

/// Four weeks of a visit each half hour: two weekends twice.
const POINTS_MAX: usize = 1344;
/// Ten days of them: what a value is compared with.
const BASELINE_MAX: usize = 480;
/// Half a day: the latest visits, in which changes are looked for. They join the baseline later.
pub(crate) const RECENT: usize = 24;
/// A day has to be seen before anything in it is unusual.
const BASELINE_MIN: usize = 24;
const BASELINE_HOURS: f64 = 24.0;
/// Visits on the new side, so that no single one makes an event.
pub(crate) const VISITS_MIN: usize = 3;
/// Lengths of the new side that are tried.
const WINDOWS: [usize; 6] = [3, 4, 6, 9, 14, 24];
/// One visit counts for at most this much more than the second strongest.
const LEAD_MAX: f64 = 1.0;
/// Visits after a change at which its size is estimated again.
const SETTLING: [usize; 5] = [4, 6, 12, 24, 48];
/// Visits before a change that the new level is compared with: two days, so that hours of the day
/// cancel out.
pub(crate) const BEFORE: usize = 96;
/// Seasons are learned anew once a day.
const REFRESH_SECONDS: u64 = 86_400;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    pub at: UnixTime,
    /// The number of its visit.
    pub visit: u64,
    /// On the metric's scale, moved to today's level.
    pub value: f64,
    /// Without season, in units of the hour's scatter.
    pub residual: f64,
    pub score: f64,
}

/// A shift that stands out in the latest visits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
    /// Number of points on the new side.
    pub length: usize,
    /// The visit it begins with.
    pub visit: u64,
    /// How far it stands out, in standard deviations of the usual; the sign is the direction.
    pub strength: f64,
}

/// The latest change.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Regime {
    /// Its first visit.
    visit: u64,
    /// Points that its level was estimated from.
    known_from: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Series {
    pub metric: Metric,
    points: VecDeque<Point>,
    /// Residuals of the baseline, in order.
    baseline: Vec<f64>,
    profile: Profile,
    /// Of sums of neighbouring scores, by their number.
    variances: Vec<f64>,
    regime: Option<Regime>,
    refreshed: UnixTime,
}

impl Series {
    pub fn new(metric: Metric) -> Self {
        Series {
            metric,
            points: VecDeque::new(),
            baseline: Vec::new(),
            profile: Profile::default(),
            variances: (0..=RECENT).map(|m| m as f64).collect(),
            regime: None,
            refreshed: UnixTime::default(),
        }
    }

    pub fn points(&self) -> &VecDeque<Point> {
        &self.points
    }

    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Takes the value of a visit, in the unit of the metric.
    pub fn push(&mut self, at: UnixTime, visit: u64, value: f64) {
        let mut point = Point {
            at,
            visit,
            value: self.metric.scaled(value),
            residual: 0.0,
            score: 0.0,
        };
        point.residual = self.residual(&point);
        point.score = score(&self.baseline, point.residual, self.scatter_min());
        self.points.push_back(point);
        if self.points.len() > POINTS_MAX {
            self.points.pop_front();
        }
        self.grow_baseline();
        self.settle();
        if at.since(self.refreshed).as_secs_f64() >= REFRESH_SECONDS as f64 {
            self.refreshed = at;
            self.refresh();
        }
    }

    /// The point that is no longer among the latest joins the baseline; the oldest leaves.
    fn grow_baseline(&mut self) {
        let Some(newest) = self.points.len().checked_sub(RECENT + 1) else {
            return;
        };
        insert(&mut self.baseline, self.points[newest].residual);
        if let Some(oldest) = newest.checked_sub(BASELINE_MAX) {
            remove(&mut self.baseline, self.points[oldest].residual);
        }
    }

    fn residual(&self, point: &Point) -> f64 {
        (point.value - self.profile.center(point.at)) / self.profile.scatter(point.at)
    }

    fn scatter_min(&self) -> f64 {
        let level = self.points.back().map_or(0.0, |point| point.value);
        self.metric.smallest_shift(level) / 2.0
    }

    /// Seasons, residuals, baseline, scores and their correlation from the points.
    fn refresh(&mut self) {
        let values: Vec<_> = self.points.iter().map(|p| (p.at, p.value)).collect();
        self.profile = Profile::of(&values);
        self.rescore();
        let settled = self.points.len().saturating_sub(RECENT);
        let scores: Vec<f64> = self.points.iter().take(settled).map(|p| p.score).collect();
        self.variances = variance_of_sums(&scores, RECENT);
    }

    fn rescore(&mut self) {
        for index in 0..self.points.len() {
            self.points[index].residual = self.residual(&self.points[index]);
        }
        let end = self.points.len().saturating_sub(RECENT);
        let start = end.saturating_sub(BASELINE_MAX);
        self.baseline = self.points.range(start..end).map(|p| p.residual).collect();
        self.baseline.sort_by(f64::total_cmp);
        let scatter_min = self.scatter_min();
        for point in &mut self.points {
            point.score = score(&self.baseline, point.residual, scatter_min);
        }
    }

    /// Whether there is enough before the latest visits to compare them with.
    fn is_known(&self) -> bool {
        let (Some(first), Some(last)) = (self.points.front(), self.points.back()) else {
            return false;
        };
        let hours = last.at.since(first.at).as_secs_f64() / 3600.0;
        self.baseline.len() >= BASELINE_MIN && hours >= BASELINE_HOURS
    }

    /// Whether seasons are known, weekends too.
    pub fn is_seasoned(&self) -> bool {
        self.points.front().is_some_and(|first| {
            let days = self
                .points
                .back()
                .map_or(0.0, |last| last.at.since(first.at).as_secs_f64());
            days >= 14.0 * 86_400.0
        })
    }

    /// The shift of the latest visits that stands out most.
    pub fn candidate(&self) -> Option<Candidate> {
        if !self.is_known() {
            return None;
        }
        let free = self.free();
        let tried = WINDOWS.iter().copied().filter(|m| *m <= free);
        let strengths = tried.map(|m| self.strength(m));
        let strongest = strengths.max_by(|a, b| a.abs().total_cmp(&b.abs()))?;
        let length = self.beginning(strongest.signum(), free)?;
        Some(Candidate {
            length,
            visit: self.points[self.points.len() - length].visit,
            strength: strongest,
        })
    }

    /// Latest points behind the last change.
    fn free(&self) -> usize {
        let since = self.regime.map_or(0, |regime| regime.visit);
        let later = self
            .points
            .iter()
            .rev()
            .take_while(|p| p.visit >= since)
            .count();
        let settled = self.regime.map_or(0, |_| VISITS_MIN);
        later.saturating_sub(settled).min(RECENT)
    }

    /// How far the latest `m` points stand out together.
    fn strength(&self, m: usize) -> f64 {
        let scores = || self.points.range(self.points.len() - m..).map(|p| p.score);
        let sum: f64 = scores().sum();
        let sign = sum.signum();
        // Every one of three and most of more lie on the new side.
        let beside = scores().filter(|score| score * sign < 0.3).count();
        if beside * 4 > m {
            return 0.0;
        }
        let mut order: Vec<f64> = scores().map(|score| score * sign).collect();
        order.sort_by(f64::total_cmp);
        let second = order[m - 2];
        let led: f64 = order.iter().map(|score| score.min(second + LEAD_MAX)).sum();
        let variance = self.variances[m] / (m * m) as f64 + self.level_variance();
        sign * led / m as f64 / variance.sqrt()
    }

    /// Of the present level, in squared units of the usual scatter.
    fn level_variance(&self) -> f64 {
        let Some(regime) = self.regime else {
            return 0.0;
        };
        let n = regime.known_from.clamp(1, RECENT);
        self.variances[n] / (n * regime.known_from.max(1)) as f64
    }

    /// Where a shift in the direction of `sign` most likely began, as a number of points from the
    /// end: the cut with the largest squared sum of scores for its length.
    fn beginning(&self, sign: f64, free: usize) -> Option<usize> {
        let mut sum = 0.0;
        let mut best: Option<(f64, usize)> = None;
        for length in 1..=free {
            let score = self.points[self.points.len() - length].score * sign;
            sum += score.clamp(-4.0, 4.0);
            let gain = sum.max(0.0).powi(2) / length as f64;
            if length >= VISITS_MIN && best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, length));
            }
        }
        best.map(|(_, length)| length)
    }

    /// How far the visits from `visit` on stand out together, whatever was found elsewhere.
    pub fn strength_since(&self, visit: u64) -> f64 {
        let count = self
            .points
            .iter()
            .rev()
            .take_while(|p| p.visit >= visit)
            .count();
        match (2..=RECENT).contains(&count) && self.is_known() {
            true => self.strength(count),
            false => 0.0,
        }
    }

    /// Where the latest visits went out of the usual range `most` times or more to one side, each
    /// time back again, the visit of the first time. A visit is out from a score of `out` on and back
    /// below `back`.
    pub fn excursions(&self, out: f64, back: f64, most: usize) -> Option<u64> {
        if !self.is_known() || self.free() < RECENT {
            return None;
        }
        let count = |sign: f64| {
            let (mut begun, mut is_out) = (Vec::new(), false);
            for point in self.points.range(self.points.len() - RECENT..) {
                let score = point.score * sign;
                if score >= out && !is_out {
                    begun.push(point.visit);
                }
                is_out = score >= out || (is_out && score >= back);
            }
            (begun.len() >= most).then(|| begun[0])
        };
        count(1.0).or_else(|| count(-1.0))
    }

    /// Values without season before the latest visits, and of those of them that are out.
    pub fn excursion_sides(&self, out: f64) -> (Vec<f64>, Vec<f64>) {
        let free = |point: &Point| point.value - self.profile.center(point.at);
        let split = self.points.len().saturating_sub(RECENT);
        let start = split.saturating_sub(BEFORE);
        let recent = self.points.range(split..);
        let outside = recent.filter(|point| point.score.abs() >= out).map(free);
        (
            self.points.range(start..split).map(free).collect(),
            outside.collect(),
        )
    }

    /// Values without season, before a visit (the latest [`BEFORE`]) and from it on.
    pub fn sides(&self, visit: u64) -> (Vec<f64>, Vec<f64>) {
        let free = |point: &Point| point.value - self.profile.center(point.at);
        let split = self.points.partition_point(|point| point.visit < visit);
        let start = split.saturating_sub(BEFORE);
        let before = self.points.range(start..split).map(free).collect();
        (before, self.points.range(split..).map(free).collect())
    }

    /// Moves what was before `visit` to the level that holds since.
    pub fn accept(&mut self, visit: u64) {
        let (_, after) = self.sides(visit);
        self.regime = Some(Regime {
            visit,
            known_from: after.len(),
        });
        self.align(visit);
    }

    fn align(&mut self, visit: u64) {
        let (before, after) = self.sides(visit);
        let (Some(before), Some(after)) = (median(&before), median(&after)) else {
            return;
        };
        for point in self.points.iter_mut().filter(|point| point.visit < visit) {
            point.value += after - before;
        }
        self.rescore();
    }

    /// Knows the level after a change better as visits come.
    fn settle(&mut self) {
        let Some(regime) = self.regime else {
            return;
        };
        let count = self
            .points
            .iter()
            .rev()
            .take_while(|p| p.visit >= regime.visit)
            .count();
        if SETTLING.contains(&count) && count > regime.known_from {
            self.regime = Some(Regime {
                known_from: count,
                ..regime
            });
            self.align(regime.visit);
        } else if count > BASELINE_MAX {
            self.regime = None;
        }
    }
}

fn insert(sorted: &mut Vec<f64>, value: f64) {
    let place = sorted.partition_point(|other| *other < value);
    sorted.insert(place, value);
}

fn remove(sorted: &mut Vec<f64>, value: f64) {
    let place = sorted.partition_point(|other| *other < value);
    if place < sorted.len() {
        sorted.remove(place);
    }
}

#[cfg(test)]
mod tests;
