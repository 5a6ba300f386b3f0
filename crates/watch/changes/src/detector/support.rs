//! Causes in the visits of other tasks of the same pair.

use super::{Detector, EventKind};
use crate::causes::{Evidence, elsewhere};
use crate::{Event, UnixTime, Visit};
use units::Span;

/// Visits of other tasks count from a week before a change to a day after its first visit.
const BEFORE: Span = Span::from_secs(7 * 86_400);
const AFTER: Span = Span::from_secs(86_400);

impl Detector {
    /// The latest visits, the oldest first.
    pub fn visits(&self) -> impl Iterator<Item = &Visit> {
        self.visits.iter().map(|one| &one.visit)
    }

    /// Whether an event began so shortly before `now` that visits of other tasks may explain it.
    pub fn may_be_supported(&self, now: UnixTime) -> bool {
        let events = self.events.iter().rev().map(|known| &known.event);
        events.take(4).any(|event| is_open_to(event, now))
    }

    /// Adds to the causes of the events of the last day what visits of other tasks of the pair
    /// show: another route, another far host, another round trip, loss. Gives the next revisions
    /// of the events that have more causes then. The same visits again change nothing.
    pub fn support(&mut self, others: &[&Visit], now: UnixTime) -> Vec<Event> {
        let open = self.events.iter().map(|known| &known.event);
        let open = open.filter(|event| is_open_to(event, now));
        let found = open.filter_map(|event| {
            let mut causes = elsewhere(&around(others, event.first_visit));
            causes.retain(|cause| event.causes.iter().all(|known| known.kind != cause.kind));
            (!causes.is_empty()).then_some((event.id, causes))
        });
        let found: Vec<_> = found.collect();
        let revised = found.into_iter().filter_map(|(id, causes)| {
            self.revise(id, |known| {
                known.elsewhere.extend(causes);
                known.rank_causes();
            })
        });
        revised.collect()
    }
}

fn is_open_to(event: &Event, now: UnixTime) -> bool {
    event.kind != EventKind::NoData && now.since(event.first_visit) <= AFTER
}

fn around<'a>(others: &[&'a Visit], first: UnixTime) -> Evidence<'a> {
    let from = first.seconds().saturating_sub(BEFORE.as_secs_f64() as u64);
    let until = first + AFTER;
    let mut sorted: Vec<&Visit> = others.to_vec();
    sorted.sort_by_key(|visit| visit.at);
    let near = |visit: &&&Visit| visit.at.seconds() >= from && visit.at <= until;
    let (before, after) = sorted
        .iter()
        .filter(near)
        .partition(|visit| visit.at < first);
    Evidence { before, after }
}
