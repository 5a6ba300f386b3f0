//! The life of an event: opened, told better as more visits come, ended.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::{Detector, EVENTS_KEPT};
use crate::causes::find;
use crate::series::{Candidate, RECENT, Series};
use crate::{Cause, End, Event, EventKind, Metric, Moved, UnixTime};

/// Metrics whose first visits lie this close show the same event.
const TOGETHER: u64 = 3;
/// Visits after the first one at which size and causes are told anew.
const TOLD: [u64; 4] = [6, 12, 24, 48];
/// Of these those with enough visits to say that there is no change.
const SMALL: [u64; 2] = [24, 48];

/// An event with what is needed to go on with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Known {
    pub event: Event,
    /// Number of its first visit.
    pub first: u64,
    /// Causes that visits of other tasks showed.
    pub elsewhere: Vec<Cause>,
    /// The latest visit with which one of its metrics came back.
    pub back: Option<u64>,
    /// Of flapping: the visits of its latest turns.
    pub turned: VecDeque<u64>,
}

impl Known {
    pub fn is_flapping(&self) -> bool {
        self.event.kind == EventKind::Flapping && self.event.is_open()
    }

    pub fn has_metric(&self, metric: Metric) -> bool {
        self.event.shifts.iter().any(|one| one.metric == metric)
    }

    /// Whether it has a shift of a metric that is no change by itself.
    fn mentions(&self, series: &Series) -> bool {
        let mut own = self.event.shifts.iter();
        let own = own.any(|one| one.metric == series.metric && one.recovered.is_none());
        own && series.away().next().is_none()
    }

    fn is_shift(&self) -> bool {
        !matches!(self.event.kind, EventKind::NoData | EventKind::Route)
    }
}

impl Detector {
    pub(super) fn open(&mut self, kind: EventKind, first: UnixTime, now: UnixTime) -> Event {
        let id = self.next_id;
        self.next_id += 1;
        let mut earlier = self.visits.iter().rev().map(|pushed| pushed.visit.at);
        Event {
            id,
            revision: 0,
            kind,
            first_visit: first,
            previous_visit: earlier.find(|at| *at < first),
            confirmed: now.max(first),
            recovered: None,
            end: None,
            shifts: Vec::new(),
            causes: Vec::new(),
            failures: BTreeMap::new(),
        }
    }

    pub(super) fn remember(&mut self, event: Event, first: u64) -> Event {
        self.events.push_back(Known {
            event: event.clone(),
            first,
            elsewhere: Vec::new(),
            back: None,
            turned: VecDeque::new(),
        });
        event
    }

    pub(super) fn known(&self, id: u64) -> Option<&Known> {
        self.events.iter().find(|known| known.event.id == id)
    }

    /// Changes an event that is still known, and gives its next revision.
    pub(super) fn revise(&mut self, id: u64, change: impl FnOnce(&mut Known)) -> Option<Event> {
        let known = self.events.iter_mut().find(|known| known.event.id == id)?;
        change(known);
        known.event.revision += 1;
        Some(known.event.clone())
    }

    /// Ends an event with the first visit that does not differ.
    pub(super) fn end(&mut self, id: u64, at: UnixTime) -> Option<Event> {
        self.revise(id, |known| {
            known.event.recovered = Some(at.max(known.event.first_visit));
        })
    }

    fn end_without_return(&mut self, id: u64, at: UnixTime, end: End) -> Option<Event> {
        self.revise(id, |known| {
            known.event.recovered = Some(at.max(known.event.first_visit));
            known.event.end = Some(end);
        })
    }

    /// Nothing happened, as it turns out.
    pub(super) fn withdraw(&mut self, id: u64) -> Option<Event> {
        let since = self.known(id)?.event.first_visit;
        self.end_without_return(id, since, End::Withdrawn)
    }

    /// The open event of metrics that began with this visit or near it.
    pub(super) fn beside(&self, first: u64) -> Option<u64> {
        let mut events = self.events.iter().rev();
        let near = events.find(|known| {
            known.is_shift() && known.event.is_open() && known.first.abs_diff(first) <= TOGETHER
        });
        near.map(|known| known.event.id)
    }

    /// The same for a change of a metric that does not belong to it yet.
    pub(super) fn together(&self, first: u64, metric: Metric) -> Option<u64> {
        let event = self.beside(first)?;
        (!self.series_of(metric)?.has(event)).then_some(event)
    }

    /// Whether a change is the way back of a shift that an event mentions and that ended with it.
    pub(super) fn is_return(&self, metric: Metric, change: &Candidate) -> bool {
        self.events.iter().any(|known| {
            let mut shifts = known.event.shifts.iter();
            let away = shifts.find(|one| one.metric == metric);
            let soon =
                |back: u64| (back..back + RECENT as u64).contains(&(change.visit + TOGETHER));
            known.back.is_some_and(soon)
                && away
                    .is_some_and(|one| one.recovered.is_none() && one.size * change.strength < 0.0)
                && known.event.kind != EventKind::Flapping
        })
    }

