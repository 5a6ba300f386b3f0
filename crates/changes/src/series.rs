//! One metric of a path over time: levels, seasons, and the shift that stands out now.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use stats::median;

use crate::profile::Profile;
use crate::usual::{LENGTHS, Levels, Usual};
use crate::{Metric, UnixTime};

/// Four weeks of a visit each half hour: two weekends twice.
const POINTS_MAX: usize = 1344;
/// Ten days of them: what is usual.
const USUAL_MAX: usize = 480;
/// The latest visits, in which changes are looked for: half a day.
pub(crate) const RECENT: usize = 24;
/// A day has to be seen before anything in it is unusual.
const KNOWN_MIN: usize = 44;
const KNOWN_HOURS: f64 = 23.5;
/// Visits on the new side, so that no single one makes an event.
pub(crate) const VISITS_MIN: usize = 3;
/// Of three visits the weakest shows this share of what the middle one does.
const WEAKEST: f64 = 0.5;
/// Visits after a change at which its size is estimated again.
const SETTLING: [usize; 5] = [4, 6, 12, 24, 48];
/// Visits before a change that the new level is compared with: a day, so that hours of the day
/// cancel out.
pub(crate) const BEFORE: usize = 48;
/// Seasons and what is usual are learned anew once a day.
const REFRESH_SECONDS: f64 = 86_400.0;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    pub at: UnixTime,
    /// The number of its visit.
    pub visit: u64,
    /// On the metric's scale, moved to today's level.
    pub value: f64,
    /// Without season, in units of the hour's scatter.
    pub residual: f64,
    /// How far it lies from the level before, in units of what is usual for one visit.
    pub score: f64,
    /// The local levels with it.
    levels: Levels,
}

/// A shift that stands out in the latest visits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
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
    profile: Profile,
    usual: Usual,
    regime: Option<Regime>,
    refreshed: UnixTime,
}

impl Series {
    pub fn new(metric: Metric) -> Self {
        Series {
            metric,
            points: VecDeque::new(),
            profile: Profile::default(),
            usual: Usual::default(),
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
            levels: Levels::default(),
        };
        self.place(&mut point, self.points.back().map(|last| last.levels));
        self.points.push_back(point);
        if self.points.len() > POINTS_MAX {
            self.points.pop_front();
        }
        self.settle();
        let first = self.points.front().map_or(at, |first| first.at);
        let due = self.refreshed.max(first);
        if at.since(due).as_secs_f64() >= REFRESH_SECONDS
            || (self.refreshed < first && self.is_long_enough())
        {
            self.refreshed = at;
            self.refresh();
        }
    }

    /// Residual, score and levels of a point behind one with these levels.
    fn place(&self, point: &mut Point, before: Option<Levels>) {
        let season = self.profile.center(point.at);
        point.residual = (point.value - season) / self.profile.scatter(point.at);
        let before = before.unwrap_or(Levels::at(point.residual));
        point.score = self.usual.score(point.residual, &before);
        point.levels = before.with(point.residual, self.usual.step());
    }

    /// The least scatter that a shift is compared with.
    fn scatter_min(&self) -> f64 {
        let level = self.points.back().map_or(0.0, |point| point.value);
        self.metric.smallest_shift(level) / 5.0
    }

    /// Seasons and what is usual, from the points.
    fn refresh(&mut self) {
        let values: Vec<_> = self.points.iter().map(|p| (p.at, p.value)).collect();
        self.profile = Profile::of(&values);
        self.replace(0);
        let start = self.points.len().saturating_sub(USUAL_MAX);
        let latest: Vec<(f64, Levels)> = self
            .points
            .range(start..)
            .map(|point| (point.residual, point.levels))
            .collect();
        self.usual = Usual::of(&latest, self.scatter_min());
        self.replace(start);
    }

    /// Places the points from `start` on anew.
    fn replace(&mut self, start: usize) {
        for index in start..self.points.len() {
            let before = index
                .checked_sub(1)
                .map(|before| self.points[before].levels);
            let mut point = self.points[index];
            self.place(&mut point, before);
            self.points[index] = point;
        }
    }

    fn is_long_enough(&self) -> bool {
        let (Some(first), Some(last)) = (self.points.front(), self.points.back()) else {
            return false;
        };
        let hours = last.at.since(first.at).as_secs_f64() / 3600.0;
        self.points.len() >= KNOWN_MIN && hours >= KNOWN_HOURS
    }

    /// Whether there is enough before the latest visits to compare them with.
    fn is_known(&self) -> bool {
        self.usual.is_known()
    }

