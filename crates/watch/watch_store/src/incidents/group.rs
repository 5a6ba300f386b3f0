//! Which events one cause made.
//!
//! A visit that differs tells that something began between it and the one before. Events whose
//! spans have a moment in common may have begun together; they are one incident where one host,
//! a chain of outages or one cause explains all of them.

use std::collections::BTreeSet;

use changes::{CauseKind, Event, EventKind, UnixTime};
use units::Span;

use super::earlier;
use crate::{Name, Pair, StoredEvent};

/// The time between visits where an event does not tell it, and the most that it says of one.
const USUAL_GAP: Span = Span::from_secs(1800);
const LONGEST_GAP: Span = Span::from_secs(86_400);
/// The first visit that differs may be one off, by so much at most; that of a drift by a day.
const SLACK: Span = Span::from_secs(2 * 3600);
const SLACK_OF_DRIFT: Span = Span::from_secs(86_400);

/// The events of each cause, by their places.
///
/// * `events`: in the order of their first visits.
pub(super) fn groups(events: &[&StoredEvent]) -> Vec<Vec<usize>> {
    let (mut growing, mut whole): (Vec<Group>, Vec<Group>) = Default::default();
    for (place, stored) in events.iter().enumerate() {
        let at = stored.event.first_visit;
        whole.extend(growing.extract_if(.., |group| !group.may_grow(at)));
        let mut own = growing.extract_if(.., |group| group.fits(stored));
        let (joined, others) = (own.next(), own.collect::<Vec<_>>());
        let new = Group::of(place, stored);
        let mut joined = match joined {
            Some(mut group) => {
                group.add(new);
                group
            }
            None => new,
        };
        for other in others {
            growing.extend(joined.join(other));
        }
        growing.push(joined);
    }
    whole.append(&mut growing);
    whole.into_iter().map(|group| group.members).collect()
}

/// Events that are put together. A mesh that fails has thousands: what decides is kept beside them.
struct Group<'a> {
    members: Vec<usize>,
    /// The hosts that all of them have in common.
    hosts: Vec<&'a Name>,
    /// All their hosts.
    touched: BTreeSet<&'a Name>,
    /// Their causes that may concern pairs without a common host.
    causes: BTreeSet<CauseKind>,
    /// Whether all are without data.
    is_outage: bool,
    /// When all of them may have begun, with first visits that may be one off.
    began: Between,
    /// The same as the visits say it; `None` where there is no such moment.
    seen: Option<Between>,
}

impl<'a> Group<'a> {
    fn of(place: usize, stored: &'a StoredEvent) -> Self {
        let hosts = hosts(&stored.pair);
        Group {
            members: vec![place],
            hosts: hosts.into(),
            touched: hosts.into(),
            causes: cause(stored).into_iter().collect(),
            is_outage: stored.event.kind == EventKind::NoData,
            began: Between::of(&stored.event).widened(slack(&stored.event)),
            seen: Some(Between::of(&stored.event)),
        }
    }

    /// Whether an event that begins at `at` or later may belong to it.
    fn may_grow(&self, at: UnixTime) -> bool {
        self.began.to + LONGEST_GAP + SLACK_OF_DRIFT >= at
    }

    fn fits(&self, stored: &StoredEvent) -> bool {
        let own = Between::of(&stored.event);
        if self
            .began
            .common(own.widened(slack(&stored.event)))
            .is_none()
        {
            return false;
        }
        let ends = hosts(&stored.pair);
        let has_host = ends.iter().any(|host| self.hosts.contains(host));
        // What cuts a link takes pairs on both sides of it, without one host that all have.
        let is_outage = self.is_outage && stored.event.kind == EventKind::NoData;
        let is_chain = is_outage && ends.iter().any(|host| self.touched.contains(host));
        let seen = self.seen.and_then(|seen| seen.common(own));
        let has_cause = cause(stored).is_some_and(|kind| self.causes.contains(&kind));
        has_host || is_chain || (seen.is_some() && has_cause)
    }

    /// Takes the events of a group that an outage between both shows to be of the same chain; gives
    /// it back where it is not.
    fn join(&mut self, other: Self) -> Option<Self> {
        let is_chain = self.is_outage && other.is_outage;
        match self.began.common(other.began).filter(|_| is_chain) {
            Some(_) => {
                self.add(other);
                None
            }
            None => Some(other),
        }
    }

    fn add(&mut self, other: Self) {
        self.began = self.began.common(other.began).unwrap_or(self.began);
        let both = self.seen.zip(other.seen);
        self.seen = both.and_then(|(one, two)| one.common(two));
        self.hosts.retain(|host| other.hosts.contains(host));
        self.touched.extend(other.touched);
        self.causes.extend(other.causes);
        self.is_outage &= other.is_outage;
        self.members.extend(other.members);
    }
}

/// The likeliest cause, where one cause can concern pairs without a common host.
fn cause(stored: &StoredEvent) -> Option<CauseKind> {
    let first = stored.event.first_cause().map(|cause| cause.kind);
    first.filter(|kind| !matches!(kind, CauseKind::OwnProcessor | CauseKind::FarHost))
}

/// From one time to another, both with it.
#[derive(Clone, Copy)]
struct Between {
    from: UnixTime,
    to: UnixTime,
}

impl Between {
    /// When an event began, as its visits say it.
    fn of(event: &Event) -> Self {
        Between {
            from: earlier(event.first_visit, gap(event)),
            to: event.first_visit,
        }
    }

    fn widened(self, by: Span) -> Self {
        Between {
            from: earlier(self.from, by),
            to: self.to + by,
        }
    }

    fn common(self, other: Between) -> Option<Between> {
        let (from, to) = (self.from.max(other.from), self.to.min(other.to));
        (from <= to).then_some(Between { from, to })
    }
}

/// Between the visit before an event and its first one.
fn gap(event: &Event) -> Span {
    let previous = event.previous_visit;
    let previous = previous.filter(|previous| *previous < event.first_visit);
    let gap = previous.map_or(USUAL_GAP, |previous| event.first_visit.since(previous));
    gap.min(LONGEST_GAP)
}

fn slack(event: &Event) -> Span {
    match event.kind {
        EventKind::Drift => SLACK_OF_DRIFT,
        _ => gap(event).min(SLACK),
    }
}

fn hosts(pair: &Pair) -> [&Name; 2] {
    [&pair.from, &pair.to]
}