    /// A metric moved with an open event.
    pub(super) fn join(&mut self, event: u64, moved: Moved, first: u64) -> Option<Event> {
        let mut series = self.series.iter_mut();
        let series = series.find(|one| one.metric == moved.metric)?;
        series.depart(event, first);
        let mut events = self.events.iter_mut();
        let known = events.find(|known| known.event.id == event)?;
        known.event.shifts.retain(|one| one.metric != moved.metric);
        known.event.shifts.push(moved);
        self.retell(event)
    }

    /// Whether some metric is away with an event.
    pub(super) fn is_away(&self, id: u64) -> bool {
        let mut series = self.series.iter();
        series.any(|one| one.away().any(|event| event == id))
    }

    /// Whether some metric belongs to an event that goes on.
    fn is_held(&self, id: u64) -> bool {
        self.series.iter().any(|one| one.has(id))
    }

    /// The size of an event and its causes, as the visits tell them now.
    pub(super) fn retell(&mut self, id: u64) -> Option<Event> {
        let known = self.known(id)?;
        let mut shifts: Vec<Moved> = known.event.shifts.clone();
        for series in &self.series {
            let told = match known.event.kind {
                _ if !series.has(id) && !known.mentions(series) => None,
                // Its latest level may be either of the two.
                EventKind::Flapping => None,
                EventKind::Drift => series.told_slow(known.first),
                _ if series.has(id) => series.told_of(id),
                _ => series.told(known.first),
            };
            let Some(told) = told else { continue };
            match shifts.iter_mut().find(|one| one.metric == told.metric) {
                Some(one) => {
                    *one = Moved {
                        strength: one.strength,
                        ..told
                    }
                }
                None => shifts.push(told),
            }
        }
        let own = find(&self.evidence(known.first), &shifts);
        self.revise(id, |known| {
            known.event.shifts = shifts;
            known.event.causes = own;
            known.rank_causes();
        })
    }

    /// Tells the events anew whose first visits are now a known number of visits ago.
    pub(super) fn retell_due(&mut self) -> Vec<Event> {
        let due = self.events.iter().filter(|known| {
            known.is_shift()
                && known.event.is_open()
                && TOLD.contains(&(self.pushed.saturating_sub(known.first)))
        });
        let due: Vec<u64> = due.map(|known| known.event.id).collect();
        due.into_iter().filter_map(|id| self.retell(id)).collect()
    }

    /// Ends what has lasted so long that nothing is known of the state before, and what is more
    /// than can be followed.
    pub(super) fn end_lasting(&mut self, now: UnixTime, days: f64) -> Vec<Event> {
        let old = self.series.iter().flat_map(|one| one.outlasting(days));
        let mut old: Vec<u64> = old.collect();
        old.sort_unstable();
        old.dedup();
        old.retain(|id| self.known(*id).is_none_or(|known| !known.is_flapping()));
        let mut ended: Vec<Event> = Vec::new();
        for id in old {
            ended.extend(self.adopt(id, now));
        }
        while self.events.len() > EVENTS_KEPT {
            let over = self.events.iter().position(|known| !known.event.is_open());
            if over.is_none() {
                let oldest = self.events.front().map(|known| known.event.id);
                ended.extend(oldest.and_then(|id| self.adopt(id, now)));
            }
            self.events.remove(over.unwrap_or(0));
        }
        ended
    }

    /// The state of an event is the usual one.
    fn adopt(&mut self, id: u64, now: UnixTime) -> Option<Event> {
        for series in &mut self.series {
            series.adopt(id);
        }
        if self.routes.event == Some(id) {
            let latest = self.visits.iter().rev();
            let mut latest = latest.filter_map(|one| one.visit.route.as_ref());
            if let Some(route) = latest.next() {
                self.routes.adopt(route, self.pushed);
            }
        }
        self.end_without_return(id, now, End::Usual)
    }

    /// Takes shifts back that the hours of the day explain.
    pub(super) fn take_back(&mut self, metrics: &[Metric]) -> Vec<Event> {
        let taken = self.series.iter_mut().flat_map(|series| {
            let events = match metrics.contains(&series.metric) {
                true => series.take_back(),
                false => Vec::new(),
            };
            let metric = series.metric;
            events.into_iter().map(move |event| (metric, event))
        });
        let taken: Vec<(Metric, u64)> = taken.collect();
        let mut events: Vec<u64> = taken.iter().map(|(_, event)| *event).collect();
        events.sort_unstable();
        events.dedup();
        let now = self.pushed - 1;
        for (metric, event) in taken {
            self.note_return(event, metric, now);
        }
        events
            .into_iter()
            .filter_map(|id| self.let_go(id))
            .collect()
    }

