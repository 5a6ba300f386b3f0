//! The rate of a copy that gives way to everybody: LEDBAT++ for a program that cannot change its kernel.
//!
//! [`Scavenger::on_reading`] is told every [`PERIOD`] what the kernel says of the copy's streams, and answers with the rate
//! that they may have together. The program shares it out ([`shares`]) as pacing rates (`SO_MAX_PACING_RATE`), which work for everybody
//! and at once; the streams' own congestion control stays what it was.
//!
//! A copy that is alone on the path sends a twentieth less than it carries, tries for more every few seconds, and otherwise has no
//! queue. As soon as packets wait longer than the target while it tries, it waits until its own queue is empty, and goes on a twentieth below what it carried.
//! A queue that comes at another time, or stays, is somebody else's, and each round trip then costs as much of the rate as it is too long, up to half. When nobody is felt any more, the rate
//! grows by steps, ever larger ones, to where it was before. Every now and then it is lowered for two round trips, so that the queue
//! empties and copies of this kind that came later see the path's true round trip.
//!
//! The target is a quarter of the user's budget, or of the delay at which packets were lost, where that is shorter, and what hosts add to round trips
//! without any queue (`delays.rs`). More losses
//! than at low rates are congestion as well (`losses.rs`). Where losses tell of others, each trial costs them some, so the rate rests for longer
//! after each one.
//!
//! What is left out: a flow that begins fills up what the copy leaves before it can be felt, and ends its slow start there.
//! Where queues hold a few packets only, the copy's own pairs of packets cost others some. Delays are not told apart by direction: a queue on the way back counts as if it were the copy's own, which makes it
//! slower than it need be, as with LEDBAT++. A queue that was there before the copy and never empties is not seen.
//!
//! Sources: draft-irtf-iccrg-ledbat-plus-plus-01 (round trips instead of one-way delays, the slow start that ends at three quarters of the target,
//! the slowdown after it and the ones that come periodically, halving at losses); RFC 6817 (history of base delays); Kuzmanovic and Knightly,
//! "TCP-LP: A Distributed Algorithm for Low Priority Data Transfer", INFOCOM 2003 (a threshold that is a share of the longest
//! delay).
//!
//! Reading order: [`Scavenger`], `law.rs` for the numbers of its law, `intake.rs` and `carried.rs`, `delays.rs`, `losses.rs` and `excuse.rs`,
//! `rest.rs`, `crew.rs`, `shares.rs`.

mod carried;
mod crew;
mod delays;
mod excuse;
mod intake;
mod law;
mod losses;
mod rest;
mod shares;
#[cfg(test)]
mod tests;

use observe::StreamCount;
use units::{Rate, Span, Time};

use carried::Carried;
use crew::Crew;
use delays::Delays;
use excuse::Excuse;
pub use intake::StreamReading;
use intake::{Intake, Interval};
use law::Depth;
use losses::Losses;
use rest::Rest;
pub use shares::shares;

/// How often to take a reading. A flow that begins beside the copy doubles with each of its round trips, and whoever sees it after
/// one of them can give way before it has filled the queue.
pub const PERIOD: Span = Span::from_millis(25);

/// What a gentle copy may do until the next reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// All streams together, as payload.
    pub rate: Rate,
    /// So many streams. As few as reach the rate: those of many meet in the queue and fill it for a moment.
    pub streams: StreamCount,
}

/// Decides how much a gentle copy sends.
#[derive(Debug, Clone)]
pub struct Scavenger {
    budget: Span,
    /// Bits per second.
    rate: f64,
    phase: Phase,
    round: Round,
    intake: Intake,
    carried: Carried,
    delays: Delays,
    losses: Losses,
    excuse: Excuse,
    depth: Depth,
    queues: Queues,
    rest: Rest,
    next_slowdown: Time,
    crew: Crew,
    /// As many as there were in the last reading.
    streams: usize,
}

/// Cuts in a row for queues.
#[derive(Debug, Clone, Default)]
struct Queues {
    cuts: u32,
    /// The rate before them, in bits per second, while it may turn out that a host caused that queue.
    before: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// Until somebody, or the end of the path, is felt for the first time.
    Start,
    Cruise,
    /// Little is sent until then, and afterwards the rate is this one.
    Slowdown {
        until: Time,
        back_to: f64,
    },
}

