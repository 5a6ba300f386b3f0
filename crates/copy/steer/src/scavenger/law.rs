//! Constants and formulas of the scavenger's control law, each with its reason.

use units::{Span, Time};

/// First rate in bit/s: ten packets in a tenth of a second.
pub(super) const RATE_START: f64 = 1.2e6;
/// Minimum rate in bit/s: a pair of packets in a tenth of a second, so that there is a round trip
/// to measure.
pub(super) const RATE_MIN: f64 = 240e3;
/// Minimum rate of each stream in bit/s: two pairs a second, so that none seems dead.
pub(super) const STREAM_MIN: f64 = 48e3;
/// Minimum rate as a share of the path rate: 2 %, too little to disturb other flows.
pub(super) const LEAST: f64 = 0.02;
/// Share of the rate that is kept at a loss, and the least that is kept for another flow's queue
/// (LEDBAT++ section 4.2: never less than half in a round trip).
pub(super) const KEPT: f64 = 0.5;
/// Growth factor of a round until the path is known. LEDBAT++ doubles, and its last step adds a
/// round trip to the queue; this one adds a seventh of one.
pub(super) const START_GROWTH: f64 = 1.15;
/// Rates below this share of the path rate are low: they cause no losses.
pub(super) const LOW: f64 = 0.75;
/// From this share of the path rate on, the copy fills the path and causes losses itself.
pub(super) const REACHED_END: f64 = 0.85;
/// Weight of losses that cross traffic may have caused, in the path's ordinary loss rate.
pub(super) const DOUBTED: f64 = 0.1;
/// Cruising rate as a share of the path rate.
pub(super) const CRUISE: f64 = 0.95;
/// Factor by which careful steps grow more slowly.
pub(super) const CAREFUL: u64 = 4;
/// Share of an earlier congested rate from which steps are careful.
pub(super) const NEAR: f64 = 0.9;
/// Share of it up to which steps are careful.
pub(super) const BEYOND: f64 = 1.05;
/// Multiple of an earlier congested rate from which growth is that of the start: the path carries
/// more than was known.
pub(super) const FAR_BEYOND: f64 = 1.5;
/// From this share of the path rate on, a queue may be the copy's own.
pub(super) const PROBING: f64 = 0.97;
/// Hold after a cut. A queue in that time is not the copy's own, and new flows find room to grow.
pub(super) const HOLD: Span = Span::from_millis(1_500);
/// Longest hold, where only losses reveal cross traffic and each trial costs it some: a CUBIC flow
/// takes some seconds to recover from a loss.
const HOLD_MAX: Span = Span::from_secs(15);
/// Fastest fall of a real queue, in seconds per second. A link that still receives three quarters
/// of its rate drains a third (1 / 0.75 - 1), and readings are not exact.
pub(super) const FALL_MAX: f64 = 0.5;
/// A reading that comes later than this after the one before is late.
pub(super) const IN_TIME: Span = Span::from_millis(30);
/// Shortest time in which a cut drains a queue.
const DRAIN_MIN: Span = Span::from_millis(50);
/// Delivery rates are smoothed over a round, or over this time where it is longer.
pub(super) const SMOOTHED: Span = Span::from_millis(100);
/// Streams whose windows keep deliveries below this share of the rate are too few.
pub(super) const ARRIVES: f64 = 0.93;
/// The rate is not raised while windows keep deliveries below this share of it.
pub(super) const AHEAD: f64 = 0.85;
/// The same at the start, whose steps show two rounds later: 1 / 1.15^2 of the rate arrives then.
pub(super) const AHEAD_AT_START: f64 = 0.7;
/// Below this share of the rate, deliveries are limited by something else than the rate.
pub(super) const REACHED: f64 = 0.6;
/// Rate during a slowdown, as a share. LEDBAT++ (section 4.4) goes down to two packets. Three
/// quarters of the link also drain a queue of the budget's length in a small part of a round trip,
/// and the streams keep their windows in use.
pub(super) const SLOWDOWN: f64 = 0.25;
/// Length of a slowdown in round trips (LEDBAT++ section 4.4).
pub(super) const SLOWDOWN_ROUND_TRIPS: u64 = 2;
/// Rate after a slowdown, as a share of that before it.
pub(super) const BACK: f64 = 0.97;
/// Pause between slowdowns in multiples of their length: they take 5 % of the time, 10 % in
/// LEDBAT++.
const SLOWDOWN_PAUSE: u64 = 20;
/// Shortest pause between slowdowns, on short paths.
const SLOWDOWN_PERIOD_MIN: Span = Span::from_secs(10);

