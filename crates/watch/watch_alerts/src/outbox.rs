//! What waits to be sent.

use std::collections::BTreeMap;

use changes::UnixTime;
use serde::{Deserialize, Serialize};
use units::Span;

use crate::{Notification, Receiver, SendError, Situation};

/// The first pause after a failure; each is twice as long as the one before.
const PAUSE: Span = Span::from_secs(30);
const PAUSE_MAX: Span = Span::from_secs(3600);
/// So long a notification is tried.
const TRIED: Span = Span::from_secs(86_400);
/// As many as wait at most; the oldest give way.
const WAITING_MAX: usize = 1000;
/// As many as are remembered after they were given up.
const GIVEN_UP_MAX: usize = 100;
/// Alertmanager ends an alert that is not repeated; its clients repeat each minute.
const REPEAT: Span = Span::from_secs(60);

/// One message for one receiver.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// Who gets it.
    pub receiver: Receiver,
    /// What it is.
    pub message: Message,
}

/// What is sent.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// To a webhook or by mail.
    Notification(Box<Notification>),
    /// To Alertmanager: all that is open, and what ended lately.
    Firing(Vec<Firing>),
}

/// An incident as Alertmanager hears of it, each minute.
#[derive(Debug, Clone, PartialEq)]
pub struct Firing {
    /// How it began; its labels never change.
    pub first: Notification,
    /// Its end, once that was told.
    pub ended: Option<UnixTime>,
}

impl Firing {
    pub(crate) fn new(first: &Notification, ended: Option<UnixTime>) -> Self {
        Firing {
            first: first.clone(),
            ended,
        }
    }
}

/// A notification that was not sent at the first attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsent {
    /// Who should have got it.
    pub receiver: Receiver,
    /// Its headline.
    pub headline: String,
    /// How often it was tried.
    pub attempts: u32,
    /// What happened the last time.
    pub problem: String,
    /// Whether it is tried no more: after a day, or where more than 1000 wait.
    pub is_given_up: bool,
}

/// Notifications that wait for webhooks and mail, and when each Alertmanager was last told.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outbox {
    waiting: Vec<Waiting>,
    given_up: Vec<Unsent>,
    told: BTreeMap<usize, Told>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Waiting {
    receiver: Receiver,
    notification: Notification,
    queued: UnixTime,
    next: UnixTime,
    attempts: u32,
    problem: Option<String>,
}

/// The last attempt to tell an Alertmanager.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Told {
    at: UnixTime,
    attempts: u32,
    problem: Option<String>,
}

impl Outbox {
    /// Queues notifications for all webhooks and mails, and forgets those of receivers that are
    /// configured no more.
    pub(crate) fn push(&mut self, told: &[Notification], situation: &Situation) {
        let (now, receivers) = (situation.now, &situation.alerting.receivers);
        self.waiting
            .retain(|one| receivers.queued().contains(&one.receiver));
        for one in &mut self.waiting {
            // A clock that was set back delays nothing.
            one.next = one.next.min(now + PAUSE_MAX);
            one.queued = one.queued.min(now);
        }
        for notification in told {
            let queued = receivers.queued().into_iter().map(|receiver| Waiting {
                receiver,
                notification: notification.clone(),
                queued: now,
                next: now,
                attempts: 0,
                problem: None,
            });
            self.waiting.extend(queued);
        }
        while self.waiting.len() > WAITING_MAX {
            let oldest = self.waiting.remove(0);
            self.give_up(oldest);
        }
        if !told.is_empty() {
            self.told.clear();
        }
        let known = receivers.alertmanagers.len();
        self.told.retain(|index, _| *index < known);
        for told in self.told.values_mut() {
            told.at = told.at.min(now);
        }
    }

