//! The model of the path, and the rate and window that follow from it.

use units::{Bytes, Rate, Span, Time};

use crate::chance_loss::{ChanceLoss, RoundSeen};
use crate::delivery::{Delivery, Sample};
use crate::filters::{Maximum, Minimum};
use crate::overflow::Overflow;
use crate::shared::Shared;

/// Lost packets of a round below which chance decides ("BBRStartupFullLossCnt" and the like).
const LOSSES_MIN: u64 = 8;

/// Pacing and window while the rate still grows: the pacing doubles the rate each round (version 2,
/// section 2.5).
const STARTUP_PACING: f64 = 2.77;
const STARTUP_WINDOW: f64 = 2.0;
/// Growth of the bandwidth in [`FULL_ROUNDS`] rounds below which the path is full.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
const DRAIN_PACING: f64 = 0.35;
const DOWN_PACING: f64 = 0.75;
const UP_PACING: f64 = 1.25;
/// The window in products of bandwidth and round trip.
const WINDOW: f64 = 2.0;
/// The share of the largest safe window that is used between probes.
const HEADROOM: f64 = 0.85;
/// What is left of the short-term bounds after a round with too much loss.
const BETA: f64 = 0.7;
/// The pacing is below the bandwidth, so that no queue stands.
const MARGIN: f64 = 0.99;

/// Time between probes for bandwidth: this, and up to [`PROBE_SPREAD`] more.
const PROBE_MIN: Span = Span::from_secs(2);
const PROBE_SPREAD: Span = Span::from_secs(1);
/// The smallest round trip is looked for again when it is so old.
const ROUND_TRIP_AGE: Span = Span::from_secs(10);
const PROBE_RTT_TIME: Span = Span::from_millis(200);
const PROBE_RTT_WINDOW: f64 = 0.5;

/// Pacing beside others, in windows for each round trip, and the window of a probe in products of
/// the rate and the smallest round trip.
const SHARED_PACING: f64 = 1.25;
const SHARED_PROBE: f64 = 0.95;
/// Rounds with a queue after which it is of others: the first ones may be this sender's.
const QUEUED_ROUNDS: u32 = 3;

/// Rounds after which the longest delay is looked for anew, and the share of the smallest round
/// trip below which a delay is none.
const DELAY_ROUNDS: u64 = 64;
const DELAY_MIN: f64 = 0.01;

const FIRST_SEGMENTS: u64 = 32;
const LEAST_SEGMENTS: u64 = 4;
/// Round trip before any is known.
const FIRST_ROUND_TRIP: Span = Span::from_millis(1);

/// What leaves at once: the time that it takes at the pacing rate, and its bounds. The upper one is
/// what the kernel takes in one call.
const QUANTUM_TIME: Span = Span::from_micros(500);
const QUANTUM_MAX: Bytes = Bytes::new(64_000);
/// Quanta that may be on the way beyond the window: one here, one there, one in between.
const QUANTA: u64 = 3;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// The rate doubles each round.
    Startup { full: f64, rounds: u32 },
    /// The queue of the startup empties.
    Drain,
    /// The queue of a probe empties.
    Down,
    /// Until the next probe.
    Cruise { until: Time },
    /// One round at the bandwidth, so that a probe meets a full pipe.
    Refill { rounds: u64 },
    /// Is there more bandwidth?
    Up { since: Time, rounds: u64 },
    /// Is the round trip smaller with little on the way? The time until when, once little is.
    ProbeRtt { until: Option<Time> },
    /// Others fill the queue, too: the window is CUBIC's.
    Shared,
}

/// Bytes of the present round.
#[derive(Debug, Clone, Copy, Default)]
struct Round {
    /// It ends when a packet is acknowledged that left after so much had arrived.
    ends_at: Bytes,
    count: u64,
    delivered: Bytes,
    lost: Bytes,
    /// The highest rate of a sample, in bits per second.
    rate: f64,
    /// Too much of it was lost, and that has been acted on.
    was_lossy: bool,
    /// Sum and number of the round trips of its samples, in seconds.
    delays: (f64, f64),
}

impl Round {
    fn take_delay(&mut self, round_trip: Span) {
        self.delays.0 += round_trip.as_secs_f64();
        self.delays.1 += 1.0;
    }
}

/// Acknowledgements that came faster than the bandwidth, because something on the way held them
/// back (Linux `bbr_update_ack_aggregation`).
#[derive(Debug, Clone)]
struct Aggregation {
    since: Time,
    acked: Bytes,
    extra: Maximum<10>,
}

