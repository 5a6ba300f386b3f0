//! Whether the latest visits are a change, the end of one, or neither.

use super::Detector;
use super::flapping::EXCURSION;
use super::routes::RouteTurn;
use crate::causes::find;
use crate::drift::{Trend, trend};
use crate::series::{Candidate, Series};
use crate::{Event, EventKind, Metric, Moved, UnixTime, Visit};

/// How far visits have to stand out together, in units of what is usual: docs/decisions/014 has
/// what other bounds give.
const STRENGTH: f64 = 5.0;
/// The same as long as weekends are not known.
const STRENGTH_UNSEASONED: f64 = 5.5;
/// Where the route or the far host changed at the same visit.
const STRENGTH_WITNESSED: f64 = 3.0;
/// Where another metric is certain already.
const STRENGTH_TOGETHER: f64 = 2.5;
/// Losses and queues come and go with others' traffic: they have to stand out this much more.
const SIDE: f64 = 3.2;
/// Mann-Kendall's statistic for a drift, and for a step to be part of one.
const TREND: f64 = 4.0;
const TREND_BEFORE_STEP: f64 = 2.3;
/// A trend explains a step where it went this share of the way before.
const TREND_SHARE: f64 = 0.5;
/// A drift has to go this many of the smallest shifts that concern anybody.
const DRIFT_MIN: f64 = 2.0;
/// The end of an excursion, and how many of them within the latest visits are flapping.
const NO_EXCURSION: f64 = 2.0;
const EXCURSIONS_MIN: usize = 5;
/// Visits between two looks for drifts.
const DRIFT_EVERY: u64 = 12;
/// Until a day after a change, smaller ones the same way are part of it.
const SETTLES: u64 = 48;
/// Days after which a state is the usual one, where nothing of the one before is remembered.
const USUAL_AFTER: f64 = 28.0;

/// A certain change of a metric.
struct Change {
    metric: Metric,
    first: u64,
    strength: f64,
}

impl Detector {
    pub(super) fn judge(&mut self, now: UnixTime) -> Vec<Event> {
        let mut events = self.vanish();
        events.extend(self.take_back_small());
        events.extend(self.fade());
        events.extend(self.ways_back());
        events.extend(self.step(now));
        events.extend(self.excursions(now));
        if self.pushed >= self.looked_for_drift + DRIFT_EVERY {
            self.looked_for_drift = self.pushed;
            events.extend(self.drift(now));
        }
        events.extend(self.settled_flapping());
        events.extend(self.retell_due());
        events.extend(self.end_lasting(now, USUAL_AFTER));
        events
    }

    pub(super) fn series_of(&self, metric: Metric) -> Option<&Series> {
        self.series.iter().find(|one| one.metric == metric)
    }

    fn series_mut(&mut self, metric: Metric) -> Option<&mut Series> {
        self.series.iter_mut().find(|one| one.metric == metric)
    }

    /// The events whose metrics came back, wholly or in part.
    fn ways_back(&mut self) -> Vec<Event> {
        let found = self.series.iter();
        let found = found.filter_map(|one| Some((one.metric, one.way_back()?)));
        let found: Vec<_> = found.collect();
        let mut events = Vec::new();
        for (metric, back) in found {
            // What is left of several shifts is left of the oldest.
            let ended = back.events.iter().skip(usize::from(back.is_part));
            for event in ended {
                events.extend(self.come_back(metric, *event, back.visit));
            }
            let left = back.events.first().filter(|_| back.is_part);
            events.extend(left.and_then(|event| self.go_on(metric, *event, back.visit)));
        }
        events
    }

    /// An event whose metric has another level since `visit`.
    fn go_on(&mut self, metric: Metric, event: u64, visit: u64) -> Option<Event> {
        match self.series_mut(metric)?.go_on(event, visit) {
            true => self.retell(event),
            false => self.come_back(metric, event, visit),
        }
    }

    /// The most conspicuous change of level that is certain.
    fn step(&mut self, now: UnixTime) -> Option<Event> {
        let certain = self.series.iter().filter_map(|series| {
            let candidate = series.candidate()?;
            let change = Change {
                metric: series.metric,
                first: candidate.visit,
                strength: candidate.strength,
            };
            self.is_certain(series, &candidate).then_some(change)
        });
        let change = certain.max_by(|a, b| a.strength.abs().total_cmp(&b.strength.abs()))?;
        let Change { metric, first, .. } = change;
        let series = self.series_of(metric)?;
        if let Some(event) = self.goes_on(series, &change) {
            return self.go_on(metric, event, first);
        }
        if let Some(event) = self.flaps(series, first) {
            self.series_mut(metric)?.depart_again(event, first);
            let known = self.events.iter_mut().find(|one| one.event.id == event)?;
            known.turn(first);
            return None;
        }
        if let Some(event) = self.together(first, metric) {
            let moved = Moved {
                strength: change.strength,
                ..series.told(first)?
            };
            return self.join(event, moved, first);
        }
        self.begin(&change, now)
    }