/// From one decision to the time at which its effect can be seen.
#[derive(Debug, Clone, Copy, Default)]
struct Round {
    ends: Time,
    lost: f64,
    packets: f64,
    /// The longest queue.
    queueing: Span,
}

impl Round {
    fn forget_losses(&mut self) {
        (self.lost, self.packets) = (0.0, 0.0);
    }
}

impl Scavenger {
    /// A scavenger that may add `budget` to the path's round trip, which is `rtt` where that is known.
    pub fn new(budget: Span, rtt: Option<Span>) -> Self {
        let crew = Crew::default();
        let bursts = rtt.map_or(0.0, |rtt| {
            law::rate_of_bursts(crew.wanted().get().into(), rtt)
        });
        Scavenger {
            budget,
            rate: law::RATE_START.max(bursts),
            phase: Phase::Start,
            round: Round::default(),
            intake: Intake::default(),
            carried: Carried::default(),
            delays: Delays::new(),
            losses: Losses::default(),
            excuse: Excuse::default(),
            depth: Depth::default(),
            queues: Queues::default(),
            rest: Rest::default(),
            next_slowdown: Time::MAX,
            crew,
            streams: 0,
        }
    }

    /// What may be sent before the first reading.
    pub fn allowance(&self) -> Allowance {
        Allowance {
            rate: Rate::from_f64(self.rate),
            streams: self.crew.wanted(),
        }
    }

    /// The delay that is aimed at now: a part of the budget, or less where queues are short, and what hosts add to it.
    pub fn target(&self) -> Span {
        let unevenness = law::unevenness(self.streams, self.carried.level, self.delays.base());
        let half = Span::from_nanos(self.budget.as_nanos() / 2);
        let part = self.depth.target(self.budget).max(unevenness.min(half));
        part + self.delays.lateness().min(part)
    }

    /// How long packets of this path wait in queues now.
    pub fn queueing(&self) -> Span {
        self.delays.queueing()
    }

    /// Takes in what the streams say at `at`; of those that are gone, nothing.
    pub fn on_reading(&mut self, at: Time, streams: &[StreamReading]) -> Allowance {
        if let Some(seen) = self.intake.take(at, streams) {
            let has_new = streams.len() > self.streams;
            self.streams = streams.len();
            let is_late = seen.length > law::IN_TIME && self.delays.can_do_without(at);
            self.note(at, &seen, is_late);
            if has_new {
                // The kernel sends a stream's first ten packets at once, whatever its pace.
                self.excuse.own(at, self.round_length(&seen));
            }
            // Without an acknowledgement nothing is known of the path.
            if seen.rtt.is_some() && !is_late {
                self.decide(at, &seen);
            }
        }
        self.allowance()
    }

    fn note(&mut self, at: Time, seen: &Interval, is_late: bool) {
        if let Some(rtt) = seen.rtt.filter(|_| !is_late) {
            self.delays.note(at, rtt, seen.rtt_min, seen.packets);
        }
        self.carried.note(at, seen, self.round_length(seen));
        self.round.queueing = self.round.queueing.max(self.delays.queueing());
        self.note_losses(at, seen, is_late);
        let may_be_host = self.is_low() || self.phase == Phase::Start;
        if may_be_host && self.is_free() && !self.excuse.is_deaf(at) {
            self.delays.note_lateness();
        }
    }

    fn note_losses(&mut self, at: Time, seen: &Interval, is_late: bool) {
        if self.excuse.covers(at) {
            return self.losses.forget_last();
        }
        self.round.lost += seen.lost;
        self.round.packets += seen.packets;
        // What hosts have no time for, they drop.
        if !is_late {
            self.losses.note(seen.lost, seen.packets);
        }
        if self.is_low() && self.is_free() {
            // While others are felt, what is lost may be their doing at any rate.
            let weight = if self.rest.is_long() {
                law::DOUBTED
            } else {
                1.0
            };
            self.losses
                .note_ordinary(weight * seen.lost, weight * seen.packets);
        }
    }

    /// Whether nothing that is lost or late can be this copy's doing.
    fn is_low(&self) -> bool {
        self.rate < law::LOW * self.carried.level && self.phase != Phase::Start
    }

    fn is_free(&self) -> bool {
        self.delays.queueing() <= self.half_target()
    }