/// The model of one path.
#[derive(Debug, Clone)]
pub struct PathModel {
    delivery: Delivery,
    segment: Bytes,
    /// Bits per second, of the present and the last cycle of probing.
    bandwidth: Maximum<2>,
    round_trip: Minimum,
    chance_loss: ChanceLoss,
    overflow: Overflow,
    /// The window beside others, from a full queue on until it is known that there are none.
    shared: Option<Shared>,
    /// Losses until so much has arrived are of what was on the way when the queue was full.
    answered: Bytes,
    /// Rounds in a row of a cruise in which a queue stood.
    queued_rounds: u32,
    /// The longest mean round trip of a round, in seconds.
    delay: Maximum<2>,
    phase: Phase,
    round: Round,
    aggregation: Aggregation,
    acked: Bytes,
    in_flight: Bytes,
    /// The most that may be on the way without too much loss, where that was met.
    window_max: Option<Bytes>,
    /// Short-term bounds after too much loss, until the next probe.
    rate_bound: Option<f64>,
    window_bound: Option<Bytes>,
    /// When a mark was answered last.
    mark_answered: Option<Time>,
    cycles: u64,
}

impl PathModel {
    /// Nothing was sent yet.
    ///
    /// * `segment`: bytes of a packet.
    pub fn new(now: Time, segment: Bytes) -> Self {
        PathModel {
            delivery: Delivery::new(now),
            segment,
            bandwidth: Maximum::new(),
            round_trip: Minimum::new(now),
            chance_loss: ChanceLoss::new(),
            overflow: Overflow::new(now),
            shared: None,
            answered: Bytes::ZERO,
            queued_rounds: 0,
            delay: Maximum::new(),
            phase: Phase::Startup {
                full: 0.0,
                rounds: 0,
            },
            round: Round::default(),
            aggregation: Aggregation {
                since: now,
                acked: Bytes::ZERO,
                extra: Maximum::new(),
            },
            acked: Bytes::ZERO,
            in_flight: Bytes::ZERO,
            window_max: None,
            rate_bound: None,
            window_bound: None,
            mark_answered: None,
            cycles: 0,
        }
    }

    /// Bytes of a packet from now on.
    pub fn set_segment(&mut self, segment: Bytes) {
        self.segment = segment;
    }

    /// Packets leave.
    pub fn on_sent(&mut self, now: Time, bytes: Bytes) {
        self.delivery.on_sent(now, self.in_flight == Bytes::ZERO);
        self.in_flight += bytes;
    }

    /// A packet that left at `sent` was acknowledged. [`on_acks_end`](Self::on_acks_end) follows
    /// the last of a batch.
    pub fn on_acked(&mut self, now: Time, sent: Time, bytes: Bytes) {
        self.delivery.on_acked(now, sent, bytes);
        self.acked += bytes;
        self.round.delivered += bytes;
    }

    /// So much is lost.
    pub fn on_lost(&mut self, bytes: Bytes) {
        self.round.lost += bytes;
        let is_news = self.is_settled() && !self.is_answering();
        if is_news && self.overflow.on_lost(self.packets(bytes)) {
            self.on_overflow();
        } else if !self.round.was_lossy && self.is_lossy() {
            self.round.was_lossy = true;
            self.on_too_much_loss();
        }
    }

    /// An acknowledgement told of further marks (ECN); its last packet left at `sent`.
    ///
    /// It counts as too much loss does, for chance marks nothing, and once for all that were on the
    /// way together (RFC 9002, section 7.3.2).
    pub fn on_marked(&mut self, now: Time, sent: Time) {
        let is_answered = self.mark_answered.is_some_and(|at| sent <= at);
        if self.round.was_lossy || is_answered {
            return;
        }
        self.mark_answered = Some(now);
        self.round.was_lossy = true;
        match self.is_settled() {
            true => self.on_overflow(),
            false => self.on_too_much_loss(),
        }
    }

    /// All packets of an acknowledgement were told.
    ///
    /// * `in_flight`: bytes on the way now.
    /// * `is_app_limited`: there is nothing left to send.
    pub fn on_acks_end(&mut self, now: Time, in_flight: Bytes, is_app_limited: bool) {
        self.in_flight = in_flight;
        if is_app_limited {
            self.delivery.on_app_limited(in_flight);
        }
        let acked = std::mem::take(&mut self.acked);
        let round_trip_min = self.round_trip();
        let Some(sample) = self.delivery.on_acks_end(now, round_trip_min) else {
            return;
        };
        let is_round_start = self.take_sample(now, &sample, acked);
        self.aggregate(now, acked);
        self.raise_window_max(acked);
        self.grow_shared(now, acked, sample.is_app_limited);
        self.advance(now, &sample, is_round_start);
    }