    fn is_certain(&self, series: &Series, candidate: &Candidate) -> bool {
        let strength = candidate.strength.abs();
        if strength < STRENGTH_WITNESSED || series.leads_home(candidate.visit) {
            return false;
        }
        (strength >= needed(series) || self.has_witness(candidate.visit))
            && !self.is_return(series.metric, candidate)
            && series
                .told(candidate.visit)
                .is_some_and(|one| concerns(series, &one, candidate.strength))
            && agrees(series, candidate.visit, candidate.strength)
    }

    /// The event that a change is part of: a way back that ends half-way, or what follows within
    /// a day and is smaller.
    fn goes_on(&self, series: &Series, change: &Change) -> Option<u64> {
        let event = series.away().last()?;
        let shift = series.shift_of(event);
        let known = self.known(event)?;
        let is_further = shift * change.strength > 0.0;
        let further = series.shift_since(change.first).unwrap_or(0.0);
        let is_soon = self.pushed.saturating_sub(known.first) <= SETTLES;
        (!is_further || (is_soon && further.abs() < shift.abs())).then_some(event)
    }

    /// A new event.
    fn begin(&mut self, change: &Change, now: UnixTime) -> Option<Event> {
        let shifts = self.shifts(change.first);
        let main = shifts.iter().find(|one| one.metric == change.metric)?;
        let turns = self.turns_before(main.metric, main.size);
        let trend = match turns {
            Some(_) => None,
            None => self.trend_before(main, change.first),
        };
        let (kind, first) = match (&turns, trend) {
            (Some(_), _) => (EventKind::Flapping, change.first),
            (None, Some(trend)) => (EventKind::Drift, trend.visit),
            (None, None) => (EventKind::Step, change.first),
        };
        let at = match trend {
            Some(trend) => trend.since,
            None => self.time_of(first)?,
        };
        let mut event = self.open(kind, at, now);
        let id = event.id;
        event.causes = find(&self.evidence(change.first), &shifts);
        for series in &mut self.series {
            let certain = shifts.iter().find(|one| one.metric == series.metric);
            let certain = certain.is_some_and(|one| one.strength.abs() >= needed(series));
            match trend.filter(|_| series.metric == change.metric) {
                Some(trend) => {
                    series.drift_away(id, first, change.first, trend.total);
                    series.go_on(id, change.first);
                }
                None if certain || series.metric == change.metric => {
                    series.depart(id, change.first);
                }
                None => {}
            }
        }
        event.shifts = shifts;
        let event = self.remember(event, first);
        if let Some(known) = self.events.back_mut() {
            known.turned = turns.unwrap_or_default();
            known.turn(change.first);
        }
        match kind {
            // Its levels are those of its first day and of now.
            EventKind::Drift => self.tell_again_as_new(event),
            _ => Some(event),
        }
    }

    fn tell_again_as_new(&mut self, event: Event) -> Option<Event> {
        self.retell(event.id);
        let known = self.events.iter_mut();
        let mut known = known.filter(|known| known.event.id == event.id);
        let known = known.next()?;
        known.event.revision = 0;
        Some(known.event.clone())
    }

    /// All metrics that moved with the visit `first`, the most conspicuous one first.
    fn shifts(&self, first: u64) -> Vec<Moved> {
        let moved = self.series.iter().filter_map(|series| {
            let strength = series.strength_since(first);
            let moved = series.told(first)?;
            let shows = strength.abs() >= STRENGTH_TOGETHER
                && concerns(series, &moved, strength)
                && agrees(series, first, strength)
                && !comes_back(series, strength);
            shows.then_some(Moved { strength, ..moved })
        });
        let mut moved: Vec<Moved> = moved.collect();
        moved.sort_by(|a, b| b.strength.abs().total_cmp(&a.strength.abs()));
        moved
    }

    /// A trend of the days before that leads to a shift.
    fn trend_before(&self, moved: &Moved, first: u64) -> Option<Trend> {
        let series = self.series_of(moved.metric)?;
        if series.away().next().is_some() {
            return None;
        }
        let trend = trend(series, self.settled_since(series), first)?;
        let size = moved.scaled_size();
        let explains = trend.strength.abs() >= TREND_BEFORE_STEP
            && trend.total * size > 0.0
            && trend.total.abs() >= TREND_SHARE * size.abs();
        explains.then_some(trend)
    }

