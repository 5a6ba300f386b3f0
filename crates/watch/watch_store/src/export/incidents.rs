//! The rows of incidents, and which incident an event is of.

use std::collections::BTreeMap;

use changes::UnixTime;

use super::Selection;
use super::tables::{Cell, names, severity, shift};
use crate::{EventKey, Incident, Note, Pair, Store, StoreError, StoredEvent, acknowledgement};

/// All incidents, which events of any pair may be of.
#[derive(Default)]
pub(super) struct Incidents {
    all: Vec<Incident>,
    /// The name of the incident of each event.
    names: BTreeMap<EventKey, String>,
    notes: Vec<Note>,
    visited: Vec<Pair>,
}

impl Incidents {
    pub fn read(store: &mut Store) -> Result<Self, StoreError> {
        let always = (UnixTime::from_seconds(0), UnixTime::from_seconds(u64::MAX));
        let all = crate::incidents(store.events(always, u32::MAX)?);
        let named = all.iter().flat_map(|incident| {
            let name = incident.key().map(|key| key.to_string());
            let members = incident.members().iter();
            members.filter_map(move |one| Some((one.key(), name.clone()?)))
        });
        let names = named.collect();
        Ok(Incidents {
            names,
            all,
            notes: store.notes(UnixTime::from_seconds(0))?,
            visited: store.visited_pairs()?,
        })
    }

    /// The incident that an event is of; one that was withdrawn is of none.
    pub fn name(&self, stored: &StoredEvent) -> Option<&str> {
        self.names.get(&stored.key()).map(String::as_str)
    }

    /// The rows of those that began in the time of a selection and concern its pairs and tasks, in
    /// the order of time.
    pub fn rows(&self, selection: &Selection) -> Vec<Vec<Cell>> {
        let mut chosen: Vec<&Incident> = self
            .all
            .iter()
            .filter(|incident| {
                let since = incident.since();
                let mut members = incident.members().iter();
                selection.from <= since
                    && since < selection.to
                    && members.any(|one| selection.has(&one.pair, &one.task))
            })
            .collect();
        chosen.sort_by_key(|incident| (incident.since(), incident.key()));
        chosen.iter().filter_map(|one| self.row(one)).collect()
    }

    fn row(&self, incident: &Incident) -> Option<Vec<Cell>> {
        let (worst, key) = (incident.worst()?, incident.key()?);
        let event = &worst.event;
        let hosts = incident.silent_hosts(&self.visited);
        let hosts = names(hosts.iter().map(|host| host.name.as_str()));
        let mut row = vec![
            key.to_string().into(),
            severity(incident.severity()),
            incident.since().into(),
            incident.ended().into(),
            (incident.pairs().len() as u64).into(),
            (incident.members().len() as u64).into(),
            hosts,
            worst.pair.from.as_str().into(),
            worst.pair.to.as_str().into(),
            worst.task.as_str().into(),
            event.id.into(),
            event.kind.name().into(),
        ];
        row.extend(shift(event.worst()));
        let cause = event.first_cause();
        row.push(cause.map(|cause| cause.kind.name()).into());
        row.push(cause.map(|cause| cause.because.clone()).into());
        let notes = incident.notes(&self.notes);
        let acknowledged = acknowledgement(&notes);
        row.push(acknowledged.map(|note| note.at).into());
        row.push(acknowledged.map(|note| note.author.clone()).into());
        let words: Vec<String> = notes.iter().map(|note| written(note)).collect();
        row.push((!words.is_empty()).then(|| words.join("\n")).into());
        Some(row)
    }
}

/// `ada, acknowledged: the fibre is cut`.
fn written(note: &Note) -> String {
    let (author, kind) = (&note.author, note.kind.name());
    match note.words.is_empty() {
        true => format!("{author}, {kind}"),
        false => format!("{author}, {kind}: {}", note.words),
    }
}
