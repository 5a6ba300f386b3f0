//! The rate of a gentle copy: LEDBAT++ for a program that cannot change its kernel.
//!
//! [`Scavenger::on_reading`] takes the streams' `TCP_INFO` every [`PERIOD`] and answers with the
//! rate that all streams may have together. The program splits it ([`shares`]) into pacing rates
//! (`SO_MAX_PACING_RATE`), which every user may set and which take effect at once. The streams keep
//! their congestion control.
//!
//! Alone on a path, a copy sends 5 % less than the path carries, tries for more every few seconds,
//! and otherwise has no queue. When packets wait longer than the target during such a trial, the
//! copy drains its own queue and continues 5 % below the delivery rate. A queue at any other time,
//! or one that stays, belongs to cross traffic: in each round trip it costs the rate the share by
//! which it exceeds the target, up to half. Without cross traffic the rate grows back in steps that
//! become larger. Now and then the rate drops for two round trips: the queue empties, and gentle
//! copies that began later measure the path's true round trip.
//!
//! The target is a quarter of the user's budget, or a quarter of the delay at which packets were
//! lost, where that is shorter; plus what hosts add to round trips without any queue (`delays.rs`).
//! More losses than at low rates also count as congestion (`losses.rs`). Where only losses reveal
//! cross traffic, each trial costs that traffic a loss, so the rate holds for longer after each
//! one.
//!
//! Left out: a flow that begins fills what the copy leaves before the copy notices it, and ends its
//! slow start there. Where queues hold a few packets only, the copy's own pairs of packets cost
//! other flows some. Delays are not split by direction: a queue on the way back makes the copy
//! slower than it need be, as with LEDBAT++. A queue that was there before the copy and never
//! empties is not seen.
//!
//! Sources: draft-irtf-iccrg-ledbat-plus-plus-01 (round trips instead of one-way delays, a slow
//! start that ends at three quarters of the target, the slowdown after it and the periodic ones,
//! halving at losses); RFC 6817 (history of base delays); Kuzmanovic and Knightly, "TCP-LP: A
//! Distributed Algorithm for Low Priority Data Transfer", INFOCOM 2003 (a threshold that is a share
//! of the longest delay).
//!
//! Reading order: [`Scavenger`], `law.rs` for the constants and formulas, `readings.rs` and
//! `path_rate.rs`, `delays.rs`, `losses.rs` and `loss_grace.rs`, `hold.rs`, `stream_count.rs`,
//! `shares.rs`.

mod delays;
mod hold;
mod law;
mod loss_grace;
mod losses;
mod path_rate;
mod readings;
mod shares;
mod stream_count;
#[cfg(test)]
mod tests;

use observe::StreamCount;
use units::{Rate, Span, Time};

use delays::Delays;
use hold::Hold;
use law::Depth;
use loss_grace::LossGrace;
use losses::Losses;
use path_rate::PathRate;
pub use readings::StreamReading;
use readings::{Interval, Readings};
pub use shares::shares;
use stream_count::{RoundSummary, StreamDemand};

/// How often to take a reading. A new flow doubles its rate in each round trip; a copy that notices
/// it after one of them can give way before the queue is full.
pub const PERIOD: Span = Span::from_millis(25);

/// What a gentle copy may do until the next reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// All streams together, as payload.
    pub rate: Rate,
    /// Number of streams: as few as reach the rate. Packets of many streams meet in the queue and
    /// fill it for a moment.
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
    readings: Readings,
    path_rate: PathRate,
    delays: Delays,
    losses: Losses,
    loss_grace: LossGrace,
    depth: Depth,
    queue_cuts: QueueCuts,
    hold: Hold,
    next_slowdown: Time,
    stream_count: StreamDemand,
    /// Number of streams in the last reading.
    streams: usize,
}

/// Consecutive rate cuts for queues.
#[derive(Debug, Clone, Default)]
struct QueueCuts {
    cuts: u32,
    /// Rate before them in bit/s, while the queue may still turn out to be a host stall.
    before: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// Until the first congestion signal.
    Start,
    Cruise,
    /// Low rate until `until`, then `back_to` (bit/s).
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
    /// A scavenger that may add `budget` to the path's round trip `rtt`, where that is known.
    pub fn new(budget: Span, rtt: Option<Span>) -> Self {
        let stream_count = StreamDemand::default();
        let bursts = rtt.map_or(0.0, |rtt| {
            law::rate_of_bursts(stream_count.wanted().get().into(), rtt)
        });
        Scavenger {
            budget,
            rate: law::RATE_START.max(bursts),
            phase: Phase::Start,
            round: Round::default(),
            readings: Readings::default(),
            path_rate: PathRate::default(),
            delays: Delays::new(),
            losses: Losses::default(),
            loss_grace: LossGrace::default(),
            depth: Depth::default(),
            queue_cuts: QueueCuts::default(),
            hold: Hold::default(),
            next_slowdown: Time::MAX,
            stream_count,
            streams: 0,
        }
    }

    /// What may be sent before the first reading.
    pub fn allowance(&self) -> Allowance {
        Allowance {
            rate: Rate::from_f64(self.rate),
            streams: self.stream_count.wanted(),
        }
    }