    fn decide(&mut self, at: Time, seen: &Interval) {
        match self.phase {
            Phase::Slowdown { until, .. } if at < until => {}
            Phase::Slowdown { back_to, .. } => self.return_from_slowdown(at, seen, back_to),
            _ if self.losses.are_congestion() => self.on_losses(at, seen),
            _ if self.was_a_host() => self.take_back(at, seen),
            _ if self.delays.queueing() > self.bound() && !self.delays.is_falling() => {
                self.on_queue(at, seen);
            }
            _ if at >= self.round.ends => self.on_round(at, seen),
            _ => {}
        }
    }

    /// The first growth ends earlier, for its steps are large.
    fn bound(&self) -> Span {
        let target = match self.phase {
            Phase::Start => law::hold_bound(self.target()),
            _ => self.target(),
        };
        target + law::held_back(self.rate, self.rate_of_bursts())
    }

    fn rate_of_bursts(&self) -> f64 {
        law::rate_of_bursts(self.streams, self.delays.base())
    }

    fn on_losses(&mut self, at: Time, seen: &Interval) {
        if self.excuse.is_deaf(at) {
            return;
        }
        if self.round.queueing > self.delays.lateness() {
            self.depth.note(at, self.round.queueing);
        }
        let is_ours = self.probes() && self.carried.is_near_end() && self.phase != Phase::Start;
        let delays_tell = self.round.queueing > self.target() || self.phase == Phase::Start;
        match is_ours || delays_tell {
            true => self.rest.become_short(),
            // Each trial costs others a loss, so trials become rare.
            false => self.rest.become_longer(),
        }
        let share = if is_ours { law::CRUISE } else { law::KEPT };
        self.carried.may_end(self.rate);
        self.cut(at, seen, self.carried.ceiling * share, Span::ZERO);
        self.crew.on_loss(at);
        if is_ours {
            self.excuse.own(at, self.round_length(seen));
        }
    }

    /// Whether the copy tries for more than the path gave before: what it feels may be its own doing.
    fn probes(&self) -> bool {
        let tries = self.carried.is_probed(self.rate) || self.phase == Phase::Start;
        tries && self.queues.cuts == 0
    }

    fn on_queue(&mut self, at: Time, seen: &Interval) {
        if self.excuse.is_deaf(at) {
            return;
        }
        if self.probes() {
            self.carried.may_end(self.rate);
            let (rate, drain) = self.without_own_queue();
            let until = self.cut(at, seen, rate, drain);
            self.phase = Phase::Slowdown {
                until,
                back_to: self.carried.ceiling * law::CRUISE,
            };
        } else {
            self.carried.has_others();
            let share = law::kept(self.delays.queueing(), self.target());
            let before = self.queues.before.unwrap_or(self.rate);
            self.cut(at, seen, self.rate * share, Span::ZERO);
            self.queues.before = (before > law::LOW * self.carried.level).then_some(before);
        }
    }

    /// Whether the queue was gone sooner than a link can empty one: packets waited for a host that came to nothing for a moment.
    fn was_a_host(&self) -> bool {
        let is_gone = self.delays.now() <= self.half_target();
        self.queues.before.is_some() && is_gone && self.delays.fall() > law::FALL_MAX
    }

    fn take_back(&mut self, at: Time, seen: &Interval) {
        let before = self.queues.before.unwrap_or(self.rate);
        self.queues = Queues::default();
        self.begin_round(at, seen, before);
    }

    /// A rate at which the queue becomes shorter, and when it is gone, with what is on its way to it.
    fn without_own_queue(&self) -> (f64, Span) {
        let carried = self.carried.ceiling;
        let on_its_way = (self.rate / carried - 1.0) * self.rtt().as_secs_f64();
        let queue = self.delays.queueing().as_secs_f64() + on_its_way;
        let (share, drain) = law::without_queue(queue, self.rtt());
        (carried * share, drain)
    }

    /// Cuts are not repeated before this one can be felt, and `drain` has passed, which is the time that is returned.
    fn cut(&mut self, at: Time, seen: &Interval, rate: f64, drain: Span) -> Time {
        let round = self.round_length(seen);
        if self.phase == Phase::Start {
            self.phase = Phase::Cruise;
            self.next_slowdown = at + drain + self.slowdown_length(seen);
            // The last step may have filled the queue.
            self.excuse.own(at + drain, round);
        }
        let felt = at + round + drain;
        self.excuse.on_cut(felt);
        self.queues.cuts += 1;
        self.queues.before = None;
        self.carried.on_cut();
        self.rest.begin(at);
        self.begin_round(at, seen, rate);
        felt
    }