/// Time that a receiver waits for a second packet before it acknowledges one.
const ACK_DELAY: Span = Span::from_millis(40);
/// Smallest burst of a paced kernel: bits of two packets.
const PAIR: f64 = 2.0 * 1500.0 * 8.0;
/// Largest burst of a paced kernel, in bits.
const BURST_MAX: f64 = 65536.0 * 8.0;
/// Delay that hosts and clocks may add without any queue.
pub(super) const TARGET_MIN: Span = Span::from_millis(1);
/// The target is the delay at which packets are lost, divided by this. TCP-LP takes 15 % of single
/// one-way delays; smoothed round trips show less of a short queue.
const TARGET_PART: u64 = 4;
/// How long a short queue is remembered.
const DEPTH_REMEMBERED: Span = Span::from_secs(600);

/// Seconds without a congestion signal in which steps double.
const DOUBLING: f64 = 0.75;
/// Bounds of a step, as shares of the path rate.
const STEP_MIN: f64 = 0.002;
const STEP_MAX: f64 = 0.05;
/// Seconds in which the remembered path rate fades to a third.
const LEVEL_SECONDS: f64 = 300.0;

/// Share of the remembered path rate that is left after `passed`.
pub(super) fn level_kept(passed: Span) -> f64 {
    (-passed.as_secs_f64() / LEVEL_SECONDS).exp()
}

/// Delay at which growth ends: three quarters of the target (LEDBAT++ section 4.3 for the first
/// growth).
pub(super) fn hold_bound(target: Span) -> Span {
    Span::from_nanos(target.as_nanos() / 4 * 3)
}

/// Share of the delivery rate (50 to 95 %) that drains `queue` seconds of own queue in half a round
/// trip or 50 ms; and the time that it takes.
///
/// A queue of 10 ms and a round trip of 165 ms: sending 12.1 % less takes 10 ms out of it in 82.5
/// ms.
pub(super) fn without_queue(queue: f64, rtt: Span) -> (f64, Span) {
    let drain = (rtt.as_secs_f64() / 2.0).max(DRAIN_MIN.as_secs_f64());
    let share = (1.0 - queue / drain).clamp(KEPT, CRUISE);
    (
        share,
        Span::from_secs_f64((queue / (1.0 - share)).max(drain)),
    )
}

/// Share of the rate that is kept for another flow's queue: less by the share by which the queue
/// exceeds the target, at least half.
///
/// LEDBAT++ section 4.2: `W (delay / target - 1)` less in each round trip. A quarter beyond the
/// target costs a quarter.
pub(super) fn kept(queueing: Span, target: Span) -> f64 {
    let excess = queueing.as_secs_f64() / target.as_secs_f64() - 1.0;
    (1.0 - excess).clamp(KEPT, CRUISE)
}

/// Growth in the next round, as a share of the path rate.
///
/// Three first steps, before the first one shows, fill less than the target: 1/8, 2/8 and 3/8 of
/// it. Steps double for every 0.75 s of `free`, and more slowly by the square root of a longer
/// `hold`.
pub(super) fn step(target: Span, round: Span, free: Span, hold: Span) -> f64 {
    let first = target.as_secs_f64() / 8.0 / round.as_secs_f64();
    let first = first.clamp(STEP_MIN, STEP_MAX / 2.0);
    let doubling = DOUBLING * (hold.as_secs_f64() / HOLD.as_secs_f64()).sqrt();
    (first * (free.as_secs_f64() / doubling).exp2()).min(STEP_MAX)
}

