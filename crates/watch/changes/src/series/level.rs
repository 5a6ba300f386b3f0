//! The levels that events moved a metric to, and the way back from them.

use serde::{Deserialize, Serialize};
use stats::median;

use super::told::{Value, value};
use super::{BEFORE, RECENT, Series, VISITS_MIN};
use crate::{Moved, UnixTime};

/// Visits after a change at which the new level is estimated again.
const SETTLING: [usize; 5] = [4, 6, 12, 24, 48];
/// A visit this far out may be the first of the next change.
const CALM: f64 = 3.0;
/// A visit speaks for a level by so much at most (natural logarithm of the ratio of likelihoods),
/// so that no two odd ones are a way back; against it by twice as much.
const SAYS_MOST: f64 = 2.0;
/// What the visits of a way back have to say together: three clear ones.
const BACK_CERTAIN: f64 = 4.2;
/// Visits before a change that tell the usual level: a week of half-hourly ones.
const HOME: usize = 336;
/// What is left of a shift by less than this share is no shift.
const REST: f64 = 0.2;
/// Or by less than so many usual scatters of what is left.
const REST_CERTAIN: f64 = 3.0;

/// Where a metric is, beside its usual level.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Level {
    /// How far the usual level has moved itself.
    usual: f64,
    /// The shifts of the events that go on, the oldest first.
    away: Vec<Away>,
    /// The first visit of the latest change to another level or back.
    since: u64,
    /// Points that a new level was estimated from; `None` of one that was known before.
    known_from: Option<usize>,
}

/// The shift of an event that goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Away {
    event: u64,
    /// The first visit of the event.
    first: u64,
    first_at: UnixTime,
    /// The first visit of the level that it has now.
    since: u64,
    /// The visits before it.
    before: Vec<Value>,
    /// On the metric's scale.
    shift: f64,
    /// Of an event to and fro: whether the metric is back for now.
    is_back: bool,
}

impl Away {
    /// Its shift is known better, or went on. It cannot turn round: then there is none left.
    fn moves_on(&mut self, by: f64) {
        let shift = self.shift + by;
        self.shift = match shift * self.shift > 0.0 {
            true => shift,
            false => 0.0,
        };
    }
}

/// A way back.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Back {
    /// The events whose shifts end, the oldest first: the latest of those that go on.
    pub events: Vec<u64>,
    /// The first visit that does not differ.
    pub visit: u64,
    /// Whether part of their shifts is left.
    pub is_part: bool,
}

impl Level {
    pub fn offset(&self) -> f64 {
        let away = self.away.iter().filter(|one| !one.is_back);
        self.usual + away.map(|one| one.shift).sum::<f64>()
    }

    pub fn since(&self) -> u64 {
        self.since
    }

    /// Whether the latest change led to a level that was not known.
    pub fn is_new(&self) -> bool {
        self.known_from.is_some()
    }

    pub fn known_from(&self) -> f64 {
        self.known_from.map_or(f64::INFINITY, |count| count as f64)
    }

    pub fn events(&self) -> Vec<u64> {
        self.away.iter().map(|one| one.event).collect()
    }
}

impl Series {
    /// How far events have moved the metric, on its scale.
    pub fn offset(&self) -> f64 {
        self.level.offset()
    }