    /// Short excursions, too short to be levels, that come again and again.
    fn excursions(&mut self, now: UnixTime) -> Option<Event> {
        let (metric, first) = self.series.iter().find_map(|series| {
            let first = series.excursions(EXCURSION, NO_EXCURSION, EXCURSIONS_MIN)?;
            Some((series.metric, first))
        })?;
        if self.is_unsettled(metric) {
            return None;
        }
        let series = self.series_of(metric)?;
        let moved = series.told_excursions(first, EXCURSION)?;
        if !concerns(series, &moved, moved.size) {
            return None;
        }
        let mut event = self.open(EventKind::Flapping, self.time_of(first)?, now);
        event.causes = find(&self.evidence(first), &[moved]);
        event.shifts = vec![moved];
        let event = self.remember(event, first);
        let pushed = self.pushed;
        if let Some(known) = self.events.back_mut() {
            known.turn(first);
            known.turn(pushed);
            known.back = Some(pushed);
        }
        Some(event)
    }

    /// A trend over days that no step explains.
    fn drift(&mut self, now: UnixTime) -> Option<Event> {
        let (metric, trend) = self.series.iter().find_map(|series| {
            let last = series.points().back()?;
            let trend = trend(series, self.settled_since(series), last.visit + 1)?;
            let smallest = series.metric.smallest_shift(last.value);
            let shows = trend.strength.abs() >= TREND && trend.total.abs() >= DRIFT_MIN * smallest;
            shows.then_some((series.metric, trend))
        })?;
        if self.is_unsettled(metric) {
            return None;
        }
        let until = self.pushed + 1;
        let series = self.series_of(metric)?;
        if let Some(event) = series.away().last() {
            let known = self.known(event)?.first;
            let series = self.series_mut(metric)?;
            series.drift_away(event, trend.visit.max(known), until, trend.total);
            return self.retell(event);
        }
        let moved = series.told_slow(trend.visit)?;
        if !concerns(series, &moved, trend.total) {
            return None;
        }
        let moved = Moved {
            strength: trend.strength,
            ..moved
        };
        let mut event = self.open(EventKind::Drift, trend.since, now);
        event.causes = find(&self.evidence(self.pushed.saturating_sub(24)), &[moved]);
        event.shifts = vec![moved];
        let id = event.id;
        self.series_mut(metric)?
            .drift_away(id, trend.visit, until, trend.total);
        Some(self.remember(event, trend.visit))
    }

    /// The visit since which no event changed a metric.
    fn settled_since(&self, series: &Series) -> u64 {
        let concerned = self
            .events
            .iter()
            .filter(|known| known.has_metric(series.metric));
        let changed = concerned.map(|known| known.first.max(known.back.unwrap_or(0)));
        changed.max().unwrap_or(0)
    }

    pub(super) fn route(&mut self, visit: &Visit, number: u64, now: UnixTime) -> Option<Event> {
        match self.routes.push(visit, number) {
            RouteTurn::Nothing => None,
            RouteTurn::Ends { event, visit } => {
                let at = self.time_of(visit)?;
                let is_own = self.known(event)?.event.kind == EventKind::Route;
                is_own.then(|| self.end(event, at))?
            }
            RouteTurn::Begins(first) => {
                // The route of a change that metrics show is its cause.
                self.routes.event = self.beside(first);
                if self.routes.event.is_some() {
                    return None;
                }
                let mut event = self.open(EventKind::Route, self.time_of(first)?, now);
                event.causes = find(&self.evidence(first), &[]);
                self.routes.event = Some(event.id);
                Some(self.remember(event, first))
            }
        }
    }
}

fn needed(series: &Series) -> f64 {
    let needed = match series.is_seasoned() {
        true => STRENGTH,
        false => STRENGTH_UNSEASONED,
    };
    match series.metric {
        Metric::Goodput | Metric::RoundTripMin => needed,
        _ => needed * SIDE,
    }
}

/// Whether the visits go the way that was found without their season, too.
fn agrees(series: &Series, first: u64, direction: f64) -> bool {
    let shift = series.shift_since(first);
    shift.is_some_and(|shift| shift * direction > 0.0)
}

/// Whether the metric comes back in part from where another event has moved it.
fn comes_back(series: &Series, direction: f64) -> bool {
    let event = series.away().last();
    event.is_some_and(|event| series.shift_of(event) * direction < 0.0)
}

/// Whether what was measured is large enough to concern anybody, and goes the way that was found.
fn concerns(series: &Series, moved: &Moved, direction: f64) -> bool {
    let size = moved.scaled_size();
    let level = series.metric.scaled(moved.before);
    size * direction > 0.0 && size.abs() >= series.smallest_shift(level)
}
