//! The sending end of a flow: what to send when, and what to make of acknowledgements.

mod recovery;
mod transmit;

use std::num::NonZeroU32;
use std::sync::Arc;

use units::{Rate, Span, Time};

use crate::Variant;
use crate::control::{Acked, Common, Control, Facts, Window};
use crate::held_back::HeldBack;
use crate::pacer::Pacer;
use crate::packet::{Flags, Packet};
use crate::prr::Prr;
use crate::round_trip::{RoundTrip, TimeoutFloor};
use crate::scenario::Growth;
use crate::scoreboard::{LossRule, Scoreboard};
use crate::tail::Tail;
use crate::timers::Deadline;

/// What all senders of a group have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    pub growth: Growth,
    /// Every acknowledgement of new data measures a round trip.
    pub timestamps: bool,
    pub timeout_floor: TimeoutFloor,
    /// A timeout forgets what was selectively acknowledged.
    pub timeout_forgets: bool,
    /// What arrives later tells that a repeated segment was lost again (RFC 8985).
    pub watches_repairs: bool,
    /// Losses are found and windows reduced as by Linux: RACK-TLP, PRR.
    pub kernel: bool,
    /// Holes are judged by time (RACK), which takes it that nothing comes out of order.
    pub by_time: bool,
    /// The most that each may send at.
    pub pacing_max: Option<Rate>,
}

/// How losses are found and repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repair {
    /// Back to slow start.
    Tahoe,
    /// Fast recovery until something new is acknowledged.
    Reno,
    /// Fast recovery until all is repaired.
    NewReno,
    /// With selective acknowledgements.
    Selective(LossRule),
}

impl Repair {
    fn of(variant: Variant) -> Self {
        match variant {
            Variant::Tahoe => Repair::Tahoe,
            Variant::Reno => Repair::Reno,
            Variant::NewReno | Variant::Vegas => Repair::NewReno,
            Variant::Fack => Repair::Selective(LossRule::Forward),
            _ => Repair::Selective(LossRule::ThirdAbove),
        }
    }
}

/// Where a sender stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It waits for its connection.
    Connecting,
    /// Nothing is known to be lost.
    Open,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until all that was outstanding then is acknowledged.
    Loss,
}

/// A segment to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outgoing {
    pub number: u32,
    /// It was sent before.
    pub again: bool,
}

/// What an acknowledgement tells.
#[derive(Debug, Clone, Copy)]
struct News {
    /// Segments newly acknowledged in order, and those newly acknowledged at all.
    advanced: u32,
    delivered: u32,
    /// Segments newly known to be lost.
    lost: u32,
    round_trip: Option<Span>,
}

/// What a flow has done since it began.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    pub retransmitted: u64,
    /// Segments of which an acknowledgement echoed a mark, as Linux counts `tcpi_delivered_ce`.
    pub mark_echoed: u64,
    pub timeouts: u32,
}

/// The sending end of a flow: three cache lines, and what segments need rarely elsewhere. With
/// thousands of flows it is memory that takes time.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(crate) struct Sender {
    /// The first segment that is not acknowledged.
    una: u32,
    /// The one to be sent next when nothing is to be repaired.
    next: u32,
    /// One beyond the highest that was ever sent.
    highest: u32,
    /// One beyond the last there is to send.
    limit: u32,
    /// The most segments outstanding: the receiver's window, or the send buffer.
    outstanding_max: u32,
    phase: Phase,
    repair: Repair,
    /// The scoreboard holds something.
    tainted: bool,
    /// The next repair is sent whatever the window says.
    must_repair: bool,
    /// The next segment tells that the window was reduced.
    tells_reduction: bool,
    duplicates: u32,
    /// Segments that have left the path during fast recovery without being acknowledged.
    inflation: u32,
    /// Recovery ends here, and no new one begins below.
    recover: u32,
    /// What was sent below this was on the way when the window was reduced last: neither a mark nor
    /// a loss of it reduces the window again. Zero before the first time.
    reduced_at: u32,
    window: Window,
    pub(crate) round_trip: RoundTrip,
    pub(crate) timeout: Deadline,
    pub(crate) send: Deadline,
    /// Without timestamps: one beyond the segment that is timed, and when it was sent.
    timed_end: Option<NonZeroU32>,
    timed_at: Time,
    control: Control,
    /// Whether data was on the way, and whether the buffers held it back, when last looked at.
    noted: (bool, bool),
    pub(crate) rules: Arc<Rules>,
    rare: Box<Rare>,
}

