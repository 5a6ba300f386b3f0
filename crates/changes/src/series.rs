//! One metric of a path over time: levels, seasons, and the shift that stands out now.

mod latest;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use stats::median;
use units::Span;

use crate::profile::Profile;
use crate::usual::{Levels, Usual};
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
/// Visits after a change at which its size is estimated again.
const SETTLING: [usize; 5] = [4, 6, 12, 24, 48];
/// Visits before a change that the new level is compared with: a day, so that hours of the day
/// cancel out.
pub(crate) const BEFORE: usize = 48;
/// Seasons and what is usual are learned anew once a day.
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
        if self.is_refresh_due(at) {
            self.refreshed = at;
            self.refresh();
        }
    }

    /// A day after the last time, once the first day is there, and after a clock that was ahead.
    fn is_refresh_due(&self, at: UnixTime) -> bool {
        let first = self.points.front().map_or(at, |first| first.at);
        let day = Span::from_secs(REFRESH_SECONDS);
        at.since(self.refreshed.max(first)) >= day
            || self.refreshed.since(at) >= day
            || (self.refreshed < first && self.is_long_enough())
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
