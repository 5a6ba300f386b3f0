//! Which events one cause made.
//!
//! A visit that differs tells that something began between it and the one before. Events whose
//! spans have a moment in common may have begun together; they are one incident where one host,
//! a chain of outages or one cause explains all of them.

use changes::{Event, EventKind, UnixTime};
use units::Span;

use super::{earlier, is_outage, share_cause, share_host};
use crate::{Name, Pair, StoredEvent};

/// The time between visits where an event does not tell it, and the most that it says of one.
const USUAL_GAP: Span = Span::from_secs(1800);
const LONGEST_GAP: Span = Span::from_secs(86_400);
/// The first visit that differs may be one off, by so much at most; that of a drift by a day.
const SLACK: Span = Span::from_secs(2 * 3600);
const SLACK_OF_DRIFT: Span = Span::from_secs(86_400);

/// The events of each cause, in the order of the first of them.
///
/// * `events`: in the order of their first visits.
pub(super) fn groups(events: Vec<StoredEvent>) -> Vec<Vec<StoredEvent>> {
    let (mut growing, mut whole): (Vec<Group>, Vec<Group>) = Default::default();
    for stored in events {
        let at = stored.event.first_visit;
        whole.extend(growing.extract_if(.., |group| !group.may_grow(at)));
        let mut own = growing.extract_if(.., |group| group.fits(&stored));
        let (mut joined, others) = (own.next(), own.collect::<Vec<_>>());
        match &mut joined {
            Some(group) => group.add(stored),
            None => joined = Some(Group::of(stored)),
        }
        for other in others {
            growing.extend(joined.as_mut().and_then(|group| group.join(other)));
        }
        growing.extend(joined);
    }
    whole.append(&mut growing);
    whole.into_iter().map(|group| group.members).collect()
}

/// Events that are put together.
struct Group {
    members: Vec<StoredEvent>,
    /// The hosts that all of them have in common.
    hosts: Vec<Name>,
    /// When all of them may have begun, with first visits that may be one off.
    began: Between,
    /// The same as the visits say it; `None` where there is no such moment.
    seen: Option<Between>,
}

impl Group {
    fn of(stored: StoredEvent) -> Self {
        Group {
            hosts: hosts(&stored.pair).map(Name::clone).into(),
            began: Between::of(&stored.event).widened(slack(&stored.event)),
            seen: Some(Between::of(&stored.event)),
            members: vec![stored],
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
        let seen = self.seen.and_then(|seen| seen.common(own));
        let mut members = self.members.iter();
        hosts(&stored.pair)
            .into_iter()
            .any(|host| self.hosts.contains(host))
            || is_outage(stored) && self.is_chain_of_outages_to(&stored.pair)
            || seen.is_some() && members.any(|member| share_cause(member, stored))
    }

    /// What cuts a link takes pairs on both sides of it, without one host that all have.
    fn is_chain_of_outages_to(&self, pair: &Pair) -> bool {
        let mut members = self.members.iter();
        members.clone().all(is_outage) && members.any(|member| share_host(&member.pair, pair))
    }

    /// Takes the events of a group that an outage between both shows to be of the same chain; gives
    /// it back where it is not.
    fn join(&mut self, other: Group) -> Option<Group> {
        let is_outages = |group: &Group| group.members.iter().all(is_outage);
        match self.began.common(other.began) {
            Some(began) if is_outages(self) && is_outages(&other) => {
                self.began = began;
                self.seen = self
                    .seen
                    .zip(other.seen)
                    .and_then(|(one, two)| one.common(two));
                self.hosts.retain(|host| other.hosts.contains(host));
                self.members.extend(other.members);
                None
            }
            _ => Some(other),
        }
    }

    fn add(&mut self, stored: StoredEvent) {
        let own = Between::of(&stored.event);
        let began = self.began.common(own.widened(slack(&stored.event)));
        self.began = began.unwrap_or(self.began);
        self.seen = self.seen.and_then(|seen| seen.common(own));
        self.hosts
            .retain(|host| hosts(&stored.pair).contains(&host));
        self.members.push(stored);
    }
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