    /// A metric of an event turned out to be none: the event is withdrawn unless others hold it.
    fn let_go(&mut self, id: u64) -> Option<Event> {
        match self.is_held(id) {
            true => self.revise(id, |_| ()),
            false => self.withdraw(id),
        }
    }

    /// Ends what came back little by little.
    pub(super) fn fade(&mut self) -> Vec<Event> {
        let faded = self.series.iter().flat_map(|series| {
            let faded = series.faded().into_iter();
            faded.map(|(event, since)| (series.metric, event, since))
        });
        let faded: Vec<(Metric, u64, u64)> = faded.collect();
        let ends = faded.into_iter();
        ends.filter_map(|(metric, event, since)| self.come_back(metric, event, since))
            .collect()
    }

    /// Withdraws what is no change, now that more visits tell its size.
    pub(super) fn vanish(&mut self) -> Vec<Event> {
        let gone = self.series.iter().flat_map(|series| {
            let events = series.vanished().into_iter();
            events.map(|event| (series.metric, event))
        });
        let gone: Vec<(Metric, u64)> = gone.collect();
        let gone = gone.into_iter().filter_map(|(metric, event)| {
            let now = self.pushed - 1;
            if self.known(event)?.event.kind == EventKind::Drift {
                // It drifted back.
                return self.come_back(metric, event, now);
            }
            let series = self.series.iter_mut();
            let mut series = series.filter(|one| one.metric == metric);
            series.next()?.release(event, now);
            self.note_return(event, metric, now);
            self.let_go(event)
        });
        gone.collect()
    }

    /// Takes back what visits measure as none, a day or two after it began: the level that was
    /// found without the hours of the day is the usual one.
    pub(super) fn take_back_small(&mut self) -> Vec<Event> {
        let due = self.events.iter().filter(|known| {
            let visits = self.pushed.saturating_sub(known.first);
            known.event.kind == EventKind::Step && known.event.is_open() && SMALL.contains(&visits)
        });
        let of_events = due.flat_map(|known| {
            let id = known.event.id;
            let own = self.series.iter().filter(move |series| series.has(id));
            own.map(move |series| (series, id))
        });
        let small = of_events.filter(|(series, id)| {
            let told = series.told_of(*id);
            told.is_some_and(|told| told.is_small())
        });
        let small: Vec<(Metric, u64)> = small.map(|(one, id)| (one.metric, id)).collect();
        let (mut events, now): (Vec<u64>, u64) = (Vec::new(), self.pushed - 1);
        for (metric, id) in small {
            let series = self.series.iter_mut().find(|one| one.metric == metric);
            series.into_iter().for_each(|one| one.adopt(id));
            self.note_return(id, metric, now);
            events.push(id);
        }
        events.dedup();
        events
            .into_iter()
            .filter_map(|id| self.let_go(id))
            .collect()
    }

    /// A metric came back with the visit: the event is over once all of its metrics have.
    pub(super) fn come_back(&mut self, metric: Metric, id: u64, visit: u64) -> Option<Event> {
        let is_flapping = self.known(id).is_some_and(Known::is_flapping);
        let series = self.series.iter_mut().find(|one| one.metric == metric)?;
        match is_flapping {
            true => series.rest(id, visit),
            false => series.release(id, visit),
        }
        let known = self.events.iter_mut().find(|known| known.event.id == id)?;
        known.back = known.back.max(Some(visit));
        if is_flapping {
            known.turn(visit);
            return None;
        }
        let back = known.back?;
        self.note_return(id, metric, visit);
        match self.is_held(id) {
            true => self.revise(id, |_| ()),
            false => self.end(id, self.time_of(back)?),
        }
    }

    fn note_return(&mut self, id: u64, metric: Metric, visit: u64) {
        let at = self.time_of(visit);
        let mut events = self.events.iter_mut();
        let Some(known) = events.find(|known| known.event.id == id) else {
            return;
        };
        let mut shifts = known.event.shifts.iter_mut();
        if let Some(own) = shifts.find(|one| one.metric == metric) {
            own.recovered = at;
        }
    }

    pub(super) fn time_of(&self, number: u64) -> Option<UnixTime> {
        let kept = self.visits.front().is_some_and(|one| one.number <= number);
        if !kept {
            let old = self.series.iter().filter_map(|one| one.time_of(number));
            return old.min();
        }
        let found = self.visits.iter().find(|one| one.number >= number);
        found.or(self.visits.back()).map(|one| one.visit.at)
    }
}

impl Known {
    /// The causes of its own visits beside those of other tasks, the likeliest first.
    pub fn rank_causes(&mut self) {
        let causes = &mut self.event.causes;
        causes.retain(|own| self.elsewhere.iter().all(|one| one != own));
        let more = self.elsewhere.iter();
        let more = more.filter(|one| causes.iter().all(|own| own.kind != one.kind));
        let more: Vec<Cause> = more.cloned().collect();
        causes.extend(more);
        causes.sort_by(|a, b| b.score.total_cmp(&a.score));
    }
}
