//! Incidents as cards: what a host, a link or one cause did to many pairs is one card.

use std::cmp::Reverse;

use changes::UnixTime;
use maud::{Markup, html};
use watch_store::{
    EventKey, Incident, Note, Pair, SilentHost, Store, StoreError, StoredEvent, acknowledgement,
};

use super::event;
use crate::problem::Problem;
use crate::{calendar, href, words};

/// Cards of open incidents that are shown at once.
const SHOWN: usize = 6;

/// Incidents with what was written to them, and the pairs that are visited, from which it follows
/// which hosts are silent.
pub struct Incidents {
    all: Vec<Incident>,
    notes: Vec<Note>,
    visited: Vec<Pair>,
}

impl Incidents {
    /// The incidents of these events.
    pub fn of(store: &mut Store, events: Vec<StoredEvent>) -> Result<Self, StoreError> {
        Incidents::with(store, watch_store::incidents(events))
    }

    /// Those that go on; of one severity those in front that are not acknowledged.
    pub fn open(store: &mut Store) -> Result<Self, StoreError> {
        let open = store.open_incidents()?;
        let mut found = Incidents::with(store, open)?;
        let notes = &found.notes;
        found.all.sort_by_cached_key(|one| {
            let is_acknowledged = acknowledgement(&one.notes(notes)).is_some();
            (Reverse(one.severity()), is_acknowledged)
        });
        Ok(found)
    }

    fn with(store: &mut Store, all: Vec<Incident>) -> Result<Self, StoreError> {
        let since = all.iter().map(Incident::since).min();
        let notes = since.map(|since| store.notes(since)).transpose()?;
        Ok(Incidents {
            notes: notes.unwrap_or_default(),
            all,
            visited: store.visited_pairs()?,
        })
    }

    /// The incident that an event is of.
    pub fn of_event(store: &mut Store, key: &EventKey) -> Result<Incident, Problem> {
        if let Some(incident) = store.incident_of(key)? {
            return Ok(incident);
        }
        event::find(store, key)?;
        let what = format!("the event {key} was withdrawn: later visits explain it");
        let hint = "see the list of incidents for others";
        Err(Problem::unknown(what, hint))
    }

    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// All of them as cards.
    pub fn cards(&self, now: UnixTime) -> Markup {
        self.list(&self.all, now)
    }

    /// The first as cards, the others behind a line that counts them.
    pub fn first_cards(&self, now: UnixTime) -> Markup {
        let (shown, rest) = self.all.split_at(self.all.len().min(SHOWN));
        let worse = rest.iter().filter(|one| one.severity().is_some()).count();
        html! {
            (self.list(shown, now))
            @if !rest.is_empty() {
                details {
                    summary { (rest.len()) " more, " (worse) " of them for the worse" }
                    (self.list(rest, now))
                }
            }
        }
    }

    fn list(&self, incidents: &[Incident], now: UnixTime) -> Markup {
        html! {
            ul.events { @for incident in incidents { (self.card(incident, now)) } }
        }
    }

    fn card(&self, incident: &Incident, now: UnixTime) -> Markup {
        let Some(worst) = incident.worst() else {
            return html! {};
        };
        let hosts = incident.silent_hosts(&self.visited);
        let is_worse = incident.severity().is_some();
        let place = incident.key().map(|key| href::incident(&key));
        html! {
            li.event.worse[is_worse].over[!incident.is_open()] {
                a href=[place] {
                    b { (title(worst, &hosts)) }
                    span.where {
                        @if hosts.is_empty() {
                            (words::path(&worst.pair)) (beside(incident))
                        } @else {
                            (draw::words::count(incident.pairs().len() as u64, "pair"))
                        }
                    }
                }
                p { (facts(incident, worst, &incident.notes(&self.notes), now)) }
                @let cause = words::cause(&worst.event);
                @if !cause.is_empty() { p.cause { bdi { (draw::words::plain(&cause)) } } }
                @if incident.members().len() > 1 {
                    details.members {
                        summary {
                            (draw::words::count(incident.members().len() as u64, "event"))
                        }
                        (members(incident, now))
                    }
                }
            }
        }
    }
}

/// `dan: nothing in or out`, or what hurts most.
pub fn title(worst: &StoredEvent, hosts: &[SilentHost]) -> String {
    let says = |host: &SilentHost| {
        let what = match (host.sends_nothing, host.is_not_reached) {
            (true, true) => "nothing in or out",
            (true, false) => "nothing out",
            _ => "nothing in",
        };
        format!("{}: {what}", host.name)
    };
    match hosts {
        [] => words::headline(&worst.event),
        hosts => hosts.iter().map(says).collect::<Vec<_>>().join(", "),
    }
}

/// How many pairs it concerns beside the one of its worst event.
pub fn beside(incident: &Incident) -> Markup {
    let others = incident.pairs().len() as u64 - 1;
    html! { @if others > 0 { " and " (draw::words::count(others, "more pair")) } }
}

/// Severity, task, since when, how long, and who has acknowledged it.
pub fn facts(incident: &Incident, worst: &StoredEvent, notes: &[&Note], now: UnixTime) -> Markup {
    let severity = incident.severity();
    let since = incident.since();
    html! {
        span.tag { (severity.map_or("better", |severity| severity.name())) } " "
        span.tag { (worst.task) } " "
        @if let Some(note) = acknowledgement(notes) {
            span.tag { "acknowledged by " bdi { (note.author) } } " "
        }
        "since "
        time datetime=(calendar::machine(since)) title=(calendar::minute(since)) {
            (calendar::near(since, now))
        }
        @match incident.ended() {
            Some(end) => { ", over after " (words::length(end.since(since))) }
            None => { ", for " (words::length(now.since(since))) }
        }
    }
}

/// Its events, the worst first.
pub fn members(incident: &Incident, now: UnixTime) -> Markup {
    html! {
        ul {
            @for member in incident.members() {
                li {
                    a href=(href::event(&member.key())) { (words::headline(&member.event)) }
                    " " (words::path(&member.pair)) ", " (member.task) ", "
                    (calendar::near(member.event.first_visit, now))
                    @if let Some(end) = member.event.recovered {
                        " to " (calendar::near(end, now))
                    }
                }
            }
        }
    }
}
