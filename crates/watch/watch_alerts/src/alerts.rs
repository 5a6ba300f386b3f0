//! From events to notifications.

use std::collections::BTreeMap;

use changes::UnixTime;
use serde::{Deserialize, Serialize};
use units::Span;
use watch_store::StoredEvent;

use crate::incident::{Incident, Member, Stage};
use crate::outbox::{Delivery, Firing, Outbox, Unsent};
use crate::report::Report;
use crate::{Notification, SendError, Severity, Silence, Situation};

/// As long as an event can be told after it was certain. What lasts longer is the usual state: the
/// best of a pair is that of 30 days, too.
const MEMORY: Span = Span::from_secs(30 * 86_400);
/// Most silences that pages have added and that hold.
pub const SILENCES_MAX: usize = 1000;
/// So long the end of an incident is repeated to Alertmanager, as Prometheus does.
const ENDED: Span = Span::from_secs(15 * 60);

/// All incidents of the last 30 days and what waits to be sent. Stored as JSON, it goes on after a
/// restart as if nothing had happened.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Alerts {
    incidents: BTreeMap<u64, Incident>,
    next: u64,
    outbox: Outbox,
    /// Silences beside those of the file.
    #[serde(default)]
    silences: Vec<Silence>,
}

impl Alerts {
    /// Adds a silence beside those of the file; those that are over are forgotten.
    /// Whether there was room: at most [`SILENCES_MAX`] hold at a time.
    pub fn silence(&mut self, silence: Silence, now: UnixTime) -> bool {
        self.silences.retain(|one| one.until > now);
        let has_room = self.silences.len() < SILENCES_MAX;
        if has_room {
            self.silences.push(silence);
        }
        has_room
    }

    /// Ends a silence that was added; whether there was one.
    pub fn end_silence(&mut self, silence: &Silence) -> bool {
        let before = self.silences.len();
        self.silences.retain(|one| one != silence);
        self.silences.len() < before
    }

    /// The silences that were added. They hold where [`Situation::alerting`] has them.
    pub fn silences(&self) -> &[Silence] {
        &self.silences
    }

    /// Takes an event or a revision of one, in any order; repeats change nothing.
    pub fn insert(&mut self, stored: &StoredEvent, situation: &Situation) {
        let now = situation.now;
        let is_late = now.since(stored.event.confirmed) > MEMORY;
        let known = self.incidents.values_mut().find_map(|incident| {
            let index = incident.members.iter().position(|one| one.is(stored))?;
            Some((incident, index))
        });
        if let Some((incident, index)) = known {
            if incident.members[index].stored.event.revision >= stored.event.revision {
                return;
            }
            if !incident.is_over() || stored.event.recovered.is_some() {
                incident.members[index].revise(stored, now);
                return;
            }
            // Its end was told, and it is there again.
            incident.members.remove(index);
        } else if is_late {
            return;
        }
        self.place(Member::new(stored, now), situation);
    }

    /// Puts an event to the incident that it belongs to. It may show that two are one: then those
    /// that were not told become part of the first.
    fn place(&mut self, member: Member, situation: &Situation) {
        let own = || [&member.stored].into_iter();
        let concerned = self.incidents.iter();
        let concerned = concerned.filter(|(_, one)| !one.is_over() && one.concerns(own()));
        // What is silenced stays apart from what is not, so that its own time comes.
        let is_silenced = member.is_silenced(situation);
        let concerned = concerned.filter(|(_, one)| one.is_silenced(situation) == is_silenced);
        let mut concerned: Vec<(bool, u64)> = concerned
            .map(|(number, incident)| (incident.stage == Stage::Waiting, *number))
            .collect();
        concerned.sort_unstable();
        let Some((_, target)) = concerned.first().copied() else {
            self.incidents.insert(self.next, Incident::of(member));
            self.next += 1;
            return;
        };
        if let Some(incident) = self.incidents.get_mut(&target) {
            incident.members.push(member);
        }
        let waiting = concerned[1..].iter().filter(|(waiting, _)| *waiting);
        for (_, number) in waiting {
            self.merge(target, *number);
        }
    }

    /// Makes two incidents one, where all their events are.
    fn merge(&mut self, target: u64, other: u64) {
        let Some(from) = self.incidents.get(&other) else {
            return;
        };
        let events = || from.members.iter().map(|one| &one.stored);
        let are_one = self
            .incidents
            .get(&target)
            .is_some_and(|one| one.concerns(events()));
        let from = are_one.then(|| self.incidents.remove(&other)).flatten();
        if let (Some(from), Some(target)) = (from, self.incidents.get_mut(&target)) {
            target.members.extend(from.members);
        }
    }

