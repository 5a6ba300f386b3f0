//! The numbers of the scavenger's law, each with its reason.

use units::{Span, Time};

/// Where a copy begins, in bits per second: ten packets in a tenth of a second.
pub(super) const RATE_START: f64 = 1.2e6;
/// The least that is sent, in bits per second: a pair of packets in a tenth of a second, so that there is a round trip to
/// read.
pub(super) const RATE_MIN: f64 = 240e3;
/// ... and for each stream: two pairs in a second, so that none is taken for dead.
pub(super) const STREAM_MIN: f64 = 48e3;
/// ... and as a share of what the path carried: nobody feels a fiftieth.
pub(super) const LEAST: f64 = 0.02;
/// What is kept at a loss, and of what a queue is left of that is not our own (LEDBAT++ section 4.2: never less than half
/// in a round trip).
pub(super) const KEPT: f64 = 0.5;
/// Growth of a round until the path is known. LEDBAT++ doubles, and its last step adds a round trip to the queue; this one adds a seventh of one.
pub(super) const START_GROWTH: f64 = 1.15;
/// Rates below this share of what the path carried are low: they cause no losses.
pub(super) const LOW: f64 = 0.75;
/// From this share of what the path carried on, the copy is at the end of it and causes losses itself.
pub(super) const REACHED_END: f64 = 0.85;
/// How much is learned of the path's own losses while somebody else may cause them.
pub(super) const DOUBTED: f64 = 0.1;
/// What is sent of what the path carries.
pub(super) const CRUISE: f64 = 0.95;
/// Small steps grow so many times more slowly than others.
pub(super) const CAREFUL: u64 = 4;
/// Steps are small from this share of what the path carried ...
pub(super) const NEAR: f64 = 0.9;
/// ... to this one.
pub(super) const BEYOND: f64 = 1.05;
/// Growth is that of the start from so many times what the path carried on: it carries more than was thought.
pub(super) const FAR_BEYOND: f64 = 1.5;
/// From this share of it on, a queue is as likely our own as somebody else's.
pub(super) const PROBING: f64 = 0.97;
/// After a cut, the rate stays where it is for so long. Nobody's queue is our own then, and flows that begin
/// find room to grow in.
pub(super) const HOLD: Span = Span::from_millis(1_500);
/// ... and up to so long where losses are what tells of others, and each trial costs them some.
/// A CUBIC flow takes some seconds to make up for a loss.
const HOLD_MAX: Span = Span::from_secs(15);
/// Seconds of queue that a link can empty in a second while three quarters of what it carries go on arriving are a third (1 / 0.75 - 1), and
/// readings are not exact. What falls faster was no queue.
pub(super) const FALL_MAX: f64 = 0.5;
/// A reading that took longer was late itself.
pub(super) const IN_TIME: Span = Span::from_millis(30);
/// A cut shows after a round trip; what it does to a queue takes time as well.
const DRAIN_MIN: Span = Span::from_millis(50);
/// Rates are smoothed over a round, or this, which has some packets in it at low rates.
pub(super) const SMOOTHED: Span = Span::from_millis(100);
/// Streams that their windows hold back below this share of the rate are too few.
pub(super) const ARRIVES: f64 = 0.93;
/// A rate of which less than this share arrives, because windows bind, is not raised.
pub(super) const AHEAD: f64 = 0.85;
/// ... at the start, whose steps are seen two rounds later: 1 / 1.15^2 of it arrive then.
pub(super) const AHEAD_AT_START: f64 = 0.7;
/// A rate of which less than this share arrives is not what holds the streams back.
pub(super) const REACHED: f64 = 0.6;
/// Rate during a slowdown, as a share. LEDBAT++ (section 4.4) goes down to two packets; three quarters of the link empty a queue of the
/// budget's length in a small part of a round trip as well, and the streams keep their windows in use.
pub(super) const SLOWDOWN: f64 = 0.25;
/// LEDBAT++ section 4.4.
pub(super) const SLOWDOWN_ROUND_TRIPS: u64 = 2;
/// Rate after a slowdown, as a share of that before it.
pub(super) const BACK: f64 = 0.97;
/// Between slowdowns lies this many times their length: they cost a twentieth of the time, where LEDBAT++ gives a tenth.
const SLOWDOWN_PAUSE: u64 = 20;
/// ... and no less than this, on short paths.
const SLOWDOWN_PERIOD_MIN: Span = Span::from_secs(10);