    /// The events whose shift goes on, the oldest first.
    pub fn away(&self) -> impl Iterator<Item = u64> + '_ {
        let away = self.level.away.iter();
        away.filter(|one| !one.is_back).map(|one| one.event)
    }

    /// Whether the metric belongs to an event that goes on.
    pub fn has(&self, event: u64) -> bool {
        self.level.away.iter().any(|one| one.event == event)
    }

    /// Before and after of an event that goes on.
    pub fn told_of(&self, event: u64) -> Option<Moved> {
        let mut away = self.level.away.iter();
        let own = away.find(|one| one.event == event)?;
        let told = self.told_since(&own.before, own.since)?;
        let size = self.metric.scaled(told.after) - self.metric.scaled(told.before);
        (self.is_calm() && size * own.shift > 0.0).then_some(told)
    }

    /// How far an event has moved the metric, on its scale; zero where it has not.
    pub fn shift_of(&self, event: u64) -> f64 {
        let mut away = self.level.away.iter();
        let found = away.find(|one| one.event == event);
        found.map_or(0.0, |one| one.shift)
    }

    /// The event has moved the metric since the visit `first`.
    pub fn depart(&mut self, event: u64, first: u64) {
        let shift = self.shift_since(first).unwrap_or(0.0);
        let first_at = self.points.get(self.index_of(first));
        let before = self.before(first);
        self.level.away.push(Away {
            before,
            event,
            first,
            first_at: first_at.map_or(UnixTime::default(), |point| point.at),
            since: first,
            shift,
            is_back: false,
        });
        self.begin_level(first);
    }

    /// The event has moved the metric slowly: by `total` from the visit `first` to the one before
    /// `until`.
    pub fn drift_away(&mut self, event: u64, first: u64, until: u64, total: f64) {
        let (index, end) = (self.index_of(first), self.index_of(until));
        let count = end.saturating_sub(index).max(1) as f64;
        for (number, point) in self.points.range_mut(index..).enumerate() {
            point.offset += total * ((number + 1) as f64 / count).min(1.0);
        }
        let ends = self
            .points
            .get(index)
            .zip(self.points.get(end.saturating_sub(1)));
        let Some((first_at, last)) = ends.map(|(first, last)| (first.at, last.visit)) else {
            return;
        };
        let before = self.before(first);
        let mut own = self.level.away.iter_mut();
        match own.find(|one| one.event == event) {
            Some(own) => own.moves_on(total),
            None => self.level.away.push(Away {
                before,
                event,
                first,
                first_at,
                since: first,
                shift: total,
                is_back: false,
            }),
        }
        self.level.since = last;
        self.level.known_from = None;
        self.replace(index);
    }

    /// The event's level is another one since `visit`. Whether it still is one: what is left of
    /// its shift may be too little, or go the other way.
    pub fn go_on(&mut self, event: u64, visit: u64) -> bool {
        let further = self.shift_since(visit).unwrap_or(0.0);
        let smallest = self.smallest_left();
        let mut own = self.level.away.iter_mut();
        let Some(own) = own.find(|one| one.event == event) else {
            return false;
        };
        let shift = own.shift + further;
        if shift * own.shift <= 0.0 || shift.abs() < smallest {
            return false;
        }
        (own.shift, own.since) = (shift, visit);
        self.begin_level(visit);
        true
    }

    /// The metric of an event to and fro is away again since `visit`.
    pub fn depart_again(&mut self, event: u64, visit: u64) {
        let further = self.shift_since(visit).unwrap_or(0.0);
        let mut own = self.level.away.iter_mut();
        if let Some(own) = own.find(|one| one.event == event) {
            (own.is_back, own.shift, own.since) = (false, further, visit);
        }
        self.begin_level(visit);
    }

    /// The metric of an event to and fro is back since `visit`; the event goes on.
    pub fn rest(&mut self, event: u64, visit: u64) {
        let mut own = self.level.away.iter_mut();
        if let Some(own) = own.find(|one| one.event == event) {
            own.is_back = true;
        }
        self.begin_known_level(visit);
    }

    /// The event's shift is over since `visit`.
    pub fn release(&mut self, event: u64, visit: u64) {
        let was_away = self.away().any(|one| one == event);
        self.level.away.retain(|one| one.event != event);
        if was_away {
            self.begin_known_level(visit);
        }
    }

    /// The event's level is the usual one now.
    pub fn adopt(&mut self, event: u64) {
        let away = self.level.away.iter();
        let mut away = away.filter(|one| one.event == event && !one.is_back);
        self.level.usual += away.next().map_or(0.0, |one| one.shift);
        self.level.away.retain(|one| one.event != event);
    }

    fn begin_level(&mut self, visit: u64) {
        self.level.since = visit;
        self.place_since(visit);
        let count = self.points.len() - self.index_of(visit);
        self.level.known_from = Some(count);
    }

    fn begin_known_level(&mut self, visit: u64) {
        self.level.since = visit;
        self.level.known_from = None;
        self.place_since(visit);
    }

    /// Points from `visit` on have the offset of now.
    fn place_since(&mut self, visit: u64) {
        let (index, offset) = (self.index_of(visit), self.level.offset());
        for point in self.points.range_mut(index..) {
            point.offset = offset;
        }
        self.replace(index);
    }

    /// How far the visits from one on lie from those before, without season, on the scale.
    pub fn shift_since(&self, visit: u64) -> Option<f64> {
        let (before, after) = self.sides(visit);
        Some(median(&after)? - median(&before[before.len().saturating_sub(BEFORE / 2)..])?)
    }

    /// Knows a new level better as visits come, unless the latest ones may be the next change.
    pub(super) fn settle(&mut self) {
        let Some(known) = self.level.known_from else {
            return;
        };
        let latest = self.points.iter().rev().take(SETTLING[4] + VISITS_MIN);
        let count = latest.take_while(|p| p.visit >= self.level.since).count();
        let due = SETTLING.into_iter().find(|due| *due > known);
        if due.is_none_or(|due| count < due) || !self.is_calm() {
            return;
        }
        let Some(further) = self.shift_since(self.level.since) else {
            return;
        };
        let since = self.level.since;
        let mut away = self.level.away.iter_mut().rev();
        if let Some(own) = away.find(|one| one.since == since) {
            own.moves_on(further);
            self.place_since(since);
            self.level.known_from = Some(count);
        }
    }

    /// The events whose shift is none, now that more visits tell it.
    pub fn vanished(&self) -> Vec<u64> {
        let level = self.points.back().map_or(0.0, |point| point.value);
        let smallest = self.metric.smallest_shift(level) / 2.0;
        let away = self.level.away.iter();
        let away = away.filter(|one| !one.is_back && one.shift.abs() < smallest);
        away.map(|one| one.event).collect()
    }

    /// The events of which too little is left at the level that they have now, and the first visit
    /// of that level.
    pub fn faded(&self) -> Vec<(u64, u64)> {
        let smallest = self.smallest_left();
        let away = self.level.away.iter().filter(|one| !one.is_back);
        let faded = away.filter(|one| one.since > one.first && one.shift.abs() < smallest);
        faded.map(|one| (one.event, one.since)).collect()
    }

    /// What is left of a shift has to be this large: less than what single visits scatter by is
    /// none.
    fn smallest_left(&self) -> f64 {
        self.points.back().map_or(0.0, |point| {
            let scatter = self.usual.scatter() * self.profile.scatter(point.at);
            self.metric.smallest_shift(point.value).max(scatter)
        })
    }

    /// Whether the latest visits are what is usual at the present level.
    fn is_calm(&self) -> bool {
        let mut latest = self.points.iter().rev().take(VISITS_MIN);
        latest.all(|point| point.score.abs() < CALM)
    }

    /// The events whose state before is older than what is known here, and older than `days`.
    pub fn outlasting(&self, days: f64) -> Vec<u64> {
        let (Some(oldest), Some(now)) = (self.points.front(), self.points.back()) else {
            return Vec::new();
        };
        let is_old = |one: &&Away| {
            one.first < oldest.visit && now.at.since(one.first_at).as_secs_f64() > 86_400.0 * days
        };
        let away = self.level.away.iter().filter(is_old);
        away.map(|one| one.event).collect()
    }

    /// The changes that the latest visits end: they are more likely at the level from which the
    /// latest events moved the metric than at the present one.
    pub fn way_back(&self) -> Option<Back> {
        let away: Vec<&Away> = self.level.away.iter().filter(|one| !one.is_back).collect();
        let tried = (0..away.len()).filter_map(|oldest| {
            let home = self.middle(&away[oldest].before)?;
            let shift: f64 = away[oldest..].iter().map(|one| one.shift).sum();
            let visit = self.back_since(home, shift)?;
            let since = self.points.range(self.index_of(visit)..).map(value);
            let rest = self.middle(&since.collect::<Vec<_>>())? - home;
            Some((oldest, visit, shift, rest))
        });
        let (oldest, visit, shift, rest) = tried.min_by(|a, b| a.3.abs().total_cmp(&b.3.abs()))?;
        Some(Back {
            events: away[oldest..].iter().map(|one| one.event).collect(),
            visit,
            is_part: self.is_left(visit, rest, shift),
        })
    }

    /// The median of measured values without their season.
    fn middle(&self, values: &[Value]) -> Option<f64> {
        let free = values
            .iter()
            .map(|(at, value)| value - self.profile.center(*at));
        median(&free.collect::<Vec<_>>())
    }

    /// Whether a change since `visit` leads back to what was usual over the last days, from where
    /// no event had moved the metric.
    pub fn leads_home(&self, visit: u64) -> bool {
        let index = self.index_of(visit);
        let before = |count: usize| {
            let before = self.points.range(index.saturating_sub(count)..index);
            median(&before.map(|point| point.residual).collect::<Vec<_>>())
        };
        let since = self.points.range(index..).map(|point| point.residual);
        let ends = before(RECENT / 4).zip(median(&since.collect::<Vec<_>>()));
        let home = before(HOME);
        let is_home = ends.zip(home).is_some_and(|((from, to), home)| {
            (to - home).abs() < (to - from).abs() / 2.0 && (from - home).abs() > (to - home).abs()
        });
        is_home && self.away().next().is_none()
    }

    /// The visit since which the latest ones speak for the level `home` against one that is away
    /// from it by a shift, if they do so for certain: a cumulative sum of log-likelihood ratios
    /// that never falls below zero.
    ///
    /// Source: Page, "Continuous inspection schemes", Biometrika 41 (1954).
    fn back_since(&self, home: f64, shift: f64) -> Option<u64> {
        let start = self.index_of(self.level.since + 1);
        let start = start.max(self.points.len().saturating_sub(2 * RECENT));
        let (mut sum, mut since) = (0.0, None);
        for point in self.points.range(start..) {
            let scatter = self.usual.scatter() * self.profile.scatter(point.at);
            let off = point.value - self.profile.center(point.at) - home;
            let says = ((off - shift).powi(2) - off.powi(2)) / (2.0 * scatter * scatter);
            sum += says.clamp(-2.0 * SAYS_MOST, SAYS_MOST);
            match sum > 0.0 {
                true => since = since.or(Some(point.visit)),
                false => (sum, since) = (0.0, None),
            }
        }
        since.filter(|_| sum >= BACK_CERTAIN)
    }

    /// Whether part of a shift is left for certain.
    fn is_left(&self, visit: u64, rest: f64, shift: f64) -> bool {
        let count = (self.points.len() - self.index_of(visit)).max(VISITS_MIN) as f64;
        let certain = REST_CERTAIN * self.usual.scatter() / count.sqrt();
        let level = self.points.back().map_or(0.0, |point| point.value);
        rest * shift > 0.0
            && rest.abs() >= REST * shift.abs()
            && rest.abs() >= certain
            && rest.abs() >= self.metric.smallest_shift(level)
    }
}