    /// Decides what is told now. The notifications are queued for all receivers; they are returned
    /// for logs and pages.
    pub fn advance(&mut self, situation: &Situation) -> Vec<Notification> {
        let (mut told, mut silenced) = (Vec::new(), Vec::new());
        for (number, incident) in &mut self.incidents {
            incident.clamp(situation.now);
            if let Some(notification) = advance(*number, incident, situation) {
                silenced.extend(incident.split_silenced(situation));
                told.push(notification);
            }
        }
        for incident in silenced {
            self.incidents.insert(self.next, incident);
            self.next += 1;
        }
        let rules = &situation.alerting.rules;
        self.incidents
            .retain(|_, incident| is_kept(incident, rules.severity, situation.now));
        self.outbox.push(&told, situation);
        told
    }

    /// When [`Alerts::advance`] has something to tell next, or [`Alerts::due`] to send, if no event
    /// comes before; `None` for never.
    pub fn next_due(&self, situation: &Situation) -> Option<UnixTime> {
        let stages = self.incidents.values().filter_map(|one| match one.stage {
            Stage::Waiting => one.tell_at(situation),
            Stage::Told { .. } => one.end_at(situation),
            Stage::Over { .. } => None,
        });
        let now = situation.now;
        let silences = situation.alerting.silences.iter().map(|one| one.until);
        let silences = silences.filter(|until| *until > now);
        let firing = !self.firing(now).is_empty();
        let sent = self.outbox.next_due(situation, firing);
        stages.chain(silences).chain(sent).min()
    }

    /// What is to be sent now.
    pub fn due(&self, situation: &Situation) -> Vec<Delivery> {
        self.outbox.due(situation, &self.firing(situation.now))
    }

    /// Notes what became of a delivery; one that failed is tried again later.
    pub fn delivered(
        &mut self,
        delivery: &Delivery,
        result: &Result<(), SendError>,
        now: UnixTime,
    ) {
        self.outbox.delivered(delivery, result, now);
    }

    /// What waits to be sent, and why it was not.
    pub fn unsent(&self) -> Vec<Unsent> {
        self.outbox.unsent()
    }

    /// The incidents that were told and are not over, the latest first.
    pub fn open(&self) -> Vec<&Notification> {
        let told = self.incidents.values().rev();
        told.filter_map(|incident| match &incident.stage {
            Stage::Told { first, .. } => Some(first),
            _ => None,
        })
        .collect()
    }

    /// What Alertmanager has to hear.
    fn firing(&self, now: UnixTime) -> Vec<Firing> {
        let incidents = self.incidents.values();
        incidents
            .filter_map(|incident| match &incident.stage {
                Stage::Told { first, .. } => Some(Firing::new(first, None)),
                Stage::Over { at, first } if now.since(*at) < ENDED => {
                    Some(Firing::new(first, Some(*at)))
                }
                _ => None,
            })
            .collect()
    }
}

/// Moves an incident on; gives what is told.
fn advance(number: u64, incident: &mut Incident, situation: &Situation) -> Option<Notification> {
    let now = situation.now;
    let is_due = |at: Option<UnixTime>| at.is_some_and(|at| at <= now);
    match &incident.stage {
        Stage::Waiting if is_due(incident.tell_at(situation)) => {
            let told = Report::begins(number, incident, situation)?;
            incident.stage = Stage::Told {
                at: now,
                first: told.clone(),
            };
            Some(told)
        }
        Stage::Told { first, .. } if is_due(incident.end_at(situation)) => {
            let told = Report::ends(first, incident);
            incident.stage = Stage::Over {
                at: now,
                first: first.clone(),
            };
            Some(told)
        }
        Stage::Told { at, first } if now.since(*at) > MEMORY => {
            incident.stage = Stage::Over {
                at: now,
                first: first.clone(),
            };
            None
        }
        _ => None,
    }
}

/// Forgets what is over for as long as its events could come again.
fn is_kept(incident: &Incident, least: Severity, now: UnixTime) -> bool {
    let mut events = incident.members.iter().map(|one| &one.stored.event);
    let is_recent = events.any(|event| now.since(event.confirmed) <= MEMORY);
    match incident.stage {
        Stage::Waiting => is_recent || incident.members.iter().any(|one| one.matters(least)),
        Stage::Told { .. } => true,
        Stage::Over { at, .. } => is_recent || now.since(at) <= ENDED,
    }
}

#[cfg(test)]
mod tests;