/// What a sender needs at losses, with pacing, or when it changes how it stands.
#[derive(Debug, Clone, Default)]
struct Rare {
    board: Scoreboard,
    pacer: Pacer,
    tally: Tally,
    held_back: HeldBack,
    tail: Tail,
    /// Of the recovery at hand, where hosts are as Linux.
    prr: Option<Prr>,
}

impl Sender {
    pub(crate) fn new(
        variant: Variant,
        rules: Arc<Rules>,
        facts: &Facts,
        outstanding_max: u32,
        limit: u32,
    ) -> Self {
        Sender {
            una: 0,
            next: 0,
            highest: 0,
            limit,
            outstanding_max,
            phase: Phase::Connecting,
            repair: Repair::of(variant),
            tainted: false,
            must_repair: false,
            tells_reduction: false,
            duplicates: 0,
            inflation: 0,
            recover: 0,
            reduced_at: 0,
            window: Window::new(facts.initial_window.min(outstanding_max)),
            rules,
            round_trip: RoundTrip::new(),
            timed_end: None,
            timed_at: Time::ZERO,
            timeout: Deadline::NONE,
            send: Deadline::NONE,
            control: Control::new(variant, facts),
            noted: (false, false),
            rare: Box::default(),
        }
    }

    /// Segments that are acknowledged in order.
    #[inline]
    pub(crate) fn acknowledged(&self) -> u32 {
        self.una
    }

    /// Segments that were sent at least once.
    pub(crate) fn sent(&self) -> u32 {
        self.highest
    }