/// Delay that the copy's own bursts cause on a link with room for all. The kernel paces in bursts
/// of a millisecond, at least two packets and at most 64 KiB, which meet by chance: of `n` even
/// streams about `sqrt(n)` bursts meet on a full link, and half of them precede a packet.
///
/// Nine streams on 45 Mbit/s, pairs of 3000 bytes: 3 / 2 * 0.533 ms.
pub(super) fn unevenness(streams: usize, level: f64, rtt: Span) -> Span {
    let (level, streams) = (level.max(RATE_START), streams.max(1) as f64);
    let burst = (level / streams * 1e-3 + near_burst(rtt)).clamp(PAIR, BURST_MAX);
    TARGET_MIN + Span::from_secs_f64(streams.sqrt() / 2.0 * burst / level)
}

/// Bits of a burst on a short path at any pacing rate (`tcp_tso_autosize`, `tcp_tso_rtt_log`): 64
/// KiB, halved for each 512 us of the round trip.
fn near_burst(rtt: Span) -> f64 {
    let halvings = rtt.as_nanos() / 512_000;
    BURST_MAX * 0.5_f64.powi(i32::try_from(halvings).unwrap_or(i32::MAX))
}

/// Rate of all streams, in bit/s, below which each sends less than a burst in the smoothing time,
/// so that deliveries say little.
///
/// Four streams over 0.3 ms: 4 * 524,288 bits in a tenth of a second.
pub(super) fn rate_of_bursts(streams: usize, rtt: Span) -> f64 {
    streams as f64 * near_burst(rtt) / SMOOTHED.as_secs_f64()
}

/// Delay that receivers may add: the last packet of a burst waits for a second one, up to 40 ms
/// (Linux's `TCP_DELACK_MIN`). The more bursts a reading covers, the less likely it has only such
/// round trips.
///
/// At twice the rate at which each stream sends a burst in a tenth of a second, a quarter of the 40
/// ms.
pub(super) fn held_back(rate: f64, rate_of_bursts: f64) -> Span {
    let share = (rate_of_bursts / rate).min(1.0);
    Span::from_secs_f64(ACK_DELAY.as_secs_f64() * share * share)
}

/// Time between two packet pairs of one of `streams`, after which it uses a new rate.
///
/// Twelve streams at 2.4 Mbit/s: 12 * 24,000 bits of it.
pub(super) fn between_pairs(rate: f64, streams: usize) -> Span {
    Span::from_secs_f64(streams as f64 * PAIR / rate)
}

/// Rate (bit/s) for streams that do not reach theirs, so that they do not jump when nothing limits
/// them any more.
pub(super) fn not_reached(rate: f64, delivered: f64) -> f64 {
    rate.min((delivered / REACHED).max(rate / 2.0))
}

/// The hold after losses by cross traffic, where the one before was `hold`.
pub(super) fn longer_hold(hold: Span) -> Span {
    hold.times(2).min(HOLD_MAX)
}

/// Time from one slowdown to the next.
pub(super) fn slowdown_period(length: Span) -> Span {
    length.times(SLOWDOWN_PAUSE).max(SLOWDOWN_PERIOD_MIN)
}

/// Queueing delay at which packets were lost: the depth of the bottleneck's queue.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Depth {
    known: Option<(Time, Span)>,
}

impl Depth {
    /// Packets were lost at this queueing delay.
    pub fn note(&mut self, at: Time, queueing: Span) {
        let is_old = |noted: Time| at.since(noted) > DEPTH_REMEMBERED;
        self.known = match self.known {
            Some((noted, shorter)) if shorter < queueing && !is_old(noted) => self.known,
            _ => Some((at, queueing)),
        };
    }

