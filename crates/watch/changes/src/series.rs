//! One metric of a path over time: levels, seasons, and the shift that stands out now.
//!
//! Values are compared without their season and without the shifts of the events that go on, so
//! that what is usual stays known while a metric is away from its usual level and after it came
//! back.

mod latest;
mod level;
mod told;

use std::collections::VecDeque;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use stats::median;
use units::Span;

use crate::order::Sorted;
use crate::profile::Profile;
use crate::usual::{Levels, Usual};
use crate::{Metric, UnixTime};
use level::Level;

/// Four weeks of a visit each half hour: two weekends twice.
const POINTS_MAX: usize = 1344;
/// Ten days of them: what is usual.
const USUAL_MAX: usize = 480;
/// The latest visits, in which changes are looked for: half a day.
pub(crate) const RECENT: usize = 24;
/// Points from which it is first learned what is usual; a day of half-hourly ones is settled.
const LEARNED_MIN: usize = 6;
const LEARNED_SETTLED: usize = 44;
/// Until a day is over it is learned anew each time the points are more by this factor.
const LEARNED_GROWS: f64 = 1.25;
/// In the first day, bounds are wider by `1 + YOUTH / n` after `n` points.
const YOUTH: f64 = 8.0;
/// Until a day is seen, hours of the day may make changes of so many of the smallest shifts that
/// concern anybody.
const UNSEEN_DAY: f64 = 6.0;
/// Visits on the new side, so that no single one makes an event.
pub(crate) const VISITS_MIN: usize = 3;
/// Visits before a change that the new level is compared with: a day, so that hours of the day
/// cancel out.
pub(crate) const BEFORE: usize = 48;
/// Until so many days are over, steps of the first days may have been hours of the day.
const SEASON_IN_DOUBT: f64 = 8.0;
/// The share of moved visits that hours of the day have to explain.
const EXPLAINED: f64 = 0.75;
/// Seasons and what is usual are learned anew once a day.
const REFRESH_SECONDS: u64 = 86_400;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    pub at: UnixTime,
    /// The number of its visit.
    pub visit: u64,
    /// As it was measured, on the metric's scale.
    pub value: f64,
    /// How far events moved it.
    #[serde(default)]
    offset: f64,
    /// Without offset and season, in units of the hour's scatter.
    residual: f64,
    /// How far it lies from the level before, in units of what is usual for one visit.
    score: f64,
    /// The local levels with it.
    levels: Levels,
}

impl Point {
    /// Where it would lie without the events.
    pub fn usual(&self) -> f64 {
        self.value - self.offset
    }
}

/// A shift that stands out in the latest visits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
    /// The visit it begins with.
    pub visit: u64,
    /// How far it stands out, in standard deviations of the usual; the sign is the direction.
    pub strength: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Series {
    pub metric: Metric,
    points: VecDeque<Point>,
    profile: Profile,
    usual: Usual,
    /// Points that what is usual was learned from.
    #[serde(default = "settled")]
    learned: usize,
    level: Level,
    refreshed: UnixTime,
}

/// Of detectors that were stored before it was counted.
fn settled() -> usize {
    LEARNED_SETTLED
}

impl Series {
    pub fn new(metric: Metric) -> Self {
        Series {
            metric,
            points: VecDeque::new(),
            profile: Profile::default(),
            usual: Usual::default(),
            learned: 0,
            level: Level::default(),
            refreshed: UnixTime::default(),
        }
    }