/// A receiver that has got one packet waits so long for a second one before it acknowledges it.
const ACK_DELAY: Span = Span::from_millis(40);
/// Bits of two packets, which is what the kernel sends at once at the least.
const PAIR: f64 = 2.0 * 1500.0 * 8.0;
/// ... and at the most.
const BURST_MAX: f64 = 65536.0 * 8.0;
/// Host and clock add up to this much to a round trip without any queue.
pub(super) const TARGET_MIN: Span = Span::from_millis(1);
/// The target is this part of the delay at which packets are lost. TCP-LP takes 15 %, of single one-way delays; smoothed
/// round trips show less of a short queue.
const TARGET_PART: u64 = 4;
/// How long it is remembered that a queue was short.
const DEPTH_REMEMBERED: Span = Span::from_secs(600);

/// Steps double each time that nobody was felt for so long.
const DOUBLING: f64 = 0.75;
/// Bounds of a step, as a share of what the path carried.
const STEP_MIN: f64 = 0.002;
const STEP_MAX: f64 = 0.05;
/// Seconds after which what the path carried has faded to a third.
const LEVEL_SECONDS: f64 = 300.0;

/// What is left of a remembered level after `passed`.
pub(super) fn level_kept(passed: Span) -> f64 {
    (-passed.as_secs_f64() / LEVEL_SECONDS).exp()
}

/// LEDBAT++ section 4.3: the first growth ends at three quarters of the target. Later there is none beyond.
pub(super) fn hold_bound(target: Span) -> Span {
    Span::from_nanos(target.as_nanos() / 4 * 3)
}

/// Share of the arriving rate at which `queue` seconds of our own are gone after half a round trip, or 50 ms, but
/// not less than half nor more than 95 %; and when they are gone at that.
///
/// A queue of 10 ms and a round trip of 165 ms: sending 12.1 % less takes 10 ms out of it in 82.5 ms.
pub(super) fn without_queue(queue: f64, rtt: Span) -> (f64, Span) {
    let drain = (rtt.as_secs_f64() / 2.0).max(DRAIN_MIN.as_secs_f64());
    let share = (1.0 - queue / drain).clamp(KEPT, CRUISE);
    (
        share,
        Span::from_secs_f64((queue / (1.0 - share)).max(drain)),
    )
}

/// What is left of the rate in a queue that is not our own: as much less as the queue is too long, but no less than half.
///
/// LEDBAT++ section 4.2: `W (delay / target - 1)` less in each round trip. A quarter beyond the target costs a quarter.
pub(super) fn kept(queueing: Span, target: Span) -> f64 {
    let excess = queueing.as_secs_f64() / target.as_secs_f64() - 1.0;
    (1.0 - excess).clamp(KEPT, CRUISE)
}

/// How much more is sent in the next round, as a share of what the path carried.
///
/// The first steps are so small that three of them before the first is seen fill less than the target: 1/8, 2/8 and 3/8
/// of it. They double for every 0.75 s of `free`, and after a longer `hold` with the root of that more slowly.
pub(super) fn step(target: Span, round: Span, free: Span, hold: Span) -> f64 {
    let first = target.as_secs_f64() / 8.0 / round.as_secs_f64();
    let first = first.clamp(STEP_MIN, STEP_MAX / 2.0);
    let doubling = DOUBLING * (hold.as_secs_f64() / HOLD.as_secs_f64()).sqrt();
    (first * (free.as_secs_f64() / doubling).exp2()).min(STEP_MAX)
}

