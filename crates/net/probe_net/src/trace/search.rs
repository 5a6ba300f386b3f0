//! Which probe goes next: hops outward until the far end answers, then all of them again, round
//! after round.
//!
//! A function of the answers and of the time that is passed in. Outward, few probes are on their
//! way together, because each that overshoots the far end costs one of the answers that hosts
//! ration. Later rounds go to all hops at once, so that they see the same moment. Where a router
//! quotes too little to tell its answers apart, its hop is probed again while nothing else is on
//! the way.

mod hops;

use std::collections::{BTreeMap, VecDeque};

use observe::{HopAnswer, Trace, TracePlan};
use units::{Span, Time};

use super::rate_limit::RateLimit;
use crate::probe_flow::Said;
use hops::Hops;

/// Probes on their way together while the far end is still looked for.
const OUTWARD: usize = 3;
/// Between two probes, so that they do not queue behind each other: 60 bytes take half of it at 0.5
/// Mbit/s.
const SPACING: Span = Span::from_millis(2);
/// So many silent hops in a row raise the question whether the far end is there at all.
const SILENT_MAX: usize = 6;
/// How often that is asked before it is taken for a no: one or two may be lost.
const ASKED_MAX: usize = 3;
/// A hop is given up when it has not answered in so many times what one behind it took, and then
/// some: routers answer from a slow processor.
const TIMES_BEHIND: u64 = 5;
const SLOW_ROUTER: Span = Span::from_millis(100);

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Send one to this distance, and say [`Search::on_sent`].
    Send { hops: u8 },
    /// Nothing before this moment, unless an answer comes.
    Wait(Time),
    /// All has been asked.
    Over,
}

/// A probe that is to be sent.
#[derive(Debug, Clone, Copy)]
struct Planned {
    hops: u8,
    /// Which round it counts in; `None` of one that asks whether the far end is there.
    round: Option<u16>,
    /// Nothing else may be on the way.
    alone: bool,
}

/// A probe on its way.
#[derive(Debug, Clone, Copy)]
struct Sent {
    planned: Planned,
    at: Time,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Outward,
    /// Again to hops whose routers quote too little.
    Mending,
    Round(u16),
    /// Nothing more is sent.
    Draining,
}

/// A trace as far as it has come.
#[derive(Debug)]
pub(super) struct Search<'a> {
    rate_limit: &'a mut RateLimit,
    plan: TracePlan,
    at_once: usize,
    phase: Phase,
    queue: VecDeque<Planned>,
    /// Nothing is sent before.
    not_before: Time,
    /// Probes sent, which is the number of the next.
    count: u64,
    last: Option<Planned>,
    /// Without answer so far, and not older than the patience.
    open: BTreeMap<u64, Sent>,
    hops: Hops,
    asked: usize,
    quotes_are_short: bool,
}

impl<'a> Search<'a> {
    /// * `at_once`: how many probes may be on their way together.
    /// * `is_rate_limited`: whether the far end answers no faster than routers.
    pub(super) fn new(
        plan: TracePlan,
        at_once: usize,
        is_rate_limited: bool,
        rate_limit: &'a mut RateLimit,
        now: Time,
    ) -> Self {
        let answers = match is_rate_limited {
            // That of the hop itself, the question, and those that overshoot.
            true => 1 + OUTWARD as u64,
            false => 1,
        };
        let not_before = rate_limit.take(answers, now);
        Search {
            rate_limit,
            plan,
            at_once,
            phase: Phase::Outward,
            queue: VecDeque::from([asking(&plan)]),
            not_before,
            count: 0,
            last: None,
            open: BTreeMap::new(),
            hops: Hops::default(),
            asked: 1,
            quotes_are_short: false,
        }
    }

    /// What to do now.
    pub(super) fn next(&mut self, now: Time) -> Step {
        let patience = self.plan.patience;
        self.open.retain(|_, sent| now < sent.at + patience);
        loop {
            if self.phase == Phase::Outward && self.queue.is_empty() {
                self.plan_outward(now);
            }
            if let Some(step) = self.step(now) {
                return step;
            }
            match self.following() {
                Some(phase) => self.enter(phase, now),
                None => return Step::Over,
            }
        }
    }

    /// The probe of the last [`Step::Send`] has left; its number counts from zero.
    pub(super) fn on_sent(&mut self, at: Time) {
        if let Some(planned) = self.last.take() {
            self.hops.expect(planned.hops, planned.round);
            self.open.insert(self.count, Sent { planned, at });
            self.count += 1;
            self.not_before = self.not_before.max(at + SPACING);
        }
    }

    /// An answer came to probe `number`, or to an unknown one.
    pub(super) fn on_answer(&mut self, number: Option<u64>, said: Said, at: Time) {
        let number = number.or_else(|| self.only_one(at));
        let Some(sent) = number.and_then(|number| self.open.remove(&number)) else {
            self.quotes_are_short |= number.is_none();
            return;
        };
        let rtt = at.since(sent.at);
        let Planned { hops, round, .. } = sent.planned;
        match said {
            Said::Arrived(_) if round.is_none() => self.hops.far_answered(rtt),
            Said::Arrived(from) => self.hops.arrived(hops, round, HopAnswer { from, rtt }),
            Said::Barred(from) => self.hops.barred(hops, round, HopAnswer { from, rtt }),
            Said::Passing(from) => self.hops.passing(hops, round, HopAnswer { from, rtt }),
            Said::TooBig(_) => {}
        }
    }

    /// What was found.
    pub(super) fn trace(self) -> Trace {
        self.hops.trace(self.plan.protocol)
    }