    /// Whether seasons are known, weekends too: after the third one.
    pub fn is_seasoned(&self) -> bool {
        self.points.front().is_some_and(|first| {
            let days = self
                .points
                .back()
                .map_or(0.0, |last| last.at.since(first.at).as_secs_f64());
            days >= 21.0 * 86_400.0
        })
    }

    /// The shift of the latest visits that stands out most.
    pub fn candidate(&self) -> Option<Candidate> {
        if !self.is_known() {
            return None;
        }
        let free = self.free();
        let tried = LENGTHS.iter().copied().filter(|m| *m <= free);
        let strengths = tried.map(|m| (self.strength(m), m));
        let (strength, m) = strengths.max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()))?;
        let length = self.beginning(strength.signum(), m, free);
        Some(Candidate {
            visit: self.points[self.points.len() - length].visit,
            strength,
        })
    }

    /// Latest points behind the last change.
    fn free(&self) -> usize {
        let since = self.regime.map_or(0, |regime| regime.visit);
        let later = self.points.iter().rev().take(RECENT + VISITS_MIN);
        let later = later.take_while(|p| p.visit >= since).count();
        let settled = self.regime.map_or(0, |_| VISITS_MIN);
        later.saturating_sub(settled).min(RECENT)
    }

    /// How far the median of the latest `m` points lies from the level before them, in units of
    /// what is usual; zero where the points do not agree.
    fn strength(&self, m: usize) -> f64 {
        let Some(before) = self.points.len().checked_sub(m + 1) else {
            return 0.0;
        };
        let levels = &self.points[before].levels;
        let latest: Vec<f64> = self
            .points
            .range(before + 1..)
            .map(|p| p.residual)
            .collect();
        let (off, scatter) = self.usual.off(&latest, levels);
        let level = self.usual.level(m, levels);
        let share = |value: &f64| (value - level) / off;
        let beside = latest.iter().filter(|value| share(value) < WEAKEST).count();
        match off == 0.0 || beside * 5 > m {
            true => 0.0,
            false => off / scatter / self.doubt(),
        }
    }

    /// How much less is known of the level after a recent change.
    fn doubt(&self) -> f64 {
        let known_from = self
            .regime
            .map_or(f64::INFINITY, |regime| regime.known_from as f64);
        (1.0 + 3.0 / known_from).sqrt()
    }

    /// Where a shift in the direction of `sign`, seen in `m` points, most likely began, as a
    /// number of points from the end: the cut with the largest squared sum of distances for its
    /// length.
    fn beginning(&self, sign: f64, m: usize, free: usize) -> usize {
        let end = self.points.len();
        let before = end - free.min(m + VISITS_MIN);
        let before = before.saturating_sub(1);
        let level = self.usual.level(m, &self.points[before].levels);
        let latest: Vec<f64> = self.points.range(end - m..).map(|p| p.residual).collect();
        let shift = (median(&latest).unwrap_or(level) - level).abs();
        let mut sum = 0.0;
        let mut best = (0.0, m);
        for length in 1..=free.min(m + VISITS_MIN) {
            let off = (self.points[end - length].residual - level) * sign;
            sum += off.clamp(-shift, 1.5 * shift);
            let gain = sum.max(0.0).powi(2) / length as f64;
            if length >= VISITS_MIN && gain > best.0 {
                best = (gain, length);
            }
        }
        best.1
    }

    /// How far the visits from `visit` on stand out together, whatever was found elsewhere.
    pub fn strength_since(&self, visit: u64) -> f64 {
        let later = self.points.iter().rev().take(RECENT + 1);
        let count = later.take_while(|p| p.visit >= visit).count();
        match (2..=RECENT).contains(&count) && self.is_known() {
            true => self.strength(count),
            false => 0.0,
        }
    }

    /// Where the latest visits went out of the usual range `most` times or more to one side, each
    /// time back again, the visit of the first time. A visit is out from a score of `out` on and
    /// back below `back`.
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

    /// Levels before a visit move with the values.
    fn relevel(&mut self, visit: u64, by: f64) {
        for point in self.points.iter_mut().filter(|point| point.visit < visit) {
            let scatter = self.profile.scatter(point.at);
            point.residual += by / scatter;
            point.levels = point.levels.moved(by / scatter);
        }
    }

    fn align(&mut self, visit: u64) {
        let (before, after) = self.sides(visit);
        let (Some(before), Some(after)) = (median(&before), median(&after)) else {
            return;
        };
        for point in self.points.iter_mut().filter(|point| point.visit < visit) {
            point.value += after - before;
        }
        let start = self.points.len().saturating_sub(2 * RECENT + SETTLING[4]);
        self.relevel(visit, after - before);
        self.replace(start);
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
        } else if count > USUAL_MAX {
            self.regime = None;
        }
    }
}

#[cfg(test)]
mod tests;
