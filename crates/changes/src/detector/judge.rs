//! Whether the latest visits are a change, and which.

use std::collections::VecDeque;

use super::Detector;
use super::sizes::{EXCURSION, concerns, excursion, join, moved, of_trend, scaled_size};
use crate::causes::find;
use crate::drift::{Trend, trend};
use crate::series::{Candidate, RECENT, Series};
use crate::{Event, EventKind, Metric, Moved, UnixTime};

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
const SIDE: f64 = 2.4;
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

impl Detector {
    pub(super) fn judge(&mut self, now: UnixTime) -> Vec<Event> {
        let mut events = Vec::new();
        events.extend(self.step(now));
        events.extend(self.excursions(now));
        if self.pushed >= self.looked_for_drift + DRIFT_EVERY {
            self.looked_for_drift = self.pushed;
            events.extend(self.drift(now));
        }
        events.extend(self.route(now));
        events.extend(self.settled_flapping(now));
        events
    }

    /// The most conspicuous change of level that is certain.
    fn step(&mut self, now: UnixTime) -> Option<Event> {
        let certain = self.series.iter().filter_map(|series| {
            let candidate = series.candidate()?;
            self.is_certain(series, &candidate).then_some(candidate)
        });
        let first = certain.max_by(|a, b| a.strength.abs().total_cmp(&b.strength.abs()))?;
        let first = first.visit;
        let shifts = self.shifts(first);
        let trend = self.trend_before(&shifts, first);
        let report = self.report(first, now, shifts, trend);
        for metric in report.1 {
            if let Some(series) = self.series.iter_mut().find(|one| one.metric == metric) {
                series.accept(first);
            }
        }
        report.0
    }

    fn is_certain(&self, series: &Series, candidate: &Candidate) -> bool {
        let strength = candidate.strength.abs();
        if strength < STRENGTH_WITNESSED {
            return false;
        }
        let needed = match series.is_seasoned() {
            true => STRENGTH,
            false => STRENGTH_UNSEASONED,
        };
        let needed = match series.metric {
            Metric::Goodput | Metric::RoundTripMin => needed,
            _ => needed * SIDE,
        };
        (strength >= needed || self.has_witness(candidate.visit))
            && moved(series, candidate.visit).is_some_and(|one| concerns(series, &one))
    }

    /// All metrics that moved with the visit `first`, the most conspicuous one first.
    fn shifts(&self, first: u64) -> Vec<Moved> {
        let moved = self.series.iter().filter_map(|series| {
            let strength = series.strength_since(first);
            let moved = moved(series, first)?;
            let shows = strength.abs() >= STRENGTH_TOGETHER && concerns(series, &moved);
            shows.then_some(Moved { strength, ..moved })
        });
        let mut moved: Vec<Moved> = moved.collect();
        moved.sort_by(|a, b| b.strength.abs().total_cmp(&a.strength.abs()));
        moved
    }

    /// A trend of the days before that leads to the first shift.
    fn trend_before(&self, shifts: &[Moved], first: u64) -> Option<Trend> {
        let moved = shifts.first()?;
        let series = self.series.iter().find(|one| one.metric == moved.metric)?;
        let trend = trend(series, 0, first)?;
        let size = scaled_size(moved);
        let explains = trend.strength.abs() >= TREND_BEFORE_STEP
            && trend.total * size > 0.0
            && trend.total.abs() >= TREND_SHARE * size.abs();
        explains.then_some(trend)
    }

    /// The event for these shifts, new or a revision, and the metrics that have a new level.
    fn report(
        &mut self,
        first: u64,
        now: UnixTime,
        shifts: Vec<Moved>,
        trend: Option<Trend>,
    ) -> (Option<Event>, Vec<Metric>) {
        let metrics: Vec<Metric> = shifts.iter().map(|moved| moved.metric).collect();
        if metrics.is_empty() {
            return (None, metrics);
        }
        let at = self.time_of(first).unwrap_or(now);
        let causes = find(&self.evidence(first), &shifts);
        if let Some(id) = self.together(first) {
            let event = self.revise(id, |event| {
                for moved in shifts {
                    event.shifts.retain(|one| one.metric != moved.metric);
                    event.shifts.push(moved);
                }
                if event.kind == EventKind::Route {
                    event.kind = EventKind::Step;
                }
                event.causes = causes;
            });
            return (event, metrics);
        }
        let unsettled = self.unsettled(&metrics);
        if let Some((id, turns)) =
            unsettled.filter(|(_, turns)| *turns >= 2 && self.is_no_larger(&shifts))
        {
            return (self.flaps(id, turns, self.leads_away(id, &shifts)), metrics);
        }
        if let Some(id) = self.undone(&shifts) {
            self.turn(id, false);
            return (self.revise(id, |event| event.recovered = Some(at)), metrics);
        }
        if let Some(id) = self.continued(&shifts) {
            return (self.revise(id, |event| join(event, &shifts)), metrics);
        }
        let (kind, since) = match trend {
            Some(trend) => (EventKind::Drift, trend.since),
            None => (EventKind::Step, at),
        };
        let mut event = self.open(kind, since, now);
        event.shifts = shifts;
        event.causes = causes;
        let event = self.remember(event, first);
        if unsettled.is_some() {
            self.turn(event.id, true);
        }
        (Some(event), metrics)
    }

