//! Events that one cause made, as one incident: what a host, a link or a provider did to many
//! pairs and tasks.
//!
//! Incidents are computed from events alone, so pages, metrics and a collector that was started
//! again have the same ones, and events that come late join those that they belong to. Reading
//! order: this file, `group.rs`, then `hosts.rs`.

mod group;
mod hosts;

pub use hosts::{SilentHost, silent_hosts};

use std::cmp::Reverse;
use std::collections::BTreeMap;

use changes::{EventKind, Severity, UnixTime};
use units::Span;

use crate::{EventKey, Name, Note, Pair, Store, StoreError, StoredEvent};

/// So long before and behind an event others of its incident are looked for: an event lasts four
/// weeks at most.
const BESIDE: Span = Span::from_secs(35 * 86_400);
/// Events of an open incident that are over began this long before those that are open, at most.
const BEFORE: Span = Span::from_secs(86_400);
/// Events that are read, at most.
const LIMIT: u32 = 4000;

/// Events that one cause made.
#[derive(Debug, Clone, PartialEq)]
pub struct Incident {
    members: Vec<StoredEvent>,
}

/// The incidents of some events: those that are open first, the severest of them first, then the
/// latest. Events that were withdrawn are of none.
pub fn incidents(events: Vec<StoredEvent>) -> Vec<Incident> {
    let mut events = events;
    events.retain(|stored| !stored.event.is_withdrawn());
    events.sort_by(|a, b| beginning(a).cmp(&beginning(b)));
    let groups = group::groups(&events.iter().collect::<Vec<_>>());
    let mut events: Vec<Option<StoredEvent>> = events.into_iter().map(Some).collect();
    let mut incidents: Vec<Incident> = Vec::new();
    for places in groups {
        let members = places.iter().filter_map(|place| events[*place].take());
        incidents.push(Incident {
            members: members.collect(),
        });
    }
    for incident in &mut incidents {
        incident
            .members
            .sort_by(|a, b| worse(b).total_cmp(&worse(a)));
    }
    incidents.sort_by_key(|one| {
        (
            Reverse(one.is_open()),
            Reverse(one.severity()),
            Reverse(one.since()),
        )
    });
    incidents
}

/// Whether these events are of one incident.
pub fn are_one<'a>(events: impl Iterator<Item = &'a StoredEvent>) -> bool {
    let mut events: Vec<&StoredEvent> = events.collect();
    events.sort_by(|a, b| beginning(a).cmp(&beginning(b)));
    group::groups(&events).len() <= 1
}

impl Store {
    /// The incidents that go on, in the order of [`incidents`].
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn open_incidents(&mut self) -> Result<Vec<Incident>, StoreError> {
        let first = self.open_events(LIMIT)?;
        let first = first.iter().map(|stored| stored.event.first_visit).min();
        let Some(first) = first else {
            return Ok(Vec::new());
        };
        let range = (earlier(first, BEFORE), UnixTime::from_seconds(u64::MAX));
        let mut all = self.incidents_within(range)?;
        all.retain(Incident::is_open);
        Ok(all)
    }

    /// The incident that an event is of; `None` where the event is not there or was withdrawn.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn incident_of(&mut self, key: &EventKey) -> Result<Option<Incident>, StoreError> {
        let Some(stored) = self.event(&key.pair, &key.task, key.id)? else {
            return Ok(None);
        };
        let first = stored.event.first_visit;
        let mut all = self
            .incidents_within((earlier(first, BESIDE), first + BESIDE))?
            .into_iter();
        Ok(all.find(|one| one.members().iter().any(|member| member.is(key))))
    }

    /// The incidents of the events that began in a time, and of those that go on.
    fn incidents_within(
        &mut self,
        range: (UnixTime, UnixTime),
    ) -> Result<Vec<Incident>, StoreError> {
        let all = self
            .open_events(LIMIT)?
            .into_iter()
            .chain(self.events(range, LIMIT)?);
        let by_key: BTreeMap<EventKey, StoredEvent> = all.map(|one| (one.key(), one)).collect();
        Ok(incidents(by_key.into_values().collect()))
    }
}

fn earlier(time: UnixTime, span: Span) -> UnixTime {
    let seconds = span.as_nanos() / 1_000_000_000;
    UnixTime::from_seconds(time.seconds().saturating_sub(seconds))
}

/// The order in which events began; the same for the same events.
fn beginning(stored: &StoredEvent) -> (UnixTime, &Pair, &Name, u64) {
    let StoredEvent { pair, task, event } = stored;
    (event.first_visit, pair, task, event.id)
}

/// How bad an event is among those of an incident: open ones before those that are over, then by
/// severity, then by the worst shift.
fn worse(stored: &StoredEvent) -> f64 {
    let event = &stored.event;
    let severity = event
        .severity(|_| false)
        .map_or(0.0, |one| 1.0 + one as u8 as f64);
    let weight = event.worst().map_or(f64::INFINITY, changes::Moved::weight);
    // A weight is below one for any finite shift.
    let weight = 1.0 - 1.0 / (1.0 + weight);
    f64::from(u8::from(event.is_open())) * 10.0 + severity + 0.9 * weight
}

impl Incident {
    /// Its events, the worst first.
    pub fn members(&self) -> &[StoredEvent] {
        &self.members
    }

    /// The event that is worst.
    pub fn worst(&self) -> Option<&StoredEvent> {
        self.members.first()
    }

    /// The event that began first: what names the incident, however it grows.
    pub fn first(&self) -> Option<&StoredEvent> {
        self.members
            .iter()
            .min_by(|a, b| beginning(a).cmp(&beginning(b)))
    }

    /// The first visit that showed it.
    pub fn since(&self) -> UnixTime {
        let first = self.members.iter().map(|one| one.event.first_visit);
        first.min().unwrap_or_default()
    }

    /// The first visit with which the last of its events was over; `None` while one goes on.
    pub fn ended(&self) -> Option<UnixTime> {
        let ends = self.members.iter().map(|one| one.event.recovered);
        ends.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// Whether one of its events goes on.
    pub fn is_open(&self) -> bool {
        self.ended().is_none()
    }

    /// The severity of the worst event, of those that go on while any does; `None` for
    /// improvements.
    pub fn severity(&self) -> Option<Severity> {
        let open = self.is_open();
        let own = self
            .members
            .iter()
            .filter(|one| one.event.is_open() || !open);
        own.filter_map(|one| one.event.severity(|_| false)).max()
    }

    /// The pairs of its events, each once.
    pub fn pairs(&self) -> Vec<&Pair> {
        let mut pairs: Vec<&Pair> = self.members.iter().map(|one| &one.pair).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// The hosts that explain its events without data, among the pairs that are visited.
    pub fn silent_hosts(&self, visited: &[Pair]) -> Vec<SilentHost> {
        let without_data = self.members.iter().filter(|one| is_outage(one));
        silent_hosts(without_data.map(|one| &one.pair), visited)
    }

    /// What names it: the event that began first. Pages find it by any of its events, since one
    /// that comes late may have begun earlier.
    pub fn key(&self) -> Option<EventKey> {
        self.first().map(StoredEvent::key)
    }

    /// The notes to its events, in their order.
    pub fn notes<'a>(&self, all: &'a [Note]) -> Vec<&'a Note> {
        let of_it = |note: &&Note| self.members.iter().any(|one| one.is(&note.event));
        all.iter().filter(of_it).collect()
    }
}

/// Whether visits have no result.
fn is_outage(stored: &StoredEvent) -> bool {
    stored.event.kind == EventKind::NoData
}

#[cfg(test)]
mod tests;