    /// Bytes per time that the path carries, as far as is known.
    pub fn bandwidth(&self) -> Rate {
        Rate::from_f64(self.bandwidth.value())
    }

    /// Bytes that arrived so far.
    pub fn delivered(&self) -> Bytes {
        self.delivery.delivered()
    }

    /// How fast packets are to leave.
    pub fn pacing_rate(&self) -> Rate {
        // With less, a path that was out for a while would never be tried again.
        let least = Rate::of(self.segment.times(LEAST_SEGMENTS), self.round_trip());
        if let (Phase::Shared, Some(shared)) = (self.phase, &self.shared) {
            return Rate::from_f64(SHARED_PACING * self.shared_rate(shared)).max(least);
        }
        let gain = match self.phase {
            Phase::Startup { .. } => STARTUP_PACING,
            Phase::Drain => DRAIN_PACING,
            Phase::Down => DOWN_PACING,
            Phase::Up { .. } => UP_PACING,
            Phase::Cruise { .. } | Phase::Refill { .. } => 1.0,
            Phase::ProbeRtt { .. } | Phase::Shared => 1.0,
        };
        let bandwidth = self.known_bandwidth().max(match self.phase {
            // What a handshake carried says nothing of the path.
            Phase::Startup { .. } => Rate::of(self.first_window(), self.round_trip()).as_f64(),
            _ => 0.0,
        });
        Rate::from_f64(gain * MARGIN * bandwidth).max(least)
    }

    /// How much may be on the way.
    pub fn window(&self) -> Bytes {
        let least = self.segment.times(LEAST_SEGMENTS);
        let gain = match self.phase {
            Phase::Startup { .. } => STARTUP_WINDOW,
            Phase::ProbeRtt { .. } => return self.probe_window().max(least),
            Phase::Shared => return self.shared_window().max(least),
            _ => WINDOW,
        };
        let extra = Bytes::new(self.aggregation.extra.value() as u64);
        // Two products hold what acknowledgements are late by, except on short paths.
        let product = self.bytes(1.0);
        let mut window = self.bytes(gain).max(product + extra) + self.quantum().times(QUANTA);
        if let Phase::Startup { .. } = self.phase {
            window = window.max(self.first_window());
        }
        if let Some(most) = self.window_max {
            window = window.min(match self.phase {
                Phase::Cruise { .. } | Phase::Down => Bytes::new((most.as_f64() * HEADROOM) as u64),
                _ => most,
            });
        }
        window.min(self.window_bound.unwrap_or(window)).max(least)
    }

    /// What may leave at once.
    pub fn quantum(&self) -> Bytes {
        let least = self.segment.times(2);
        self.pacing_rate()
            .bytes_in(QUANTUM_TIME)
            .clamp(least, QUANTUM_MAX.max(least))
    }

    /// The smallest round trip of the last seconds.
    pub fn round_trip(&self) -> Span {
        self.round_trip.value().unwrap_or(FIRST_ROUND_TRIP)
    }

    fn packets(&self, bytes: Bytes) -> f64 {
        bytes.as_f64() / self.segment.as_f64()
    }

    fn first_window(&self) -> Bytes {
        self.segment.times(FIRST_SEGMENTS)
    }

    /// Bits per second, within the short-term bound.
    fn known_bandwidth(&self) -> f64 {
        let bound = self.rate_bound.unwrap_or(f64::INFINITY);
        self.bandwidth.value().min(bound)
    }

    /// So many products of bandwidth and round trip.
    fn bytes(&self, products: f64) -> Bytes {
        let bandwidth = self.known_bandwidth();
        Bytes::new((products * bandwidth / 8.0 * self.round_trip().as_secs_f64()) as u64)
    }

