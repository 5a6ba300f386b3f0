//! The rate of a copy that gives way to everybody: LEDBAT++ for a program that cannot change its kernel.
//!
//! [`Scavenger::on_reading`] is told ten times a second what the kernel says of the copy's streams, and answers with the rate
//! that they may have together. The program shares it out as pacing rates (`SO_MAX_PACING_RATE`), which work for everybody
//! and at once; the streams' own congestion control stays what it was.
//!
//! A copy that is alone on the path sends a little less than it carries, and its queue stays below the target. As
//! soon as packets wait longer, the rate is cut by what empties the copy's own queue within one round. What is
//! still there after that is somebody else's, and then the rate is halved each round. When nobody is felt any more, the rate grows by steps, ever
//! larger ones, to where it was before. Every now and then it is lowered for two round trips, so that the queue empties and
//! copies of this kind that came later see the path's true round trip.
//!
//! The target is the user's budget, or less where the path's queue is too short for that: a quarter of the delay at which packets
//! were lost. More losses than at low rates are congestion as well (`losses.rs`).
//!
//! What is left out: delay in one direction. A queue on the way back counts as if it were the copy's own, which makes it
//! slower than it need be, as with LEDBAT++. A queue that was there before the copy and never empties is not seen.
//!
//! Sources: draft-irtf-iccrg-ledbat-plus-plus-01 (round trips instead of one-way delays, the slow start that ends at three quarters of the target,
//! the slowdown after it and the ones that come periodically, halving at losses); RFC 6817 (history of base delays); Kuzmanovic and Knightly,
//! "TCP-LP: A Distributed Algorithm for Low Priority Data Transfer", INFOCOM 2003 (a threshold that is a share of the longest
//! delay).
//!
//! Reading order: [`Scavenger`], `law.rs` for the numbers of its law, `intake.rs`, `delays.rs`, `losses.rs`.

mod delays;
mod intake;
mod law;
mod losses;

use units::{Rate, Span, Time};

use delays::Delays;
pub use intake::StreamReading;
use intake::{Intake, Interval};
use law::Depth;
use losses::Losses;

/// What a gentle copy may do until the next reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// All streams together, as payload.
    pub rate: Rate,
    /// The streams do not reach the rate because of their own congestion windows: one more would help, and
    /// hurt nobody.
    pub streams_bind: bool,
}

/// Decides how much a gentle copy sends.
#[derive(Debug, Clone)]
pub struct Scavenger {
    budget: Span,
    intake: Intake,
    delays: Delays,
    losses: Losses,
    depth: Depth,
    phase: Phase,
    /// Bits per second.
    rate: f64,
    /// What arrives, smoothed over about a round, in bits per second.
    delivered: f64,
    /// The most that arrived in the last minutes, in bits per second.
    level: f64,
    round: Round,
    last_cut: Option<Time>,
    /// Cuts in a row after which the queue was still there.
    cuts: u32,
    /// Since when nobody was felt.
    free_since: Time,
    next_slowdown: Time,
    streams_bind: bool,
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

impl Scavenger {
    /// A scavenger that may add `budget` to the path's round trip.
    pub fn new(budget: Span) -> Self {
        Scavenger {
            budget: budget.max(law::TARGET_MIN),
            intake: Intake::default(),
            delays: Delays::new(),
            losses: Losses::default(),
            depth: Depth::default(),
            phase: Phase::Start,
            rate: law::RATE_START,
            delivered: 0.0,
            level: 0.0,
            round: Round::default(),
            last_cut: None,
            cuts: 0,
            free_since: Time::ZERO,
            next_slowdown: Time::MAX,
            streams_bind: false,
        }
    }

    /// What may be sent before the first reading.
    pub fn allowance(&self) -> Allowance {
        Allowance {
            rate: Rate::from_f64(self.rate),
            streams_bind: self.streams_bind,
        }
    }

    /// The delay that is aimed at now: the budget, or less where queues are short.
    pub fn target(&self) -> Span {
        self.depth.target(self.budget)
    }

    /// How long packets of this path wait in queues now.
    pub fn queueing(&self) -> Span {
        self.delays.queueing()
    }

    /// Takes in what the streams say at `at`; of those that are gone, nothing.
    pub fn on_reading(&mut self, at: Time, streams: &[StreamReading]) -> Allowance {
        if let Some(seen) = self.intake.take(at, streams) {
            self.note(at, &seen);
            // Without an acknowledgement nothing is known of the path.
            if seen.rtt.is_some() {
                self.decide(at, &seen);
            }
        }
        self.allowance()
    }

    fn note(&mut self, at: Time, seen: &Interval) {
        if let Some(rtt) = seen.rtt {
            self.delays.note(at, rtt, seen.rtt_min);
        }
        let share = seen.length.as_secs_f64() / self.round_length(seen).as_secs_f64();
        self.delivered += (seen.rate() - self.delivered) * share.min(1.0);
        let faded = self.level * law::level_kept(seen.length);
        self.level = self.delivered.max(faded);
        self.round.lost += seen.lost;
        self.round.packets += seen.packets;
        self.round.queueing = self.round.queueing.max(self.delays.queueing());
        let is_low = self.rate < law::LOW * self.level;
        if is_low && self.delays.queueing() <= self.half_target() {
            self.losses.note_ordinary(seen.lost, seen.packets);
        }
    }

