//! The numbers of the scavenger's law, each with its reason.

use units::{Span, Time};

/// Where a copy begins, in bits per second: ten packets in a tenth of a second.
pub(super) const RATE_START: f64 = 1.2e6;
/// The least that is sent, in bits per second: one packet of 1500 bytes in a tenth of a second, so that there is a round trip to
/// read.
pub(super) const RATE_MIN: f64 = 120e3;
/// ... and as a share of what the path carried: nobody feels a hundredth.
pub(super) const LEAST: f64 = 0.01;
/// What is kept at a loss, and of what a queue is left of that is not our own (LEDBAT++ section 4.2: never less than half
/// in a round trip).
pub(super) const KEPT: f64 = 0.5;
/// Growth of a round until the path is known. LEDBAT++ doubles; with the pace of a program, one quarter
/// of a round trip is what the last step adds to the queue, instead of a whole one.
pub(super) const START_GROWTH: f64 = 1.25;
/// Rates below this share of what the path carried are low: they cause no losses.
pub(super) const LOW: f64 = 0.75;
/// Steps are small from this share of what the path carried.
pub(super) const NEAR: f64 = 0.9;
/// A rate of which less than this share arrives is not what holds the streams back.
pub(super) const REACHED: f64 = 0.75;
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

/// Host and clock add up to this much to a round trip without any queue.
pub(super) const TARGET_MIN: Span = Span::from_millis(1);
/// The target is this part of the delay at which packets are lost. TCP-LP takes 15 %, of single one-way delays; smoothed
/// round trips show less of a short queue.
const TARGET_PART: u64 = 4;
/// How long it is remembered that a queue was short.
const DEPTH_REMEMBERED: Span = Span::from_secs(600);

/// Steps double each time that nobody was felt for so long.
const DOUBLING: f64 = 1.5;
/// Bounds of a step, as a share of what the path carried.
const STEP_MIN: f64 = 0.002;
const STEP_MAX: f64 = 0.1;
/// Seconds after which what the path carried has faded to a third.
const LEVEL_SECONDS: f64 = 300.0;

/// What is left of a remembered level after `passed`.
pub(super) fn level_kept(passed: Span) -> f64 {
    (-passed.as_secs_f64() / LEVEL_SECONDS).exp()
}

/// LEDBAT++ section 4.3: the first growth ends at three quarters of the target.
pub(super) fn start_bound(target: Span) -> Span {
    Span::from_nanos(target.as_nanos() / 4 * 3)
}

/// Share of the arriving rate at which a queue of our own is gone after half a round, between a half and all.
///
/// A queue of 5 ms and a round of 265 ms: sending 3.8 % less takes 5 ms out of it in half a round.
pub(super) fn without_queue(queueing: Span, round: Span) -> f64 {
    let share = 2.0 * queueing.as_secs_f64() / round.as_secs_f64();
    (1.0 - share).clamp(KEPT, 1.0)
}

/// How much more is sent in the next round, as a share of what the path carried.
///
/// The first steps are so small that one too many fills half of `room` before it is seen. They double for every
/// 1.5 s during which nobody was felt: those who fill a short queue come back to it sooner than that.
pub(super) fn step(room: Span, round: Span, free: Span) -> f64 {
    let first = room.as_secs_f64() / 2.0 / round.as_secs_f64();
    let first = first.clamp(STEP_MIN, STEP_MAX / 2.0);
    (first * (free.as_secs_f64() / DOUBLING).exp2()).min(STEP_MAX)
}

/// Streams that do not reach the rate shall not leap when what holds them back is gone.
pub(super) fn not_reached(rate: f64, delivered: f64) -> f64 {
    rate.min((delivered / REACHED).max(rate / 2.0))
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

    /// How long packets may wait before some are lost, as far as the budget goes.
    pub fn room(&self, budget: Span) -> Span {
        self.known.map_or(budget, |(_, depth)| depth.min(budget))
    }

    pub fn target(&self, budget: Span) -> Span {
        let part = |(_, depth): (Time, Span)| Span::from_nanos(depth.as_nanos() / TARGET_PART);
        let short = self.known.map_or(budget, part);
        short.max(TARGET_MIN).min(budget)
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
        assert!((without_queue(millis(5), millis(265)) - 0.9623).abs() < 1e-4);
        assert_eq!(without_queue(millis(200), millis(265)), KEPT);
    }

    #[test]
    fn steps_fit_the_room_and_double() {
        // 5 ms over two rounds of 265 ms.
        assert!((step(millis(5), millis(265), Span::ZERO) - 0.00943).abs() < 1e-5);
        assert!((step(millis(5), millis(265), millis(3_000)) - 4.0 * 0.00943).abs() < 1e-4);
        assert_eq!(step(millis(5), millis(265), millis(60_000)), STEP_MAX);
    }

    #[test]
    fn the_target_is_a_quarter_of_a_short_queue() {
        let mut depth = Depth::default();
        let budget = millis(30);
        assert_eq!(depth.target(budget), budget);
        depth.note(Time::ZERO, millis(8));
        depth.note(Time::ZERO + millis(1), millis(20));
        assert_eq!(
            (depth.target(budget), depth.room(budget)),
            (millis(2), millis(8))
        );
        depth.note(Time::ZERO, millis(2));
        assert_eq!(depth.target(budget), TARGET_MIN);
        depth.note(Time::ZERO + millis(700_000), millis(20));
        assert_eq!(depth.target(budget), millis(5));
    }

    #[test]
    fn streams_that_cannot_reach_the_rate_keep_it_from_leaping() {
        assert_eq!(not_reached(100.0, 60.0), 80.0);
        assert_eq!(not_reached(100.0, 10.0), 50.0);
    }
}