    /// Returns whether a round begins.
    fn take_sample(&mut self, now: Time, sample: &Sample, acked: Bytes) -> bool {
        self.round_trip.add(now, sample.round_trip);
        let (packets, least) = (self.packets(acked), self.round_trip());
        self.overflow.on_acked(packets, sample.round_trip, least);
        let rate = sample.rate.map_or(0.0, Rate::as_f64);
        if !sample.is_app_limited || rate >= self.bandwidth.value() {
            self.bandwidth.add(rate);
        }
        self.round.rate = self.round.rate.max(rate);
        self.round.take_delay(sample.round_trip);
        let is_round_start = sample.prior_delivered >= self.round.ends_at;
        if is_round_start {
            let arrived = self.packets(self.round.delivered);
            let lost = self.packets(self.round.lost);
            let is_looking = matches!(self.phase, Phase::ProbeRtt { .. });
            let seen = RoundSeen {
                packets: arrived + lost,
                lost,
                is_queued: self.is_queued(),
                may_begin: !is_looking && !sample.is_app_limited,
            };
            if self.chance_loss.add(seen) {
                self.begin_again();
            }
            self.round = Round {
                ends_at: self.delivery.delivered(),
                count: self.round.count + 1,
                ..Round::default()
            };
            self.aggregation.extra.advance();
            self.overflow.on_round(now);
        }
        is_round_start
    }

    /// Whether the round trips of the present round are nearer to the longest than to the smallest.
    fn is_queued(&mut self) -> bool {
        let (sum, number) = self.round.delays;
        let (mean, least) = (sum / number.max(1.0), self.round_trip().as_secs_f64());
        if self.round.count.is_multiple_of(DELAY_ROUNDS) {
            self.delay.advance();
        }
        self.delay.add(mean);
        let waited = mean - least;
        waited > least * DELAY_MIN && waited > 0.5 * (self.delay.value() - least)
    }

    fn aggregate(&mut self, now: Time, acked: Bytes) {
        let one = &mut self.aggregation;
        let bandwidth = self.bandwidth.value();
        let expected = |since: Time| bandwidth / 8.0 * now.since(since).as_secs_f64();
        if one.acked.as_f64() <= expected(one.since) {
            (one.since, one.acked) = (now, Bytes::ZERO);
        }
        one.acked += acked;
        let most = self.in_flight + acked;
        let extra = one.acked.as_f64() - expected(one.since);
        one.extra.add(extra.clamp(0.0, most.as_f64()));
    }

    /// Whether more of this round is lost than any may lose, or than chance explains.
    fn is_lossy(&self) -> bool {
        let lost = self.round.lost;
        let all = (self.round.delivered + lost).max(self.bytes(1.0));
        let most = self.chance_loss.share_max() * all.as_f64();
        let too_much = lost >= self.segment.times(LOSSES_MIN) && lost.as_f64() > most;
        too_much || self.is_beyond_chance(lost, all)
    }

    /// The start loses more when it meets a full queue, before chance is known; and with little on
    /// the way there is little to give up.
    fn is_beyond_chance(&self, lost: Bytes, all: Bytes) -> bool {
        let most = self.chance_loss.most_of(self.packets(all));
        self.is_settled() && most.is_some_and(|most| self.packets(lost) > most)
    }

    fn is_settled(&self) -> bool {
        match self.phase {
            Phase::Startup { .. } | Phase::Drain | Phase::ProbeRtt { .. } => false,
            Phase::Down | Phase::Cruise { .. } | Phase::Refill { .. } => true,
            Phase::Up { .. } | Phase::Shared => true,
        }
    }

    /// A packet was lost in a full queue, or marked: once for all that were on the way together.
    fn on_overflow(&mut self) {
        if self.is_answering() {
            return;
        }
        self.answered = self.delivery.delivered() + self.in_flight;
        self.begin_shared();
        if let Some(shared) = &mut self.shared {
            shared.cut();
        }
        self.bandwidth.advance();
    }

    fn is_answering(&self) -> bool {
        self.delivery.delivered() < self.answered
    }

    /// The window is CUBIC's from now on, beginning with what is on the way.
    fn begin_shared(&mut self) {
        // What the start has sent too much is on the way, too.
        let waited = self.overflow.round_trip().unwrap_or(FIRST_ROUND_TRIP);
        let fits = self.bandwidth().bytes_in(waited);
        let size = self.packets(self.in_flight.min(fits));
        self.shared.get_or_insert_with(|| Shared::new(size));
        (self.rate_bound, self.window_bound, self.window_max) = (None, None, None);
        self.phase = Phase::Shared;
    }

    /// A queue that stands while this sender keeps its rate is of others.
    fn meet_queue(&mut self) {
        match self.overflow.is_long(QUANTUM_TIME.times(2 * QUANTA)) {
            true => self.queued_rounds += 1,
            false => self.queued_rounds = 0,
        }
        if self.queued_rounds >= QUEUED_ROUNDS {
            self.begin_shared();
        }
    }