    pub(crate) fn due(&self, situation: &Situation, firing: &[Firing]) -> Vec<Delivery> {
        let now = situation.now;
        let waiting = self.waiting.iter().filter(|one| one.next <= now);
        let mut due: Vec<Delivery> = waiting.map(Waiting::delivery).collect();
        if firing.is_empty() {
            return due;
        }
        for index in 0..situation.alerting.receivers.alertmanagers.len() {
            if self.repeat_at(index).is_none_or(|at| at <= now) {
                due.push(Delivery {
                    receiver: Receiver::Alertmanager(index),
                    message: Message::Firing(firing.to_vec()),
                });
            }
        }
        due
    }

    fn repeat_at(&self, index: usize) -> Option<UnixTime> {
        self.told.get(&index).map(|told| told.at + REPEAT)
    }

    pub(crate) fn next_due(&self, situation: &Situation, firing: bool) -> Option<UnixTime> {
        let managers = 0..situation.alerting.receivers.alertmanagers.len();
        let repeated = managers.map(|index| self.repeat_at(index).unwrap_or(situation.now));
        let waiting = self.waiting.iter().map(|one| one.next);
        waiting.chain(repeated.filter(|_| firing)).min()
    }

    pub(crate) fn delivered(
        &mut self,
        delivery: &Delivery,
        result: &Result<(), SendError>,
        now: UnixTime,
    ) {
        let problem = result.as_ref().err().map(SendError::to_string);
        match (&delivery.message, delivery.receiver) {
            (Message::Firing(_), Receiver::Alertmanager(index)) => {
                let before = self.told.get(&index).map_or(0, |told| told.attempts);
                let attempts = if problem.is_some() { before + 1 } else { 0 };
                let told = Told {
                    at: now,
                    attempts,
                    problem,
                };
                self.told.insert(index, told);
            }
            (Message::Notification(sent), receiver) => {
                let is_it =
                    |one: &Waiting| one.receiver == receiver && one.notification.id == sent.id;
                if let Some(index) = self.waiting.iter().position(is_it) {
                    let one = self.waiting.remove(index);
                    self.again(one, problem, now);
                }
            }
            (Message::Firing(_), _) => {}
        }
    }

    /// Keeps one that failed, for a day.
    fn again(&mut self, mut one: Waiting, problem: Option<String>, now: UnixTime) {
        let Some(problem) = problem else { return };
        let pause = PAUSE.times(1 << one.attempts.min(20)).min(PAUSE_MAX);
        one.attempts += 1;
        one.next = now + pause;
        one.problem = Some(problem);
        match now.since(one.queued) > TRIED {
            true => self.give_up(one),
            false => self.waiting.push(one),
        }
    }

    fn give_up(&mut self, one: Waiting) {
        self.given_up.push(one.unsent(true));
        if self.given_up.len() > GIVEN_UP_MAX {
            self.given_up.remove(0);
        }
    }

    pub(crate) fn unsent(&self) -> Vec<Unsent> {
        let failed = self.waiting.iter().filter(|one| one.problem.is_some());
        let failed = failed.map(|one| one.unsent(false));
        let managers = self.told.iter().filter_map(|(index, told)| {
            Some(Unsent {
                receiver: Receiver::Alertmanager(*index),
                headline: "all that is open".to_owned(),
                attempts: told.attempts,
                problem: told.problem.clone()?,
                is_given_up: false,
            })
        });
        self.given_up
            .iter()
            .cloned()
            .chain(failed)
            .chain(managers)
            .collect()
    }
}

impl Waiting {
    fn delivery(&self) -> Delivery {
        Delivery {
            receiver: self.receiver,
            message: Message::Notification(Box::new(self.notification.clone())),
        }
    }

    fn unsent(&self, is_given_up: bool) -> Unsent {
        let problem = self.problem.clone();
        Unsent {
            receiver: self.receiver,
            headline: self.notification.headline.clone(),
            attempts: self.attempts,
            problem: problem.unwrap_or_else(|| "too many waited".to_owned()),
            is_given_up,
        }
    }
}

#[cfg(test)]
mod tests;