    /// The probe that an answer without a number can only be for.
    fn only_one(&self, now: Time) -> Option<u64> {
        let alone = |(number, sent): (&u64, &Sent)| sent.planned.alone.then_some(*number);
        if let Some(number) = self.under_way(now).rev().find_map(alone) {
            return Some(number);
        }
        let mut numbers = self.open.keys();
        numbers.next().copied().filter(|_| numbers.next().is_none())
    }

    /// Probes whose answers the next ones may have to wait for.
    fn under_way(&self, now: Time) -> impl DoubleEndedIterator<Item = (&u64, &Sent)> {
        let end = self.hops.end().unwrap_or(u8::MAX);
        let waits = move |sent: &Sent| {
            // Those beyond the far end have nothing more to tell.
            sent.planned.hops <= end && now < sent.at + self.wait(sent.planned.hops)
        };
        self.open.iter().filter(move |(_, sent)| waits(sent))
    }

    /// How long one to this distance holds others up. Its answer counts later too, where the flow
    /// can tell.
    fn wait(&self, hops: u8) -> Span {
        let patience = self.plan.patience;
        match self.hops.longest_behind(hops) {
            _ if self.is_last_chance() && self.hops.has_answered(hops) => patience,
            Some(rtt) => patience.min(rtt.times(TIMES_BEHIND) + SLOW_ROUTER),
            None => patience,
        }
    }

    /// Whether an answer is lost to us with the next probe, or with the end.
    fn is_last_chance(&self) -> bool {
        self.at_once == 1 || self.phase == Phase::Draining
    }

    /// The next hop outward, or the question whether going on makes sense.
    fn plan_outward(&mut self, now: Time) {
        let next = self.hops.tried().saturating_add(1);
        let is_over = self.hops.end().is_some() || next > self.plan.hops_max || next == u8::MAX;
        let waiting = |hops| {
            self.under_way(now)
                .any(|(_, sent)| sent.planned.hops == hops)
        };
        let silent = self.hops.silent_at_end(waiting);
        match silent < SILENT_MAX || self.hops.far_is_there() {
            _ if is_over => {}
            true => self.queue.push_back(Planned {
                hops: next,
                round: Some(0),
                alone: false,
            }),
            false if self.asked < ASKED_MAX => {
                self.asked += 1;
                self.queue.push_back(asking(&self.plan));
            }
            // The last question may still be answered, and then the next call goes on.
            false => {}
        }
    }

    /// What this phase still wants; `None` when it is through.
    fn step(&mut self, now: Time) -> Option<Step> {
        let first_over = self
            .under_way(now)
            .map(|(_, sent)| sent.at + self.wait(sent.planned.hops));
        let first_over = first_over.min();
        let end = self.hops.end().unwrap_or(u8::MAX);
        self.queue.retain(|planned| planned.hops <= end);
        let Some(planned) = self.queue.front().copied() else {
            return first_over.map(Step::Wait);
        };
        let is_full = self.is_full(planned, now);
        let is_held = self.under_way(now).any(|(_, sent)| sent.planned.alone);
        match first_over {
            Some(over) if is_full || is_held => Some(Step::Wait(over)),
            _ if now < self.not_before => Some(Step::Wait(self.not_before)),
            _ => {
                self.last = self.queue.pop_front();
                Some(Step::Send { hops: planned.hops })
            }
        }
    }

    /// Whether `planned` has to wait for the answer to another.
    fn is_full(&self, planned: Planned, now: Time) -> bool {
        let all = self.under_way(now).count();
        let of_round = |(_, sent): &(&u64, &Sent)| sent.planned.round.is_some();
        match self.phase {
            _ if planned.alone || all >= self.at_once => all > 0,
            Phase::Outward => self.under_way(now).filter(of_round).count() >= OUTWARD,
            _ => false,
        }
    }

    fn following(&self) -> Option<Phase> {
        match self.phase {
            Phase::Outward => Some(Phase::Mending),
            Phase::Mending => Some(Phase::Round(1)),
            Phase::Round(round) if round < self.plan.rounds => Some(Phase::Round(round + 1)),
            Phase::Round(_) => Some(Phase::Draining),
            Phase::Draining => None,
        }
    }

    fn enter(&mut self, phase: Phase, now: Time) {
        self.phase = phase;
        match phase {
            Phase::Mending if self.quotes_are_short => self.plan_mending(now),
            Phase::Round(round) if round < self.plan.rounds => self.plan_round(round, now),
            _ => {}
        }
    }

    fn plan_mending(&mut self, now: Time) {
        for hops in self.hops.unanswered() {
            self.hops.probe_alone(hops);
            self.queue.push_back(Planned {
                hops,
                round: Some(0),
                alone: true,
            });
        }
        self.not_before = self.not_before.max(self.rate_limit.take(1, now));
    }

    fn plan_round(&mut self, round: u16, now: Time) {
        // Those behind the last that answered would only be silent again.
        for hops in 1..=self.hops.last_answered() {
            self.queue.push_back(Planned {
                hops,
                round: Some(round),
                alone: self.hops.is_alone(hops),
            });
        }
        if !self.queue.is_empty() {
            self.not_before = self.not_before.max(self.rate_limit.take(1, now));
        }
    }
}

/// A probe that is to arrive wherever the far end is.
fn asking(plan: &TracePlan) -> Planned {
    Planned {
        hops: plan.hops_max,
        round: None,
        alone: false,
    }
}

#[cfg(test)]
mod tests;