    fn shared_window(&self) -> Bytes {
        let size = self.shared.as_ref().map_or(0.0, Shared::size);
        Bytes::new((size * self.segment.as_f64()) as u64)
    }

    /// Bits per second at which a window of such a size is sent.
    fn shared_rate(&self, shared: &Shared) -> f64 {
        let round_trip = self.overflow.round_trip().unwrap_or(FIRST_ROUND_TRIP);
        let round_trip = round_trip.max(FIRST_ROUND_TRIP);
        shared.size() * self.segment.as_f64() * 8.0 / round_trip.as_secs_f64()
    }

    /// While the window binds.
    fn grow_shared(&mut self, now: Time, acked: Bytes, is_app_limited: bool) {
        let is_answering = self.is_answering();
        let bound = self.in_flight + acked + self.quantum() < self.shared_window();
        if self.phase != Phase::Shared || is_app_limited || is_answering || bound {
            return;
        }
        let round_trip = self.overflow.round_trip().unwrap_or(FIRST_ROUND_TRIP);
        let acked = self.packets(acked);
        if let Some(shared) = &mut self.shared {
            shared.grow(now, round_trip, acked);
        }
    }

    /// The window by which a smaller round trip is looked for. Beside others it takes away what
    /// this sender has in the queue.
    fn probe_window(&self) -> Bytes {
        match &self.shared {
            Some(shared) => Bytes::new((SHARED_PROBE * shared.product()) as u64),
            None => self.bytes(PROBE_RTT_WINDOW),
        }
    }

    fn on_too_much_loss(&mut self) {
        let least = Bytes::new((self.bytes(1.0).as_f64() * BETA) as u64);
        let here = self.in_flight.max(least);
        match self.phase {
            Phase::Shared => self.on_overflow(),
            // The queue is full: where only this sender filled it, as where others did.
            Phase::Startup { .. } if self.overflow.wait() > 0.0 => self.on_overflow(),
            Phase::Startup { .. } => {
                self.window_max = Some(here.max(self.bytes(1.0)));
                self.phase = Phase::Drain;
            }
            Phase::Up { .. } => {
                self.window_max = Some(here);
                self.begin_down();
            }
            _ => {
                let kept = |value: f64| BETA * value;
                let rate = self.rate_bound.unwrap_or(self.bandwidth.value());
                self.rate_bound = Some(kept(rate).max(self.round.rate));
                let window = self.window_bound.unwrap_or(self.window());
                let window = Bytes::new(kept(window.as_f64()) as u64);
                self.window_bound = Some(window.max(self.round.delivered));
                // A second such round in a row forgets a bandwidth that is not there any more.
                self.bandwidth.advance();
                self.bandwidth.add(self.round.rate);
            }
        }
    }

    /// While a probe is bound by the largest window, that grows: by one packet in the first round,
    /// two in the second, four in the third.
    fn raise_window_max(&mut self, acked: Bytes) {
        let (Phase::Up { rounds, .. }, Some(most)) = (self.phase, self.window_max) else {
            return;
        };
        if self.in_flight + acked + self.quantum() < most {
            return;
        }
        let doublings = (self.round.count - rounds).min(20);
        let step = self.segment.as_f64() * f64::from(1_u32 << doublings);
        let share = acked.as_f64() / most.as_f64().max(1.0);
        self.window_max = Some(most + Bytes::new((step * share).ceil() as u64));
    }

    fn advance(&mut self, now: Time, sample: &Sample, is_round_start: bool) {
        if self.is_round_trip_old(now) {
            self.keep_least();
            self.round_trip.replace(now, sample.round_trip);
            self.phase = Phase::ProbeRtt { until: None };
        }
        match &mut self.phase {
            Phase::Startup { full, rounds } => {
                if !is_round_start || sample.is_app_limited {
                    return;
                }
                let bandwidth = self.bandwidth.value();
                if bandwidth >= *full * FULL_GROWTH {
                    (*full, *rounds) = (bandwidth, 0);
                    return;
                }
                *rounds += 1;
                if *rounds >= FULL_ROUNDS {
                    self.phase = Phase::Drain;
                }
            }
            Phase::Drain => {
                if self.in_flight <= self.bytes(1.0) + self.quantum().times(QUANTA) {
                    self.begin_cruise(now);
                }
            }
            Phase::Down => {
                let most = self.window_max.map(|most| most.as_f64() * HEADROOM);
                let low = self.bytes(1.0).as_f64().min(most.unwrap_or(f64::INFINITY));
                let low = Bytes::new(low as u64) + self.quantum().times(QUANTA);
                if self.in_flight <= low {
                    self.begin_cruise(now);
                }
            }
            Phase::Cruise { until } => {
                let is_over = now >= *until;
                self.cruise(is_over, is_round_start);
            }
            Phase::Refill { rounds } => {
                if self.round.count > *rounds + 1 {
                    self.phase = Phase::Up {
                        since: now,
                        rounds: self.round.count,
                    };
                }
            }
            Phase::Up { since, .. } => {
                let is_long = now.since(*since) > self.round_trip();
                let queue = self.bytes(UP_PACING) + self.quantum().times(QUANTA);
                if is_long && self.in_flight >= queue {
                    self.begin_down();
                }
            }
            Phase::ProbeRtt { until } => {
                let until = *until;
                self.probe_round_trip(now, until);
            }
            Phase::Shared if is_round_start => self.look_for_room(),
            Phase::Shared => {}
        }
    }