    fn decide(&mut self, at: Time, seen: &Interval) {
        match self.phase {
            Phase::Slowdown { until, .. } if at < until => {}
            Phase::Slowdown { back_to, .. } => self.return_from_slowdown(at, seen, back_to),
            _ if self.has_congestion_losses() => self.on_losses(at, seen),
            _ if self.delays.queueing() > self.bound() => self.on_queue(at, seen),
            _ if at >= self.round.ends => self.on_round(at, seen),
            _ => {}
        }
    }

    /// The first growth ends earlier, for its steps are large.
    fn bound(&self) -> Span {
        match self.phase {
            Phase::Start => law::start_bound(self.target()),
            _ => self.target(),
        }
    }

    fn has_congestion_losses(&self) -> bool {
        let round = &self.round;
        self.losses.are_congestion(round.lost, round.packets)
    }

    fn on_losses(&mut self, at: Time, seen: &Interval) {
        if !self.may_cut(at, seen) {
            return;
        }
        self.depth.note(at, self.round.queueing);
        self.cut(at, seen, self.rate.min(self.delivered) * law::KEPT);
    }

    fn on_queue(&mut self, at: Time, seen: &Interval) {
        if !self.may_cut(at, seen) {
            return;
        }
        let rate = match self.cuts {
            0 => {
                let round = self.round_length(seen);
                let own = law::without_queue(self.delays.queueing(), round);
                self.rate.min(self.delivered) * own
            }
            _ => self.rate * law::KEPT,
        };
        self.cut(at, seen, rate);
    }

    /// Not again before the last one can be felt.
    fn may_cut(&self, at: Time, seen: &Interval) -> bool {
        let round = self.round_length(seen);
        self.last_cut.is_none_or(|cut| at >= cut + round)
    }

    fn cut(&mut self, at: Time, seen: &Interval, rate: f64) {
        if self.phase == Phase::Start {
            self.phase = Phase::Cruise;
            self.next_slowdown = at + self.slowdown_length(seen);
        }
        self.last_cut = Some(at);
        self.cuts += 1;
        self.free_since = at;
        self.begin_round(at, seen, rate);
    }

    /// A round went by without a reason to send less.
    fn on_round(&mut self, at: Time, seen: &Interval) {
        if at >= self.next_slowdown && self.rate > 2.0 * self.least() {
            return self.slow_down(at, seen);
        }
        let reaches = self.delivered >= law::REACHED * self.rate;
        self.streams_bind = !reaches && seen.windows_bind;
        let rate = if !reaches {
            law::not_reached(self.rate, self.delivered)
        } else if self.delays.queueing() > self.half_target() {
            self.free_since = at;
            self.rate
        } else {
            self.cuts = 0;
            self.grown(at, seen)
        };
        self.begin_round(at, seen, rate);
    }

    fn grown(&mut self, at: Time, seen: &Interval) -> f64 {
        if self.phase == Phase::Start {
            return self.rate * law::START_GROWTH;
        }
        let room = self.depth.room(self.budget);
        let free = at.since(self.free_since);
        let step = law::step(room, self.round_length(seen), free) * self.level;
        // The last bit up to what the path carries is taken carefully, and so is everything beyond.
        let near = law::NEAR * self.level;
        let rate = self.rate + step;
        if self.rate < near && rate >= near {
            self.free_since = at;
            return near;
        }
        rate
    }

    fn slow_down(&mut self, at: Time, seen: &Interval) {
        let length = self.slowdown_length(seen);
        self.phase = Phase::Slowdown {
            until: at + length,
            back_to: self.rate * law::BACK,
        };
        self.next_slowdown = at + law::slowdown_period(length);
        self.begin_round(at, seen, self.rate * law::SLOWDOWN);
    }

    /// A queue that is there without us is somebody else's.
    fn return_from_slowdown(&mut self, at: Time, seen: &Interval, back_to: f64) {
        self.phase = Phase::Cruise;
        let is_others = self.delays.queueing() > self.target();
        self.free_since = at;
        self.begin_round(at, seen, if is_others { self.rate } else { back_to });
    }

    fn begin_round(&mut self, at: Time, seen: &Interval, rate: f64) {
        self.rate = rate.max(self.least());
        self.round = Round {
            ends: at + self.round_length(seen),
            ..Round::default()
        };
    }

    /// Until what was decided has come back in a reading.
    fn round_length(&self, seen: &Interval) -> Span {
        self.delays.last().unwrap_or(Span::ZERO) + seen.length
    }

    fn slowdown_length(&self, seen: &Interval) -> Span {
        let rtt = self.delays.last().unwrap_or(Span::ZERO);
        rtt.times(law::SLOWDOWN_ROUND_TRIPS) + seen.length
    }

    fn half_target(&self) -> Span {
        Span::from_nanos(self.target().as_nanos() / 2)
    }

    /// Enough to see what the round trip is.
    fn least(&self) -> f64 {
        law::RATE_MIN.max(self.level * law::LEAST)
    }
}