    /// Target delay: a quarter of the budget, or of the queue's depth where that is less.
    pub fn target(&self, budget: Span) -> Span {
        let room = self.known.map_or(budget, |(_, depth)| depth.min(budget));
        let part = Span::from_nanos(room.as_nanos() / TARGET_PART);
        part.max(TARGET_MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn millis(millis: u64) -> Span {
        Span::from_millis(millis)
    }

    #[test]
    fn a_cut_empties_the_copys_own_queue() {
        let (share, drain) = without_queue(0.010, millis(165));
        assert!((share - 0.8788).abs() < 1e-4);
        assert_eq!(drain, Span::from_micros(82_500));
        assert_eq!(without_queue(0.200, millis(50)), (KEPT, millis(400)));
        assert_eq!(without_queue(0.0, millis(50)), (CRUISE, DRAIN_MIN));
    }

    #[test]
    fn a_queue_of_cross_traffic_costs_as_much_as_it_is_too_long() {
        assert_eq!(kept(millis(5), millis(4)), 0.75);
        assert_eq!(kept(millis(50), millis(4)), KEPT);
    }

    #[test]
    fn steps_fit_the_target_and_double() {
        // 4 ms over eight rounds of 50 ms.
        let after = |free| step(millis(4), millis(50), millis(free), HOLD);
        assert!((after(0) - 0.01).abs() < 1e-9);
        assert!((after(1_500) - 0.04).abs() < 1e-9);
        assert_eq!(after(60_000), STEP_MAX);
        // After four times the hold they take twice as long.
        let slowly = step(millis(4), millis(50), millis(1_500), HOLD.times(4));
        assert!((slowly - 0.02).abs() < 1e-9);
    }

    #[test]
    fn pairs_of_packets_meet() {
        let met = unevenness(9, 45e6, millis(165)) - TARGET_MIN;
        assert_eq!(met, Span::from_micros(800));
    }

    #[test]
    fn bursts_on_a_short_path_are_those_of_the_kernel() {
        assert_eq!(rate_of_bursts(4, Span::from_micros(300)), 4.0 * 5_242_880.0);
        assert_eq!(rate_of_bursts(1, millis(2)), 5_242_880.0 / 8.0);
        assert!(rate_of_bursts(16, millis(20)) < 1e-3);
        assert_eq!(held_back(2e6, 1e6), millis(10));
        assert_eq!(held_back(1e6, 2e6), millis(40));
        // 2 / 2 * 524,288 bits of 950 Mbit/s.
        let met = unevenness(4, 950e6, Span::from_micros(300)) - TARGET_MIN;
        assert_eq!(met.as_nanos() / 1_000, 551);
    }

    #[test]
    fn the_target_is_a_quarter_of_the_budget_or_of_a_short_queue() {
        let mut depth = Depth::default();
        let budget = millis(40);
        assert_eq!(depth.target(budget), millis(10));
        depth.note(Time::ZERO, millis(8));
        depth.note(Time::ZERO + millis(1), millis(20));
        assert_eq!(depth.target(budget), millis(2));
        depth.note(Time::ZERO, millis(2));
        assert_eq!(depth.target(budget), TARGET_MIN);
        depth.note(Time::ZERO + millis(700_000), millis(20));
        assert_eq!(depth.target(budget), millis(5));
    }

    #[test]
    fn slow_streams_hear_late_of_a_new_rate() {
        assert_eq!(between_pairs(2.4e6, 12), millis(120));
    }

    #[test]
    fn streams_that_cannot_reach_the_rate_keep_it_from_leaping() {
        assert_eq!(not_reached(100.0, 48.0), 80.0);
        assert_eq!(not_reached(100.0, 10.0), 50.0);
    }
}
