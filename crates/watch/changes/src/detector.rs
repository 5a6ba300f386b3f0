//! Visits in, events out.

mod evidence;
mod flapping;
mod judge;
mod life;
mod routes;
mod support;

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use units::Span;

use crate::outage::{Outage, Turn};
use crate::series::Series;
use crate::{Event, EventKind, Forecast, Metric, UnixTime, Visit, VisitKind};
use life::Known;
use routes::Routes;

/// Visits that are kept for causes: two days of half-hourly ones.
const VISITS_KEPT: usize = 97;
/// Events that are followed until they end.
const EVENTS_KEPT: usize = 32;
/// Without a visit for this many of the usual gaps, visits have stopped.
const SILENCE: f64 = 4.0;

/// Looks for changes of one path in one direction.
///
/// Feed it every visit in order with [`Detector::push`]. Visits may measure different things; each
/// metric has its own series. Memory is counted in visits: 1344 values of each metric are kept,
/// four weeks of half-hourly visits or 22 hours of one a minute. Seasons need four days of them
/// and forecasts 23 hours, so visits a minute apart get neither. Its state is a value that
/// can be stored; the same visits in the same order always give the same events.
///
/// ```
/// use changes::{Detector, Metric, UnixTime, Visit, VisitKind};
/// use units::Rate;
///
/// let mut detector = Detector::new();
/// let mut events = Vec::new();
/// for number in 0..200_u64 {
///     let noise = (number * 7919 % 13) * 100_000;
///     let rate = if number < 150 { 94_000_000 } else { 75_000_000 };
///     let at = UnixTime::from_seconds(1_795_543_200 + number * 1800);
///     let mut visit = Visit::new(at, VisitKind::Throughput);
///     visit.goodput = Some(Rate::from_bits_per_second(rate + noise));
///     events.extend(detector.push(&visit));
/// }
/// // A fifth less from visit 150 on, certain with the third visit that showed it; later revisions
/// // tell its size from more visits.
/// assert!(events.iter().all(|event| event.id == events[0].id));
/// assert_eq!(events[0].metric(), Some(Metric::Goodput));
/// assert_eq!(events[0].confirmed.since(events[0].first_visit).as_secs_f64(), 3600.0);
/// assert!((events[0].shifts[0].size + 0.2).abs() < 0.01);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Detector {
    series: Vec<Series>,
    visits: VecDeque<Numbered>,
    pushed: u64,
    outages: BTreeMap<VisitKind, Outage>,
    silent: Option<u64>,
    events: VecDeque<Known>,
    routes: Routes,
    next_id: u64,
    looked_for_drift: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Numbered {
    number: u64,
    visit: Visit,
}

impl Default for Detector {
    fn default() -> Self {
        Detector::new()
    }
}

impl Detector {
    /// Knows nothing yet.
    pub fn new() -> Self {
        Detector {
            series: Metric::ALL.into_iter().map(Series::new).collect(),
            visits: VecDeque::new(),
            pushed: 0,
            outages: BTreeMap::new(),
            silent: None,
            events: VecDeque::new(),
            routes: Routes::default(),
            next_id: 0,
            looked_for_drift: 0,
        }
    }

    /// Takes a visit; gives the events that it makes certain and the revisions of earlier ones.
    ///
    /// Visits count in the order in which they come, whatever their clock says. A visit with the
    /// time and kind of the latest one is that one again and is left out.
    pub fn push(&mut self, visit: &Visit) -> Vec<Event> {
        if self.is_repeated(visit) {
            return Vec::new();
        }
        let number = self.pushed;
        self.pushed += 1;
        let mut events = Vec::from_iter(self.end_silence(visit.at));
        events.extend(self.count_failures(visit, number));
        self.visits.push_back(Numbered {
            number,
            visit: visit.clone(),
        });
        if self.visits.len() > VISITS_KEPT {
            self.visits.pop_front();
        }
        let learned = self.series.iter_mut().filter_map(|series| {
            let value = series.metric.of(visit)?;
            series
                .push(visit.at, number, value)
                .then_some(series.metric)
        });
        let learned: Vec<Metric> = learned.collect();
        events.extend(self.take_back(&learned));
        events.extend(self.judge(visit.at));
        events.extend(self.route(visit, number, visit.at));
        events
    }