    /// Queueing delay that the copy aims at: a part of the budget, less where queues are short,
    /// plus what hosts add to round trips.
    pub fn target(&self) -> Span {
        let unevenness = law::unevenness(self.streams, self.path_rate.level, self.delays.base());
        let half = Span::from_nanos(self.budget.as_nanos() / 2);
        let part = self.depth.target(self.budget).max(unevenness.min(half));
        part + self.delays.lateness().min(part)
    }

    /// How long packets of this path wait in queues now.
    pub fn queueing(&self) -> Span {
        self.delays.queueing()
    }

    /// Takes a reading of all present streams at `at`.
    pub fn on_reading(&mut self, at: Time, streams: &[StreamReading]) -> Allowance {
        if let Some(seen) = self.readings.take(at, streams) {
            let has_new = streams.len() > self.streams;
            self.streams = streams.len();
            let is_late = seen.length > law::IN_TIME && self.delays.can_do_without(at);
            self.note(at, &seen, is_late);
            if has_new {
                // The kernel sends a stream's first ten packets at once, whatever its pace.
                self.loss_grace.on_own_loss(at, self.round_length(&seen));
            }
            // Without an acknowledgement the reading says nothing about the path.
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
        self.path_rate.note(at, seen, self.round_length(seen));
        self.round.queueing = self.round.queueing.max(self.delays.queueing());
        self.note_losses(at, seen, is_late);
        let may_be_host = self.is_low() || self.phase == Phase::Start;
        if may_be_host && self.is_free() && !self.loss_grace.is_cut_unseen(at) {
            self.delays.note_lateness();
        }
    }

    fn note_losses(&mut self, at: Time, seen: &Interval, is_late: bool) {
        if self.loss_grace.covers(at) {
            return self.losses.forget_last();
        }
        self.round.lost += seen.lost;
        self.round.packets += seen.packets;
        // A busy host drops packets.
        if !is_late {
            self.losses.note(seen.lost, seen.packets);
        }
        if self.is_low() && self.is_free() {
            // Losses during congestion by cross traffic are weighted down.
            let weight = if self.hold.is_long() {
                law::DOUBTED
            } else {
                1.0
            };
            self.losses
                .note_ordinary(weight * seen.lost, weight * seen.packets);
        }
    }

    /// Whether the rate is too low for this copy to cause losses or delays.
    fn is_low(&self) -> bool {
        self.rate < law::LOW * self.path_rate.level && self.phase != Phase::Start
    }

    fn is_free(&self) -> bool {
        self.delays.queueing() <= self.half_target()
    }

    fn decide(&mut self, at: Time, seen: &Interval) {
        match self.phase {
            Phase::Slowdown { until, .. } if at < until => {}
            Phase::Slowdown { back_to, .. } => self.return_from_slowdown(at, seen, back_to),
            _ if self.losses.are_congestion() => self.on_losses(at, seen),
            _ if self.was_host_stall() => self.undo_cut(at, seen),
            _ if self.delays.queueing() > self.bound() && !self.delays.is_falling() => {
                self.on_queue(at, seen);
            }
            _ if at >= self.round.ends => self.on_round(at, seen),
            _ => {}
        }
    }

    /// Queueing delay that causes a cut; lower during the first growth, whose steps are large.
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
        if self.loss_grace.is_cut_unseen(at) {
            return;
        }
        if self.round.queueing > self.delays.lateness() {
            self.depth.note(at, self.round.queueing);
        }
        let is_ours = self.probes() && self.path_rate.is_near_end() && self.phase != Phase::Start;
        let delays_tell = self.round.queueing > self.target() || self.phase == Phase::Start;
        match is_ours || delays_tell {
            true => self.hold.reset(),
            // Each trial costs cross traffic a loss, so trials become rare.
            false => self.hold.lengthen(),
        }
        let share = if is_ours { law::CRUISE } else { law::KEPT };
        self.path_rate.set_ceiling(self.rate);
        self.cut(at, seen, self.path_rate.ceiling * share, Span::ZERO);
        self.stream_count.on_loss(at);
        if is_ours {
            self.loss_grace.on_own_loss(at, self.round_length(seen));
        }
    }

    /// Whether the copy tries for more than the path gave before: congestion may then be its own.
    fn probes(&self) -> bool {
        let tries = self.path_rate.is_probed(self.rate) || self.phase == Phase::Start;
        tries && self.queue_cuts.cuts == 0
    }

    fn on_queue(&mut self, at: Time, seen: &Interval) {
        if self.loss_grace.is_cut_unseen(at) {
            return;
        }
        if self.probes() {
            self.path_rate.set_ceiling(self.rate);
            let (rate, drain) = self.without_own_queue();
            let until = self.cut(at, seen, rate, drain);
            self.phase = Phase::Slowdown {
                until,
                back_to: self.path_rate.ceiling * law::CRUISE,
            };
        } else {
            self.path_rate.clear_ceiling();
            let share = law::kept(self.delays.queueing(), self.target());
            let before = self.queue_cuts.before.unwrap_or(self.rate);
            self.cut(at, seen, self.rate * share, Span::ZERO);
            self.queue_cuts.before = (before > law::LOW * self.path_rate.level).then_some(before);
        }
    }