    /// The third change of level within some days, and those after it: flapping, reported once.
    fn flaps(&mut self, id: u64, turns: u32, is_away: bool) -> Option<Event> {
        self.turn(id, is_away);
        let known = self.events.iter().find(|known| known.event.id == id);
        let is_told = known.is_some_and(|known| {
            known.event.kind == EventKind::Flapping && known.event.recovered.is_none()
        });
        match turns >= 2 && !is_told {
            true => self.revise(id, |event| {
                event.kind = EventKind::Flapping;
                event.recovered = None;
            }),
            false => None,
        }
    }

    pub(super) fn time_of(&self, number: u64) -> Option<UnixTime> {
        let found = self.visits.iter().find(|one| one.number == number);
        found.map(|one| one.visit.at)
    }

    /// Short excursions, too short to be levels, that come again and again.
    fn excursions(&mut self, now: UnixTime) -> Option<Event> {
        let (metric, first) = self.series.iter().find_map(|series| {
            let first = series.excursions(EXCURSION, NO_EXCURSION, EXCURSIONS_MIN)?;
            Some((series.metric, first))
        })?;
        if self.unsettled(&[metric]).is_some() {
            return None;
        }
        let series = self.series.iter().find(|one| one.metric == metric)?;
        let moved = excursion(series)?;
        if !concerns(series, &moved) {
            return None;
        }
        let at = self.time_of(first).unwrap_or(now);
        let mut event = self.open(EventKind::Flapping, at, now);
        event.causes = find(&self.evidence(first), &[moved]);
        event.shifts = vec![moved];
        let event = self.remember(event, first);
        let pushed = self.pushed;
        if let Some(known) = self.events.back_mut() {
            // Five turns at least lie in the latest visits; each comes back by itself.
            known.turned(pushed, false);
            known.turned = VecDeque::from([pushed.saturating_sub(RECENT as u64 / 4), pushed]);
        }
        Some(event)
    }

    /// A trend over days that no step explains.
    fn drift(&mut self, now: UnixTime) -> Option<Event> {
        let (trend, moved) = self.series.iter().find_map(|series| {
            let today = series.points().back()?.visit + 1;
            let from = self.settled_since(series);
            let trend = trend(series, from, today)?;
            let smallest = series.metric.smallest_shift(series.points().back()?.value);
            let shows = trend.strength.abs() >= TREND && trend.total.abs() >= DRIFT_MIN * smallest;
            shows.then(|| Some((trend, of_trend(series, &trend)?)))?
        })?;
        if self.unsettled(&[moved.metric]).is_some() {
            return None;
        }
        let mut event = self.open(EventKind::Drift, trend.since, now);
        event.causes = find(&self.evidence(self.pushed.saturating_sub(24)), &[moved]);
        event.shifts = vec![moved];
        Some(self.remember(event, trend.visit))
    }

    /// The visit since which no event concerned a metric.
    fn settled_since(&self, series: &Series) -> u64 {
        let concerned = self.events.iter().rev().find(|known| {
            known
                .event
                .shifts
                .iter()
                .any(|moved| moved.metric == series.metric)
        });
        concerned.map_or(0, |known| known.first)
    }

    fn route(&mut self, now: UnixTime) -> Option<Event> {
        let first = self.new_route()?;
        if self.together(first).is_some() {
            return None;
        }
        let causes = find(&self.evidence(first), &[]);
        let at = self.time_of(first).unwrap_or(now);
        let mut event = self.open(EventKind::Route, at, now);
        event.causes = causes;
        Some(self.remember(event, first))
    }
}