    fn is_repeated(&self, visit: &Visit) -> bool {
        self.visits
            .back()
            .is_some_and(|last| (last.visit.at, last.visit.kind) == (visit.at, visit.kind))
    }

    /// Whether visits have stopped by `now`: none for four of the usual gaps between them.
    ///
    /// Reported once; the next visit ends it. Where that one was made in time and came late, no
    /// visit was missing: the event is withdrawn.
    pub fn check(&mut self, now: UnixTime) -> Option<Event> {
        let last = self.visits.back()?.visit.at;
        let silent = now.since(last) > self.longest_gap()?;
        if !silent || self.silent.is_some() {
            return None;
        }
        let mut event = self.open(EventKind::NoData, last, now);
        event.failures.insert("no visit was made".to_owned(), 1);
        self.silent = Some(event.id);
        Some(self.remember(event, self.pushed))
    }

    /// From one visit to the next, without silence.
    fn longest_gap(&self) -> Option<Span> {
        let times: Vec<UnixTime> = self.visits.iter().map(|one| one.visit.at).collect();
        let gaps = times
            .windows(2)
            .map(|pair| pair[1].since(pair[0]).as_secs_f64());
        let gaps: Vec<f64> = gaps.collect();
        stats::median(&gaps).map(|usual| Span::from_secs_f64(SILENCE * usual))
    }

    fn end_silence(&mut self, at: UnixTime) -> Option<Event> {
        let id = self.silent.take()?;
        let last = self.visits.back()?.visit.at;
        match at.since(last) > self.longest_gap()? {
            true => self.end(id, at),
            false => self.withdraw(id),
        }
    }

    fn count_failures(&mut self, visit: &Visit, number: u64) -> Option<Event> {
        let outage = self.outages.entry(visit.kind).or_default();
        match outage.push(visit) {
            Turn::Nothing => None,
            Turn::Ends(id) => self.end(id, visit.at),
            Turn::Begins(since) => {
                let failures = outage.reasons.clone();
                let mut event = self.open(EventKind::NoData, since, visit.at);
                event.failures = failures;
                if let Some(outage) = self.outages.get_mut(&visit.kind) {
                    outage.event = Some(event.id);
                }
                Some(self.remember(event, number))
            }
        }
    }

    /// What goodput the next hours will bring; `None` before there are 48 values
    /// over 23 hours.
    pub fn forecast(&self) -> Option<Forecast> {
        let goodput = self
            .series
            .iter()
            .find(|series| series.metric == Metric::Goodput);
        goodput.and_then(Forecast::of)
    }
}

impl Forecast {
    /// From the goodput of visits, in order; `None` without 48 values over 23 hours.
    ///
    /// ```
    /// use changes::{Forecast, UnixTime, Visit, VisitKind};
    /// use units::{Bytes, Rate};
    /// let visits: Vec<Visit> = (0..96_u64)
    ///     .map(|number| {
    ///         let at = UnixTime::from_seconds(1_795_543_200 + number * 1800);
    ///         let mut visit = Visit::new(at, VisitKind::Throughput);
    ///         visit.goodput = Some(Rate::from_bits_per_second(80_000_000));
    ///         visit
    ///     })
    ///     .collect();
    /// let forecast = Forecast::from_visits(&visits).unwrap();
    /// // 36 GB are 288 Gbit: an hour at 80 Mbit/s.
    /// let start = visits[95].at;
    /// let finish = forecast.finish(Bytes::new(36_000_000_000), start).unwrap();
    /// assert_eq!(finish.median.since(start).as_secs_f64(), 3600.0);
    /// ```
    pub fn from_visits(visits: &[Visit]) -> Option<Self> {
        let mut detector = Detector::new();
        for visit in visits {
            detector.push(visit);
        }
        detector.forecast()
    }
}

#[cfg(test)]
mod tests;