    /// Whether the queue vanished faster than the link could drain it: a host stall caused it.
    fn was_host_stall(&self) -> bool {
        let is_gone = self.delays.now() <= self.half_target();
        self.queue_cuts.before.is_some() && is_gone && self.delays.fall() > law::FALL_MAX
    }

    fn undo_cut(&mut self, at: Time, seen: &Interval) {
        let before = self.queue_cuts.before.unwrap_or(self.rate);
        self.queue_cuts = QueueCuts::default();
        self.begin_round(at, seen, before);
    }

    /// Rate (bit/s) that drains the copy's own queue and what is in flight towards it, and the time
    /// until it is empty.
    fn without_own_queue(&self) -> (f64, Span) {
        let delivered = self.path_rate.ceiling;
        let in_flight = (self.rate / delivered - 1.0) * self.rtt().as_secs_f64();
        let queue = self.delays.queueing().as_secs_f64() + in_flight;
        let (share, drain) = law::without_queue(queue, self.rtt());
        (delivered * share, drain)
    }

    /// Cuts the rate to `rate`. Returns when the effect shows, `drain` included; no other cut comes
    /// before that.
    fn cut(&mut self, at: Time, seen: &Interval, rate: f64, drain: Span) -> Time {
        let round = self.round_length(seen);
        if self.phase == Phase::Start {
            self.phase = Phase::Cruise;
            self.next_slowdown = at + drain + self.slowdown_length(seen);
            // The last step may have filled the queue.
            self.loss_grace.on_own_loss(at + drain, round);
        }
        let felt = at + round + drain;
        self.loss_grace.on_cut(felt);
        self.queue_cuts.cuts += 1;
        self.queue_cuts.before = None;
        self.path_rate.on_cut();
        self.hold.begin(at);
        self.begin_round(at, seen, rate);
        felt
    }

    /// A round ended without a congestion signal.
    fn on_round(&mut self, at: Time, seen: &Interval) {
        self.queue_cuts.before = None;
        if at >= self.next_slowdown && self.rate > 2.0 * self.least() {
            return self.slow_down(at, seen);
        }
        let delivered = self.path_rate.now;
        let arrives = delivered / self.rate;
        let binds = seen.windows_bind && arrives < law::ARRIVES;
        self.stream_count.on_round(&RoundSummary {
            at,
            windows_bind: binds,
            arrived_share: arrives,
            delivered,
            streams: self.streams,
        });
        let is_judged = self.rate > self.rate_of_bursts();
        // Once the windows open, a rate far above them fills any queue at once.
        let ahead = match self.phase {
            Phase::Start => law::AHEAD_AT_START,
            _ => law::AHEAD,
        };
        let is_ahead = binds && arrives < ahead && is_judged;
        if is_ahead {
            // The link may be the bottleneck, and these the losses of its queue.
            self.round.forget_losses();
            self.losses.forget_start();
        }
        let rate = if arrives < law::REACHED && is_judged {
            law::not_reached(self.rate, delivered)
        } else if self.delays.queueing() > law::hold_bound(self.target()) || is_ahead {
            self.rate
        } else {
            self.queue_cuts.cuts = 0;
            if self.rate > law::NEAR * self.path_rate.level {
                self.hold.reset();
            }
            self.grown(at, seen)
        };
        self.begin_round(at, seen, rate);
    }

    fn grown(&self, at: Time, seen: &Interval) -> f64 {
        if self.phase == Phase::Start {
            return self.rate * law::START_GROWTH;
        }
        let Some(growing) = self.hold.growing(at) else {
            return self.rate;
        };
        if self.rate > law::FAR_BEYOND * self.path_rate.end {
            // The last congestion signal was not the end of the path.
            return self.rate * law::START_GROWTH;
        }
        // Where only losses reveal congestion, a step too far costs cross traffic a loss.
        let carefully = match self.hold.is_long() {
            true => Span::ZERO,
            false => Span::from_nanos(growing.as_nanos() / law::CAREFUL),
        };
        let round = self.round_length(seen);
        let step = |free| law::step(self.target(), round, free, self.hold.length);
        let after = |free| self.rate + step(free) * self.path_rate.level;
        // Steps are small near the rates at which congestion showed before.
        self.path_rate
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
        self.path_rate
            .slow_down_until(at + length + wakes + self.round_length(seen));
    }

    /// A queue that is there at the low rate belongs to cross traffic.
    fn return_from_slowdown(&mut self, at: Time, seen: &Interval, back_to: f64) {
        self.phase = Phase::Cruise;
        let is_others = self.delays.queueing() > self.target();
        self.hold.leave_out(self.slowdown_length(seen), at);
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

    /// Time until a decision shows in a reading.
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

    /// Lowest rate (bit/s): enough to measure round trips.
    fn least(&self) -> f64 {
        let trickle = law::STREAM_MIN * self.streams as f64;
        law::RATE_MIN
            .max(trickle)
            .max(self.path_rate.level * law::LEAST)
    }
}