    /// Whether all there was to send is acknowledged.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.una >= self.limit
    }

    /// How many segments there are to send; `None` without end.
    pub(crate) fn limit(&self) -> Option<u32> {
        (self.limit < u32::MAX).then_some(self.limit)
    }

    /// Segments that were sent and are not acknowledged in order.
    #[inline]
    pub(crate) fn outstanding(&self) -> u32 {
        self.next - self.una
    }

    /// Nothing is sent or waited for any more.
    pub(crate) fn stop(&mut self) {
        self.next = self.una;
        self.limit = self.una;
        self.timeout.clear();
        self.send.clear();
    }

    /// Nothing is sent any more that was not sent before; what was is still repaired and waited
    /// for.
    pub(crate) fn end_with_sent(&mut self) {
        self.limit = self.highest;
    }

    /// The congestion window, in segments.
    pub(crate) fn window(&self) -> Window {
        self.window
    }

    /// Takes over what the streams of its transfer have in common, as the one with number `place`.
    pub(crate) fn borrow(&mut self, common: &Common, place: u32) {
        if let Some(own) = self.control.ensemble() {
            *own = common.ensemble.at(place);
            self.window = own.share();
            self.round_trip = common.round_trip;
        }
    }

    /// Hands back what it borrowed.
    pub(crate) fn give_back(&mut self, common: &mut Common) {
        if let Some(own) = self.control.ensemble() {
            (common.ensemble, common.round_trip) = (*own, self.round_trip);
        }
    }

    /// What it has done since it began.
    pub(crate) fn tally(&self) -> Tally {
        self.rare.tally
    }

    /// Time with data on the way, and the part of it that the buffers held it back.
    pub(crate) fn held_back(&self, now: Time) -> (Span, Span) {
        self.rare.held_back.until(now)
    }

    /// Whether something waits for an acknowledgement.
    #[inline]
    pub(crate) fn is_outstanding(&self) -> bool {
        self.next > self.una || self.phase == Phase::Connecting
    }

    /// Whether it waits for its connection.
    #[inline]
    pub(crate) fn is_connecting(&self) -> bool {
        self.phase == Phase::Connecting
    }

    /// The connection stands.
    pub(crate) fn on_connected(&mut self, round_trip: Span, now: Time) {
        self.phase = Phase::Open;
        // Karn's rule: without timestamps it is unknown which of several requests was answered.
        if self.rules.timestamps || self.rare.tally.timeouts == 0 {
            self.round_trip.on_sample(round_trip);
            self.round_trip.recovered();
        }
        self.timeout.clear();
        self.control.on_connected(&mut self.window, round_trip, now);
        self.bound_window();
    }

    /// A window that is not used does not grow (RFC 9438 section 5.8, RFC 7661).
    #[inline]
    fn bound_window(&mut self) {
        self.window.size = self.window.size.min(f64::from(self.outstanding_max));
    }

    /// An acknowledgement arrives; tells whether the retransmission timer starts anew: new data was
    /// acknowledged in order, or a repair begins.
    pub(crate) fn on_ack(&mut self, ack: &Packet, now: Time) -> bool {
        let (before, phase, waits) = (self.una, self.phase, self.waits_for());
        debug_assert!(
            ack.number <= self.highest,
            "acknowledged what was never sent"
        );
        let advanced = ack.number.saturating_sub(before);
        let mut round_trip = None;
        if advanced > 0 {
            self.una += advanced;
            self.next = self.next.max(self.una);
            round_trip = self.measure(ack, now);
        }
        if ack.flags.has(Flags::ECHO) {
            self.on_mark(now);
        }
        if self.rare.tail.is_probing()
            && self.rare.tail.has_repaired(ack, advanced)
            && self.phase == Phase::Open
        {
            self.reduce(now);
        }
        let (delivered, lost) = match self.repair {
            Repair::Selective(rule) => self.read_selective(ack, before, rule, now),
            _ => (advanced, 0),
        };
        match self.repair {
            Repair::Selective(_) => self.proceed_selective(now),
            _ => self.proceed_by_duplicates(advanced, ack.number == before, now),
        }
        if delivered > 0 {
            if ack.flags.has(Flags::ECHO) {
                self.rare.tally.mark_echoed += u64::from(delivered);
            }
            let news = News {
                advanced,
                delivered,
                lost,
                round_trip,
            };
            self.grow(news, ack.flags.has(Flags::ECHO), now);
        }
        advanced > 0
            || self.phase == Phase::Recovery && phase != Phase::Recovery
            || self.waits_for() != waits
    }

    /// New data was acknowledged: what that says about the round trip. A measurement ends the
    /// doubling of timeouts (RFC 6298 section 5.7).
    #[inline]
    fn measure(&mut self, ack: &Packet, now: Time) -> Option<Span> {
        let sent = match (self.rules.timestamps, self.timed_end) {
            (true, _) => ack.sent,
            (false, Some(end)) if end.get() <= self.una => {
                self.timed_end = None;
                self.timed_at
            }
            (false, _) => return None,
        };
        let sample = now.since(sent);
        self.round_trip.on_sample(sample);
        self.round_trip.recovered();
        Some(sample)
    }

    /// Whether its segments say that they understand marks whatever the hosts' TCP does.
    #[inline]
    pub(crate) fn always_speaks_ecn(&self) -> bool {
        self.control.always_speaks_ecn()
    }

    #[inline]
    fn grow(&mut self, news: News, echoes_mark: bool, now: Time) {
        let acked = Acked {
            now,
            delivered: news.delivered,
            lost: news.lost,
            // What was selectively acknowledged before has been counted before.
            growth: self.rules.growth.of(match news.advanced {
                0 => 0,
                _ => news.delivered,
            }),
            round_trip: news.round_trip,
            round_trip_smoothed: self.round_trip.smoothed().unwrap_or(Span::ZERO),
            round_trip_min: self.round_trip.min,
            pipe: self.pipe(),
            una: self.una,
            next: self.next,
            must_not_grow: self.phase == Phase::Recovery || echoes_mark,
            in_recovery: self.phase == Phase::Recovery,
            after_timeout: self.phase == Phase::Loss,
        };
        self.control.on_ack(&mut self.window, &acked);
        if self.phase == Phase::Recovery
            && let Some(prr) = &mut self.rare.prr
        {
            let safe = news.advanced > 0 && news.lost == 0;
            self.window.size = prr.on_ack(news.delivered, acked.pipe, safe);
        }
        self.bound_window();
    }

    /// Segments on the way, as far as the sender can tell.
    #[inline]
    pub(crate) fn pipe(&self) -> u32 {
        match self.tainted {
            true => self.rare.board.pipe(self.una, self.next),
            false => self.next - self.una,
        }
    }
}

#[cfg(test)]
mod tests;
