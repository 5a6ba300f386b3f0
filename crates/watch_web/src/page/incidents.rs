//! Incidents as cards: what a host, a link or one cause did to many pairs is one card.

use changes::UnixTime;
use maud::{Markup, html};
use units::Span;
use watch_store::{Incident, Pair, SilentHost, Store, StoreError, StoredEvent};

use crate::{calendar, href, words};

/// Events that are not over are looked for as far back as a collector takes visits.
const OPEN_FOR: Span = Span::from_secs(400 * 86_400);
const EVENTS_READ: u32 = 4000;
/// Cards of open incidents that are shown at once.
const SHOWN: usize = 6;

/// Incidents with the pairs that are visited, from which it follows which hosts are silent.
pub struct Incidents {
    all: Vec<Incident>,
    visited: Vec<Pair>,
}

impl Incidents {
    /// The incidents of these events.
    pub fn of(store: &mut Store, events: Vec<StoredEvent>) -> Result<Self, StoreError> {
        let series = store.all_series()?;
        let mut visited: Vec<Pair> = series.into_iter().map(|one| one.pair).collect();
        visited.dedup();
        Ok(Incidents {
            all: watch_store::incidents(events),
            visited,
        })
    }

    /// Those that go on.
    pub fn open(store: &mut Store, now: UnixTime) -> Result<Self, StoreError> {
        let range = (crate::ask::earlier(now, OPEN_FOR), now + Span::from_secs(1));
        let events = store.events(range, EVENTS_READ)?;
        let mut found = Incidents::of(store, events)?;
        found.all.retain(Incident::is_open);
        Ok(found)
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
        let (pairs, ended) = (incident.pairs().len(), incident.ended());
        let severity = incident
            .severity()
            .map_or("better", |severity| severity.name());
        html! {
            li.event.worse[incident.severity().is_some()].over[ended.is_some()] {
                a href=(href::event(&worst.pair, &worst.task, worst.event.id)) {
                    b { (title(worst, &hosts)) }
                    span.where {
                        @if hosts.is_empty() {
                            (words::path(&worst.pair))
                            @if pairs > 1 {
                                " and " (report::text::count(pairs as u64 - 1, "more pair"))
                            }
                        } @else {
                            (report::text::count(pairs as u64, "pair"))
                        }
                    }
                }
                p {
                    span.tag { (severity) } " "
                    span.tag { (worst.task) } " "
                    (lasting(incident, now))
                }
                @let cause = words::cause(&worst.event);
                @if !cause.is_empty() { p.cause { bdi { (report::text::plain(&cause)) } } }
                @if incident.members().len() > 1 { (members(incident, now)) }
            }
        }
    }
}

/// `dan: nothing in or out`, or what hurts most.
fn title(worst: &StoredEvent, hosts: &[SilentHost]) -> String {
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

fn lasting(incident: &Incident, now: UnixTime) -> Markup {
    let since = incident.since();
    let machine = calendar::machine(since);
    html! {
        "since " time datetime=(machine) title=(calendar::minute(since)) {
            (calendar::near(since, now))
        }
        @match incident.ended() {
            Some(end) => { ", over after " (words::length(end.since(since))) }
            None => { ", for " (words::length(now.since(since))) }
        }
    }
}

fn members(incident: &Incident, now: UnixTime) -> Markup {
    html! {
        details.members {
            summary { (report::text::count(incident.members().len() as u64, "event")) }
            ul {
                @for member in incident.members() {
                    li {
                        a href=(href::event(&member.pair, &member.task, member.event.id)) {
                            (words::headline(&member.event))
                        }
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
}
