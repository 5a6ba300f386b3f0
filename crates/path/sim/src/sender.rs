//! The sending end of a flow: what to send when, and what to make of acknowledgements.

use std::num::NonZeroU32;
use std::sync::Arc;

use units::{Bytes, Rate, Span, Time};

use crate::Variant;
use crate::control::{Acked, Common, Control, Facts, Window};
use crate::held_back::HeldBack;
use crate::pacer::Pacer;
use crate::packet::{Flags, Packet};
use crate::prr::Prr;
use crate::round_trip::{RoundTrip, TimeoutFloor};
use crate::scenario::Growth;
use crate::scoreboard::{DUPLICATES, LossRule, Scoreboard};
use crate::tail::{self, Tail, Wait};
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

    /// How fast segments may leave: what congestion control says, up to what the stream may.
    #[inline]
    fn pacing(&self) -> Option<Rate> {
        match (self.control.pacing(), self.rules.pacing_max) {
            (Some(rate), Some(max)) => Some(rate.min(max)),
            (rate, max) => rate.or(max),
        }
    }

    /// Until when pacing lets nothing leave; `None` when something may leave `now`.
    #[inline]
    pub(crate) fn pacing_waits(&self, now: Time) -> Option<Time> {
        self.pacing().and_then(|_| self.rare.pacer.waits(now))
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

    /// How long to wait from now on before the timer goes off.
    #[inline]
    pub(crate) fn patience(&self) -> Span {
        let timeout = self.round_trip.timeout(self.rules.timeout_floor);
        let smoothed = self.round_trip.smoothed().unwrap_or(timeout);
        match self.waits_for() {
            Wait::Answer => timeout,
            Wait::Probe => {
                let least = self.rules.timeout_floor.least();
                tail::probe_after(smoothed, self.outstanding(), least, timeout)
            }
            Wait::Late => tail::late_after(self.round_trip.min, smoothed).min(timeout),
        }
    }

    /// What the timer is for: hosts as Linux have one for three purposes.
    #[inline]
    fn waits_for(&self) -> Wait {
        if !self.rules.kernel || self.phase != Phase::Open || !self.is_selective() {
            return Wait::Answer;
        }
        match self.tainted {
            true if self.rules.by_time && self.rare.board.has_arrivals() => Wait::Late,
            false if !self.rare.tail.is_probing() => Wait::Probe,
            _ => Wait::Answer,
        }
    }

    #[inline]
    fn is_selective(&self) -> bool {
        matches!(self.repair, Repair::Selective(_))
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

    /// A segment of so many bytes leaves. Without timestamps, times a new segment when none is
    /// being timed, and no longer one that is sent again.
    #[inline]
    pub(crate) fn on_sent(&mut self, outgoing: Outgoing, size: Bytes, now: Time) {
        if let Some(rate) = self.pacing() {
            self.rare.pacer.on_sent(size, rate, now);
        }
        let first = outgoing.number == self.una && self.next == self.una + 1;
        self.control.on_sent(outgoing.number, self.una, first, now);
        if let Some(prr) = &mut self.rare.prr {
            prr.on_sent();
        }
        if !self.rules.timestamps {
            self.time(outgoing, now);
        }
    }

    #[inline]
    fn time(&mut self, outgoing: Outgoing, now: Time) {
        let end = NonZeroU32::new(outgoing.number + 1);
        match self.timed_end {
            None if !outgoing.again => (self.timed_end, self.timed_at) = (end, now),
            timed if timed == end => self.timed_end = None,
            _ => {}
        }
    }

    /// Keeps the scoreboard; tells how many segments were delivered and how many more are lost.
    #[inline]
    fn read_selective(
        &mut self,
        ack: &Packet,
        before: u32,
        rule: LossRule,
        now: Time,
    ) -> (u32, u32) {
        let (mut delivered, mut lost) = (self.una - before, 0);
        let certain = self.phase != Phase::Open || self.rare.tail.has_arrived(ack);
        self.control.on_delivered(before..self.una, now);
        if self.tainted && delivered > 0 {
            delivered -= self.rare.board.acknowledge(before, self.una);
            self.tainted = !self.rare.board.is_clear(self.una);
        }
        let forgetful = self.phase == Phase::Loss && self.rules.timeout_forgets;
        if ack.block_count > 0 && !forgetful {
            let control = &mut self.control;
            let blocks = ack.sacked();
            let newly = self
                .rare
                .board
                .sack(self.una, self.highest, blocks, |part| {
                    control.on_delivered(part, now)
                });
            if newly > 0 {
                self.tainted = true;
                lost = match (rule, self.rules.by_time) {
                    (LossRule::ThirdAbove, true) => {
                        self.rare.board.judge_by_time(self.una, certain)
                    }
                    _ => self.rare.board.judge(self.una, rule),
                };
            }
            delivered += newly;
        }
        if self.tainted && self.rules.watches_repairs {
            lost += self.rare.board.lose_repairs(self.una);
        }
        (delivered, lost)
    }

    /// RFC 6675 section 5: into recovery and out of it.
    #[inline]
    fn proceed_selective(&mut self, now: Time) {
        if self.phase != Phase::Open && self.una >= self.recover {
            self.phase = Phase::Open;
            if let Some(prr) = self.rare.prr.take() {
                self.window.size = prr.target();
            }
        }
        if self.tainted && self.phase == Phase::Open && self.rare.board.has_lost(self.una) {
            self.enter_recovery(now);
        }
    }

    /// Counts duplicates where nothing tells more (RFC 5681 section 3.2, RFC 6582).
    fn proceed_by_duplicates(&mut self, advanced: u32, repeats: bool, now: Time) {
        if advanced > 0 {
            self.duplicates = 0;
            self.on_progress(advanced);
        } else if repeats && self.next > self.una {
            self.duplicates += 1;
            self.inflation += 1;
            if self.duplicates == DUPLICATES && self.is_fresh() {
                self.enter_recovery(now);
            }
        }
    }

    /// RFC 6582 section 3.2 step 2: duplicates tell of a new loss only once more is acknowledged
    /// than was outstanding at the one before; until then they may come from what was repeated
    /// needlessly.
    fn is_fresh(&self) -> bool {
        self.phase == Phase::Open && (self.una > self.recover || self.recover == 0)
    }

    fn on_progress(&mut self, advanced: u32) {
        let repaired = self.una >= self.recover;
        match (self.phase, self.repair) {
            (Phase::Loss, _) if repaired => self.phase = Phase::Open,
            (Phase::Recovery, Repair::NewReno) if !repaired => {
                // RFC 6582 section 3.2 step 3: a partial acknowledgement.
                self.must_repair = true;
                self.inflation = self.inflation.saturating_sub(advanced) + 1;
            }
            (Phase::Recovery, _) => self.phase = Phase::Open,
            _ => {}
        }
    }

    fn enter_recovery(&mut self, now: Time) {
        self.recover = self.highest;
        self.must_repair = true;
        self.rare.tail.clear();
        // RFC 3168 section 6.1.2: once for all marks and losses of a window.
        if self.una >= self.reduced_at {
            let before = self.window.size;
            self.reduce(now);
            if self.rules.kernel && self.is_selective() && self.control.reduces_in_proportion() {
                self.rare.prr = Some(Prr::new(before, self.window.size));
            }
        }
        if self.repair == Repair::Tahoe {
            self.window.size = 1.0;
            self.next = self.una;
            self.phase = Phase::Loss;
            self.must_repair = false;
        } else {
            self.phase = Phase::Recovery;
            self.inflation = DUPLICATES;
        }
    }

    /// RFC 3168 section 6.1.2: a mark counts as a loss, once a round trip. The segment that tells
    /// the receiver of a reduction is the first one sent after it, so an acknowledgement of all
    /// before that one still echoes the old mark; what is beyond tells of a new one.
    fn on_mark(&mut self, now: Time) {
        let is_new = self.una > self.reduced_at || self.reduced_at == 0;
        if self.phase == Phase::Open && is_new {
            self.control.on_mark(&mut self.window, now);
            self.has_reduced();
        }
    }

    fn reduce(&mut self, now: Time) {
        self.control.on_congestion(&mut self.window, now);
        self.has_reduced();
    }

    fn has_reduced(&mut self) {
        self.tells_reduction = true;
        self.reduced_at = self.highest;
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

    /// The timer went off.
    pub(crate) fn on_timeout(&mut self, now: Time) {
        match self.waits_for() {
            Wait::Answer => self.on_no_answer(now),
            Wait::Probe => self.rare.tail.begin(),
            Wait::Late => {
                self.rare.board.judge_by_time(self.una, true);
                self.proceed_selective(now);
                let pipe = self.pipe();
                if let Some(prr) = &mut self.rare.prr {
                    self.window.size = prr.on_ack(1, pipe, false);
                }
            }
        }
    }

    /// Nothing was acknowledged for too long (RFC 6298 section 5, RFC 5681 section 3.1).
    fn on_no_answer(&mut self, now: Time) {
        self.rare.tally.timeouts += 1;
        self.round_trip.back_off();
        if self.phase == Phase::Connecting {
            // RFC 5681 section 3.1: one segment when the request or its answer was lost.
            self.window.size = 1.0;
            return;
        }
        self.tells_reduction = true;
        self.reduced_at = self.highest;
        self.rare.tail.clear();
        let prr = self.rare.prr.take();
        match (self.phase == Phase::Loss && self.una < self.recover, prr) {
            // Held when the same data times out again.
            (true, _) => self.window.size = 1.0,
            (false, None) => self.control.on_timeout(&mut self.window, now),
            (false, Some(prr)) => {
                // The loss that is being repaired has set the threshold (`tcp_enter_loss`).
                self.window.size = prr.target();
                self.control.on_timeout(&mut self.window, now);
                self.window.threshold = prr.target();
            }
        }
        self.phase = Phase::Loss;
        self.timed_end = None;
        self.recover = self.highest;
        self.duplicates = 0;
        if matches!(self.repair, Repair::Selective(_)) && !self.rules.timeout_forgets {
            self.rare.board.lose_all(self.una, self.next);
            (self.tainted, self.must_repair) = (true, true);
        } else {
            self.rare.board.clear(self.una, self.highest);
            (self.tainted, self.must_repair) = (false, false);
            self.next = self.una;
        }
    }

    /// Whether a segment may leave now.
    #[inline]
    pub(crate) fn may_transmit(&self) -> bool {
        let new = self.next
            < self
                .una
                .saturating_add(self.outstanding_max)
                .min(self.limit);
        let open = match self.repair {
            Repair::Selective(_) => f64::from(self.pipe()) + 1.0 <= self.window.size,
            _ => f64::from(self.next - self.una) + 1.0 <= self.allowed(),
        };
        self.must_repair
            || self.rare.tail.is_due()
            || open && (new || self.tainted && self.rare.board.has_lost(self.una))
    }

    /// The next segment that may leave now.
    #[inline]
    pub(crate) fn poll_transmit(&mut self) -> Option<Outgoing> {
        if self.phase == Phase::Connecting {
            return None;
        }
        match self.repair {
            Repair::Selective(_) => self.poll_selective(),
            _ => self.poll_by_duplicates(),
        }
    }

    /// A probe of the tail: something new where the receiver has room, or else the last segment
    /// again (RFC 8985 section 7.3).
    fn poll_probe(&mut self) -> Outgoing {
        let outgoing = self.poll_new().unwrap_or(Outgoing {
            number: self.highest - 1,
            again: true,
        });
        self.rare.tail.on_sent(self.highest, outgoing.again);
        self.rare.tally.retransmitted += u64::from(outgoing.again);
        outgoing
    }

    #[inline]
    fn poll_selective(&mut self) -> Option<Outgoing> {
        if self.rare.tail.is_due() {
            return Some(self.poll_probe());
        }
        let pipe = self.pipe();
        let open = f64::from(pipe) + 1.0 <= self.window.size;
        if !open && !self.must_repair {
            return None;
        }
        let repairs = self.tainted && self.phase != Phase::Open;
        let lost = repairs.then(|| self.rare.board.next_lost(self.una));
        self.must_repair = false;
        if let Some(number) = lost.flatten() {
            match self.rules.watches_repairs {
                true => self.rare.board.repeat_watched(number, self.highest),
                false => self.rare.board.repeat(number),
            }
            self.rare.tally.retransmitted += 1;
            return Some(Outgoing {
                number,
                again: true,
            });
        }
        if open { self.poll_new() } else { None }
    }

    fn poll_by_duplicates(&mut self) -> Option<Outgoing> {
        if self.must_repair {
            self.must_repair = false;
            self.rare.tally.retransmitted += 1;
            return Some(Outgoing {
                number: self.una,
                again: true,
            });
        }
        if f64::from(self.next - self.una) + 1.0 > self.allowed() {
            return None;
        }
        self.poll_new()
    }

    /// The window, and what duplicates say has left the path (RFC 3042, RFC 5681 section 3.2 step
    /// 4).
    fn allowed(&self) -> f64 {
        let left = match self.phase {
            Phase::Recovery => self.inflation,
            Phase::Open => self.duplicates.min(DUPLICATES - 1),
            Phase::Connecting | Phase::Loss => 0,
        };
        self.window.size + f64::from(left)
    }

    /// The next segment in order: new, or once more after a timeout that forgot.
    #[inline]
    fn poll_new(&mut self) -> Option<Outgoing> {
        let number = self.next;
        let end = self
            .una
            .saturating_add(self.outstanding_max)
            .min(self.limit);
        if number >= end {
            return None;
        }
        self.next += 1;
        let again = number < self.highest;
        if again {
            self.rare.tally.retransmitted += 1;
        }
        self.highest = self.highest.max(self.next);
        Some(Outgoing { number, again })
    }

    /// All was sent that may be sent now: notes whether something is on the way, and whether the
    /// buffers and not the congestion window keep it from being more.
    #[inline]
    pub(crate) fn note_limits(&mut self, now: Time) {
        let outstanding = self.outstanding();
        let by_buffer = outstanding >= self.outstanding_max
            && self.next < self.limit
            && f64::from((self.pipe() + 1).min(self.outstanding_max)) <= self.window.size;
        let stands = (outstanding > 0, by_buffer);
        if self.noted != stands {
            self.noted = stands;
            self.rare.held_back.note(stands.0, stands.1, now);
        }
    }

    /// Whether the next segment has to tell that the window was reduced; asked once for each.
    #[inline]
    pub(crate) fn takes_reduction_notice(&mut self) -> bool {
        std::mem::take(&mut self.tells_reduction)
    }
}

#[cfg(test)]
mod tests;