    pub fn points(&self) -> &VecDeque<Point> {
        &self.points
    }

    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Takes the value of a visit, in the unit of the metric. Whether it learned anew then what is
    /// usual.
    pub fn push(&mut self, at: UnixTime, visit: u64, value: f64) -> bool {
        let mut point = Point {
            at,
            visit,
            value: self.metric.scaled(value),
            offset: self.level.offset(),
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
        let is_due = self.is_refresh_due(at);
        if is_due {
            self.refreshed = at;
            self.refresh();
        }
        is_due
    }

    /// A day after the last time, each time the points are more by a factor, and after a clock
    /// that was ahead.
    fn is_refresh_due(&self, at: UnixTime) -> bool {
        let first = self.points.front().map_or(at, |first| first.at);
        let day = Span::from_secs(REFRESH_SECONDS);
        at.since(self.refreshed.max(first)) >= day
            || self.refreshed.since(at) >= day
            || (self.learned < USUAL_MAX && self.learnable().len() as f64 >= self.learn_next())
    }

    fn learn_next(&self) -> f64 {
        match self.learned {
            0 => LEARNED_MIN as f64,
            learned => LEARNED_GROWS * learned as f64,
        }
    }

    /// Points that tell what is usual: not the latest ones, which may be a change that they would
    /// hide.
    fn learnable(&self) -> Range<usize> {
        let latest = match self.points.len() >= LEARNED_SETTLED + 2 * VISITS_MIN {
            true => 2 * VISITS_MIN,
            false => VISITS_MIN,
        };
        let end = self.points.len().saturating_sub(latest);
        end.saturating_sub(USUAL_MAX)..end
    }

    /// Residual, score and levels of a point behind one with these levels.
    fn place(&self, point: &mut Point, before: Option<Levels>) {
        point.residual = self.residual(point);
        let before = before.unwrap_or_else(|| Levels::at(self.first_level(point.residual)));
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
        let usual = self.points.iter().map(|point| (point.at, point.usual()));
        self.profile = Profile::of(&usual.collect::<Vec<_>>());
        self.replace(0);
        let learnable = self.learnable();
        let known = self.points.range(learnable.clone());
        let known: Vec<(f64, Levels)> = known.map(|p| (p.residual, p.levels)).collect();
        self.usual = Usual::of(&known, self.scatter_min());
        self.learned = known.len();
        self.replace(learnable.start);
    }

    /// Takes the shifts of the first days back where hours of the day explain them. Gives the
    /// events that were none.
    pub fn take_back(&mut self) -> Vec<u64> {
        if self.days() > SEASON_IN_DOUBT {
            return Vec::new();
        }
        let measured: Vec<_> = self.points.iter().map(|p| (p.at, p.value)).collect();
        let season = Profile::of(&measured);
        if !season.is_known() || !self.is_explained(&season) {
            return Vec::new();
        }
        self.profile = season;
        for point in &mut self.points {
            point.offset = 0.0;
        }
        self.replace(0);
        std::mem::take(&mut self.level).events()
    }

    /// Whether three of four visits that events moved lie where a season has them, by half of that
    /// shift or less.
    fn is_explained(&self, season: &Profile) -> bool {
        let left = |point: &Point| point.value - season.center(point.at);
        let (moved, usual): (Vec<&Point>, Vec<&Point>) =
            self.points.iter().partition(|point| point.offset != 0.0);
        let usual: Vec<f64> = usual.into_iter().map(left).collect();
        let Some(middle) = median(&usual) else {
            return false;
        };
        let shares = moved
            .into_iter()
            .map(|point| (left(point) - middle).abs() / point.offset.abs());
        let shares = Sorted::of(shares.collect());
        shares.quantile(EXPLAINED).is_some_and(|share| share <= 0.5)
    }

    /// Days from the first point to the last.
    fn days(&self) -> f64 {
        let ends = self.points.front().zip(self.points.back());
        ends.map_or(0.0, |(first, last)| {
            last.at.since(first.at).as_secs_f64() / 86_400.0
        })
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

    /// The level that the first point is compared with: one odd visit at the beginning is none.
    fn first_level(&self, first: f64) -> f64 {
        let near = self.points.iter().take(LEARNED_MIN - 1);
        let values: Vec<f64> = near.map(|point| self.residual(point)).collect();
        median(&values).unwrap_or(first)
    }

    fn residual(&self, point: &Point) -> f64 {
        (point.usual() - self.profile.center(point.at)) / self.profile.scatter(point.at)
    }

    /// How much wider bounds are, for what was learned from few points.
    fn youth(&self) -> f64 {
        match self.is_settled() {
            true => 1.0,
            false => 1.0 + YOUTH / self.learned.max(1) as f64,
        }
    }

    /// Whether the latest visit was the first of some that are out of the usual range and lie as
    /// far as a shift from the one before.
    pub fn goes_out(&self, out: f64, shift: f64) -> bool {
        let mut latest = self.points.iter().rev();
        let (Some(last), Some(before)) = (latest.next(), latest.next()) else {
            return false;
        };
        last.score.abs() >= out
            && before.score.abs() < out
            && (last.usual() - before.usual()) / shift >= 1.0
    }

    /// The smallest shift on the scale of the metric that is reported, at a level on it.
    pub fn smallest_shift(&self, level: f64) -> f64 {
        let smallest = self.metric.smallest_shift(level);
        match self.is_settled() {
            true => smallest,
            false => UNSEEN_DAY * smallest,
        }
    }

    /// Whether as many visits were seen as half-hourly ones of a day.
    fn is_settled(&self) -> bool {
        self.learned >= LEARNED_SETTLED
    }

    /// Whether there is enough before the latest visits to compare them with.
    fn is_known(&self) -> bool {
        self.usual.is_known()
    }

    /// Whether seasons are known, weekends too: after the third one.
    pub fn is_seasoned(&self) -> bool {
        self.days() >= 21.0
    }

    /// Values without season, before a visit (the latest [`BEFORE`]) and from it on.
    pub fn sides(&self, visit: u64) -> (Vec<f64>, Vec<f64>) {
        let free = |point: &Point| point.usual() - self.profile.center(point.at);
        let split = self.index_of(visit);
        let start = split.saturating_sub(BEFORE);
        let before = self.points.range(start..split).map(free).collect();
        (before, self.points.range(split..).map(free).collect())
    }

    /// When the visit of this number or the next one was made.
    pub fn time_of(&self, visit: u64) -> Option<UnixTime> {
        self.points.get(self.index_of(visit)).map(|point| point.at)
    }

    /// The place of the first point of a visit or a later one.
    fn index_of(&self, visit: u64) -> usize {
        self.points.partition_point(|point| point.visit < visit)
    }
}

#[cfg(test)]
mod tests;
