//! Events that belong together.

use changes::UnixTime;
use serde::{Deserialize, Serialize};
use watch_store::{StoredEvent, are_one};

use crate::silence::heard;
use crate::{Notification, Severity, Silence, Situation};

/// Events that keep coming delay the first notification by as many hold times at most.
const HOLDS_MAX: u64 = 4;

/// Events that one cause made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Incident {
    pub members: Vec<Member>,
    pub stage: Stage,
}

/// How far an incident is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Stage {
    /// Not told, and perhaps never.
    Waiting,
    /// Told at this time.
    Told { at: UnixTime, first: Notification },
    /// Over since this time: its end was told, or it lasted so long that it is the usual state.
    Over { at: UnixTime, first: Notification },
}

/// An event and when what it says became known here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Member {
    pub stored: StoredEvent,
    /// When it became known that it is open, or that it is over.
    pub since: UnixTime,
}

impl Member {
    /// * `stored`: loses what no notification shows.
    pub fn new(stored: &StoredEvent, now: UnixTime) -> Self {
        let mut stored = stored.clone();
        stored.event.causes.truncate(1);
        for cause in &mut stored.event.causes {
            cause.visits.clear();
        }
        Member { stored, since: now }
    }

    pub fn is(&self, stored: &StoredEvent) -> bool {
        self.stored.is(&stored.key())
    }

    /// Takes a later revision.
    pub fn revise(&mut self, stored: &StoredEvent, now: UnixTime) {
        let turned = self.is_open() != stored.event.recovered.is_none();
        let since = if turned { now } else { self.since };
        *self = Member {
            since,
            ..Member::new(stored, now)
        };
    }

    pub fn is_open(&self) -> bool {
        self.stored.event.recovered.is_none()
    }

    /// Whether it is open and matters, silenced or not.
    pub fn matters(&self, least: Severity) -> bool {
        self.is_open() && self.stored.event.severity(|_| false) >= Some(least)
    }

    /// Whether it is open, matters and no silence holds.
    pub fn is_heard(&self, least: Severity, silences: &[Silence], now: UnixTime) -> bool {
        self.is_open() && heard(&self.stored, silences, now) >= Some(least)
    }

    /// Whether it would be told if it were not for a silence.
    pub fn is_silenced(&self, situation: &Situation) -> bool {
        let (rules, silences) = (&situation.alerting.rules, &situation.alerting.silences);
        self.matters(rules.severity) && !self.is_heard(rules.severity, silences, situation.now)
    }
}

impl Incident {
    pub fn of(member: Member) -> Self {
        Incident {
            members: vec![member],
            stage: Stage::Waiting,
        }
    }

    pub fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over { .. })
    }

    /// Whether further events belong here.
    pub fn concerns<'a>(&'a self, others: impl Iterator<Item = &'a StoredEvent>) -> bool {
        are_one(self.members.iter().map(|one| &one.stored).chain(others))
    }

    /// A clock that was ahead and is set back must not delay anything.
    pub fn clamp(&mut self, now: UnixTime) {
        for member in &mut self.members {
            member.since = member.since.min(now);
        }
        if let Stage::Told { at, .. } | Stage::Over { at, .. } = &mut self.stage {
            *at = (*at).min(now);
        }
    }

    /// When it is to be told, unless events come until then; `None` where nothing is to tell.
    ///
    /// Pairs show a change one after another, each with its next visit: the hold time begins again
    /// with each of them, so that one notification has them all.
    pub fn tell_at(&self, situation: &Situation) -> Option<UnixTime> {
        let rules = &situation.alerting.rules;
        let heard = self.members.iter().filter(|member| {
            member.is_heard(rules.severity, &situation.alerting.silences, situation.now)
        });
        let since = heard.map(|member| member.since);
        let (first, last) = (since.clone().min()?, since.max()?);
        Some((last + rules.hold).min(first + rules.hold.times(HOLDS_MAX)))
    }

    /// Whether it waits for the end of a silence alone.
    pub fn is_silenced(&self, situation: &Situation) -> bool {
        let is_silenced = |member: &Member| member.is_silenced(situation);
        self.stage == Stage::Waiting
            && self.members.iter().any(is_silenced)
            && self.tell_at(situation).is_none()
    }

    /// Takes the events out that a silence holds, as an incident of their own; `None` for none.
    pub fn split_silenced(&mut self, situation: &Situation) -> Option<Incident> {
        let is_silenced = |member: &mut Member| member.is_silenced(situation);
        let members: Vec<Member> = self.members.extract_if(.., is_silenced).collect();
        (!members.is_empty()).then_some(Incident {
            members,
            stage: Stage::Waiting,
        })
    }

    /// When its end is to be told; `None` while an event that matters is open.
    pub fn end_at(&self, situation: &Situation) -> Option<UnixTime> {
        let rules = &situation.alerting.rules;
        if self.members.iter().any(|one| one.matters(rules.severity)) {
            return None;
        }
        let last = self.members.iter().map(|member| member.since).max()?;
        Some(last + rules.hold)
    }
}