    /// A round went by without a reason to send less.
    fn on_round(&mut self, at: Time, seen: &Interval) {
        self.queues.before = None;
        if at >= self.next_slowdown && self.rate > 2.0 * self.least() {
            return self.slow_down(at, seen);
        }
        let delivered = self.carried.now;
        let arrives = delivered / self.rate;
        let binds = seen.windows_bind && arrives < law::ARRIVES;
        self.crew
            .on_round(at, binds, arrives, delivered, self.streams);
        let is_judged = self.rate > self.rate_of_bursts();
        // Once its windows open, a copy that is far ahead of them fills any queue at once.
        let ahead = match self.phase {
            Phase::Start => law::AHEAD_AT_START,
            _ => law::AHEAD,
        };
        let is_ahead = binds && arrives < ahead && is_judged;
        if is_ahead {
            // The link may be why no more arrives, and these losses its queue's.
            self.round.forget_losses();
            self.losses.forget_start();
        }
        let rate = if arrives < law::REACHED && is_judged {
            law::not_reached(self.rate, delivered)
        } else if self.delays.queueing() > law::hold_bound(self.target()) || is_ahead {
            self.rate
        } else {
            self.queues.cuts = 0;
            if self.rate > law::NEAR * self.carried.level {
                self.rest.become_short();
            }
            self.grown(at, seen)
        };
        self.begin_round(at, seen, rate);
    }

    fn grown(&self, at: Time, seen: &Interval) -> f64 {
        if self.phase == Phase::Start {
            return self.rate * law::START_GROWTH;
        }
        let Some(growing) = self.rest.growing(at) else {
            return self.rate;
        };
        if self.rate > law::FAR_BEYOND * self.carried.end {
            // What was felt there was not the end of the path.
            return self.rate * law::START_GROWTH;
        }
        // A step too far costs others a loss where nothing else tells of it.
        let carefully = match self.rest.is_long() {
            true => Span::ZERO,
            false => Span::from_nanos(growing.as_nanos() / law::CAREFUL),
        };
        let round = self.round_length(seen);
        let step = |free| law::step(self.target(), round, free, self.rest.length);
        let after = |free| self.rate + step(free) * self.carried.level;
        // Where others were felt and where the path ended before, steps are small.
        self.carried
            .step(self.rate, after(carefully), after(growing))
    }

    fn slow_down(&mut self, at: Time, seen: &Interval) {
        let length = self.slowdown_length(seen);
        self.phase = Phase::Slowdown {
            until: at + length,
            back_to: self.rate * law::BACK,
        };
        self.next_slowdown = at + law::slowdown_period(length);
        self.begin_round(at, seen, self.rate * law::SLOWDOWN);
        let wakes = law::between_pairs(self.rate, self.streams);
        self.carried
            .slows_down(at + length + wakes + self.round_length(seen));
    }

    /// A queue that is there without us is somebody else's.
    fn return_from_slowdown(&mut self, at: Time, seen: &Interval, back_to: f64) {
        self.phase = Phase::Cruise;
        let is_others = self.delays.queueing() > self.target();
        self.rest.leave_out(self.slowdown_length(seen), at);
        self.begin_round(at, seen, if is_others { self.rate } else { back_to });
    }

    fn begin_round(&mut self, at: Time, seen: &Interval, rate: f64) {
        if self.phase == Phase::Start {
            self.losses
                .on_round_of_start(self.round.lost, self.round.packets);
        }
        self.rate = rate.max(self.least());
        self.round = Round {
            ends: at + self.round_length(seen),
            ..Round::default()
        };
    }

    /// Until what was decided has come back in a reading.
    fn round_length(&self, seen: &Interval) -> Span {
        self.rtt() + seen.length
    }

    fn rtt(&self) -> Span {
        self.delays.last().unwrap_or(Span::ZERO)
    }

    fn slowdown_length(&self, seen: &Interval) -> Span {
        self.rtt().times(law::SLOWDOWN_ROUND_TRIPS) + seen.length
    }

    fn half_target(&self) -> Span {
        Span::from_nanos(self.target().as_nanos() / 2)
    }

    /// Enough to see what the round trip is.
    fn least(&self) -> f64 {
        let trickle = law::STREAM_MIN * self.streams as f64;
        law::RATE_MIN
            .max(trickle)
            .max(self.carried.level * law::LEAST)
    }
}