    fn cruise(&mut self, is_over: bool, is_round_start: bool) {
        if is_round_start {
            self.meet_queue();
        }
        if is_over && self.shared.is_none() {
            (self.rate_bound, self.window_bound) = (None, None);
            self.phase = Phase::Refill {
                rounds: self.round.count,
            };
        }
    }

    /// Others have left room where the window is far beyond the last cut and nothing waits.
    fn look_for_room(&mut self) {
        let has_room = self.shared.as_ref().is_some_and(Shared::has_room);
        if has_room && self.overflow.wait() == 0.0 {
            self.leave_shared();
            self.phase = Phase::Refill {
                rounds: self.round.count,
            };
        }
    }

    fn is_round_trip_old(&self, now: Time) -> bool {
        match self.phase {
            Phase::Startup { .. } | Phase::ProbeRtt { .. } => false,
            _ => self.round_trip.is_older(now, ROUND_TRIP_AGE),
        }
    }

    fn probe_round_trip(&mut self, now: Time, until: Option<Time>) {
        match until {
            None if self.in_flight <= self.window() + self.segment => {
                let until = now + PROBE_RTT_TIME.max(self.round_trip());
                self.phase = Phase::ProbeRtt { until: Some(until) };
            }
            Some(until) if now >= until => {
                self.round_trip.renew(now);
                self.end_probe(now);
            }
            _ => {}
        }
    }

    /// What a probe beside others needs: the round trip that it is to find, and the rate now.
    fn keep_least(&mut self) {
        let least = self.round_trip();
        let rate = self.shared.as_ref().map(|shared| self.shared_rate(shared));
        if let (Some(shared), Some(rate)) = (&mut self.shared, rate) {
            shared.begin_probe(least, rate);
        }
    }

    /// Where the queue did not empty with the part of it that was this sender's, others fill it.
    fn end_probe(&mut self, now: Time) {
        let found = self.round_trip();
        let longest = self.overflow.longest();
        match self
            .shared
            .as_mut()
            .and_then(|shared| shared.stays(found, longest))
        {
            Some(least) => {
                self.round_trip.replace(now, least);
                self.phase = Phase::Shared;
            }
            None => {
                self.leave_shared();
                self.begin_cruise(now);
            }
        }
    }

    /// The bandwidth is what is sent now.
    fn leave_shared(&mut self) {
        let rate = self.shared.as_ref().map(|shared| match self.phase {
            Phase::ProbeRtt { .. } => shared.rate(),
            _ => self.shared_rate(shared),
        });
        if let Some(rate) = rate {
            self.bandwidth = Maximum::new();
            self.bandwidth.add(rate);
        }
        self.shared = None;
    }

    /// The rate grows as at first: losses by chance had held it back.
    fn begin_again(&mut self) {
        (self.rate_bound, self.window_bound, self.window_max) = (None, None, None);
        self.shared = None;
        self.phase = Phase::Startup {
            full: 0.0,
            rounds: 0,
        };
    }

    fn begin_down(&mut self) {
        self.bandwidth.advance();
        self.phase = Phase::Down;
    }

    /// The times between probes differ, so that flows that began together do not probe together:
    /// multiples of the golden ratio fall everywhere.
    fn begin_cruise(&mut self, now: Time) {
        self.cycles += 1;
        self.queued_rounds = 0;
        let share = (self.cycles as f64 * 0.618_034).fract();
        let spread = Span::from_secs_f64(PROBE_SPREAD.as_secs_f64() * share);
        self.phase = Phase::Cruise {
            until: now + PROBE_MIN + spread,
        };
    }
}