/// How long packets wait for others of the same copy, though there is room for all: the kernel paces by bursts of what
/// leaves in a millisecond, at least two packets and at most 64 KiB, which meet by chance. Of `n` even streams about
/// the root of `n` bursts meet on a full link, and half of them come before a packet.
///
/// Nine streams on 45 Mbit/s, pairs of 3000 bytes: 3 / 2 * 0.533 ms.
pub(super) fn unevenness(streams: usize, level: f64, rtt: Span) -> Span {
    let (level, streams) = (level.max(RATE_START), streams.max(1) as f64);
    let burst = (level / streams * 1e-3 + near_burst(rtt)).clamp(PAIR, BURST_MAX);
    TARGET_MIN + Span::from_secs_f64(streams.sqrt() / 2.0 * burst / level)
}

/// Bits that the kernel sends at once on a short path, however slowly it is to send (`tcp_tso_autosize`, `tcp_tso_rtt_log`): 64 KiB,
/// and half of it for each 512 us of the round trip.
fn near_burst(rtt: Span) -> f64 {
    let halvings = rtt.as_nanos() / 512_000;
    BURST_MAX * 0.5_f64.powi(i32::try_from(halvings).unwrap_or(i32::MAX))
}

/// Below this rate of all streams, in bits per second, each of them sends less than a burst while rates are smoothed, so that
/// what arrives says little.
///
/// Four streams over 0.3 ms: 4 * 524,288 bits in a tenth of a second.
pub(super) fn rate_of_bursts(streams: usize, rtt: Span) -> f64 {
    streams as f64 * near_burst(rtt) / SMOOTHED.as_secs_f64()
}

/// What receivers may add to round trips: the last packet of a burst waits for a second one, up to 40 ms (Linux's `TCP_DELACK_MIN`), and the
/// more bursts come in the time that is looked at, the less likely are such round trips only.
///
/// At twice the rate at which each stream sends a burst in a tenth of a second, a quarter of the 40 ms.
pub(super) fn held_back(rate: f64, rate_of_bursts: f64) -> Span {
    let share = (rate_of_bursts / rate).min(1.0);
    Span::from_secs_f64(ACK_DELAY.as_secs_f64() * share * share)
}

/// How long each of `streams` waits until it sends its next pair of packets, and hears of a new rate.
///
/// Twelve streams at 2.4 Mbit/s: 12 * 24,000 bits of it.
pub(super) fn between_pairs(rate: f64, streams: usize) -> Span {
    Span::from_secs_f64(streams as f64 * PAIR / rate)
}

/// Streams that do not reach the rate shall not leap when what holds them back is gone.
pub(super) fn not_reached(rate: f64, delivered: f64) -> f64 {
    rate.min((delivered / REACHED).max(rate / 2.0))
}

/// The hold after losses that somebody else has caused, where the one before was `hold`.
pub(super) fn longer_hold(hold: Span) -> Span {
    hold.times(2).min(HOLD_MAX)
}

pub(super) fn slowdown_period(length: Span) -> Span {
    length.times(SLOWDOWN_PAUSE).max(SLOWDOWN_PERIOD_MIN)
}

/// The delay at which packets are lost, where they were.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Depth {
    known: Option<(Time, Span)>,
}

impl Depth {
    /// Packets were lost while others waited for `queueing`.
    pub fn note(&mut self, at: Time, queueing: Span) {
        let is_old = |noted: Time| at.since(noted) > DEPTH_REMEMBERED;
        self.known = match self.known {
            Some((noted, shorter)) if shorter < queueing && !is_old(noted) => self.known,
            _ => Some((at, queueing)),
        };
    }

    /// What is aimed at: a part of what may be added, or of what fits in.
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
    fn somebody_elses_queue_costs_as_much_as_it_is_too_long() {
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
