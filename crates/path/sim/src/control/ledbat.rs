//! LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus-01).
//!
//! The queueing delay is taken from round trips (section 4.1), so a queue on the way back counts as
//! well. Reading order: [`LedbatPlusPlus`], then [`Delays`].

use units::{Span, Time};

use super::{Acked, WINDOW_MIN, Window};

/// Section 4: the queueing delay that is aimed at.
const TARGET: Span = Span::from_millis(60);
/// Section 4.2: the gain is never smaller than its inverse.
const GAIN_DIVISOR_MAX: u64 = 16;
/// Section 4.3: at three quarters of the target the first slow start ends.
const SLOW_START_DELAY_MAX: Span = Span::from_millis(45);
/// Section 4.4: what is kept on the way during a slowdown.
const SLOWDOWN_WINDOW: f64 = 2.0;
/// Section 4.4: a slowdown comes after nine times as long as the one before took.
const SLOWDOWN_PAUSE: u64 = 9;
/// Section 4.4: a slowdown lasts this many round trips, and begins as many after slow start.
const SLOWDOWN_ROUND_TRIPS: u64 = 2;
/// RFC 6817 section 2.4.2: minutes over which the smallest delay is remembered.
const BASE_MINUTES: usize = 10;
const MINUTE: Span = Span::from_secs(60);
/// Measurements of which the smallest counts as the delay now.
const RECENT: usize = 4;

/// A scavenger: gives way to all others as soon as the queue grows beyond its target, and empties
/// the queue every now and then so that it can be measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LedbatPlusPlus {
    delays: Delays,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The first slow start.
    Start,
    /// Congestion avoidance until the next slowdown; slow start after a timeout.
    Cruise { until: Time },
    /// Two segments on the way, so that the queue empties.
    Slowdown { since: Time, until: Time },
    /// Slow start back to the window before the slowdown.
    Return { since: Time },
}

impl LedbatPlusPlus {
    pub(crate) const fn new() -> Self {
        LedbatPlusPlus {
            delays: Delays::new(),
            stage: Stage::Start,
        }
    }

    pub(crate) fn on_ack(&mut self, window: &mut Window, acked: &Acked) {
        self.delays.note(acked);
        if acked.must_not_grow {
            return;
        }
        let now = acked.now;
        let pause = acked.round_trip_smoothed.times(SLOWDOWN_ROUND_TRIPS);
        match self.stage {
            Stage::Start => {
                if self.delays.queueing() > SLOW_START_DELAY_MAX {
                    window.threshold = window.size;
                }
                self.slow_start(window, acked, now + pause);
            }
            // After a timeout; a slowdown that is due waits for its end.
            Stage::Cruise { until } if window.is_in_slow_start() => {
                self.slow_start(window, acked, until);
            }
            Stage::Cruise { until } if now >= until => {
                window.threshold = window.size;
                window.size = SLOWDOWN_WINDOW;
                self.stage = Stage::Slowdown {
                    since: now,
                    until: now + pause,
                };
            }
            Stage::Cruise { .. } => self.avoid_congestion(window, acked),
            Stage::Slowdown { since, until } => {
                window.size = SLOWDOWN_WINDOW;
                if now >= until {
                    self.stage = Stage::Return { since };
                }
            }
            Stage::Return { since } => {
                let took = now.since(since);
                self.slow_start(window, acked, now + took.times(SLOWDOWN_PAUSE));
            }
        }
    }

    /// Section 4.3: the window grows by a share of what is acknowledged. At its end the window is
    /// ruled by the delay until `next_slowdown`.
    fn slow_start(&mut self, window: &mut Window, acked: &Acked, next_slowdown: Time) {
        if window.is_in_slow_start() {
            window.slow_start(acked.growth * self.delays.gain());
        }
        if !window.is_in_slow_start() {
            self.stage = Stage::Cruise {
                until: next_slowdown,
            };
        }
    }

    /// Section 4.2, for one acknowledgement.
    fn avoid_congestion(&self, window: &mut Window, acked: &Acked) {
        let each = self.each_round_trip(window.size);
        window.size = (window.size + each * acked.growth / window.size).max(WINDOW_MIN);
        window.threshold = window.threshold.min(window.size);
    }

    /// Section 4.2: `GAIN` below the target, above it `max(GAIN - W (delay / target - 1), -W/2)`.
    fn each_round_trip(&self, size: f64) -> f64 {
        let excess = self.delays.queueing().as_secs_f64() / TARGET.as_secs_f64() - 1.0;
        let gain = self.delays.gain();
        match excess <= 0.0 {
            true => gain,
            false => (gain - size * excess).max(-size / 2.0),
        }
    }

    /// Section 4.2: a loss halves the window, as Reno does. During a slowdown the window to come
    /// back to.
    pub(crate) fn on_congestion(&mut self, window: &mut Window) {
        match self.stage {
            Stage::Slowdown { .. } => {
                window.threshold = (window.threshold / 2.0).max(WINDOW_MIN);
            }
            _ => window.cut_to(window.size / 2.0),
        }
    }
}

/// What the round trips of the past say.
#[derive(Debug, Clone, Copy)]
struct Delays {
    /// The smallest of each minute.
    minutes: [Span; BASE_MINUTES],
    minute: u64,
    recent: [Span; RECENT],
    next: usize,
}

impl Delays {
    const fn new() -> Self {
        Delays {
            minutes: [Span::MAX; BASE_MINUTES],
            minute: 0,
            recent: [Span::MAX; RECENT],
            next: 0,
        }
    }

    fn note(&mut self, acked: &Acked) {
        let Some(sample) = acked.round_trip else {
            return;
        };
        let minute = acked.now.as_nanos() / MINUTE.as_nanos();
        let place = (minute % BASE_MINUTES as u64) as usize;
        if minute > self.minute {
            self.minute = minute;
            self.minutes[place] = Span::MAX;
        }
        self.minutes[place] = self.minutes[place].min(sample);
        self.recent[self.next] = sample;
        self.next = (self.next + 1) % RECENT;
    }

    fn base(&self) -> Span {
        self.minutes.into_iter().min().unwrap_or(Span::MAX)
    }

    /// How long segments wait in queues.
    fn queueing(&self) -> Span {
        let now = self.recent.into_iter().min().unwrap_or(Span::MAX);
        Span::from_nanos(now.as_nanos().saturating_sub(self.base().as_nanos()))
    }

    /// Section 4.2: `1 / min(16, ceil(2 TARGET / base))`.
    fn gain(&self) -> f64 {
        let base = self.base().as_nanos().max(1);
        let divisor = (2 * TARGET.as_nanos()).div_ceil(base);
        1.0 / divisor.clamp(1, GAIN_DIVISOR_MAX) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acknowledges a segment at `at` ms with a round trip of `rtt` ms.
    fn ack(ledbat: &mut LedbatPlusPlus, window: &mut Window, at: u64, rtt: u64) -> f64 {
        let acked = Acked {
            now: Time::ZERO + Span::from_millis(at),
            round_trip: Some(Span::from_millis(rtt)),
            round_trip_smoothed: Span::from_millis(rtt),
            ..Acked::of(1)
        };
        ledbat.on_ack(window, &acked);
        window.size
    }

    fn with_base(base_millis: u64) -> Delays {
        let mut delays = Delays::new();
        delays.minutes[0] = Span::from_millis(base_millis);
        delays
    }

    #[test]
    fn short_paths_have_a_small_gain() {
        // 120/40 = 3, 120/165 rounded up to 1, 120/1 bounded by 16.
        for (base, gain) in [(40, 1.0 / 3.0), (165, 1.0), (1, 1.0 / 16.0)] {
            assert_eq!(with_base(base).gain(), gain);
        }
    }

    #[test]
    fn above_the_target_the_window_shrinks_in_proportion_to_the_excess() {
        let mut delays = with_base(100);
        delays.recent = [Span::from_millis(166); RECENT];
        let mut ledbat = LedbatPlusPlus::new();
        ledbat.delays = delays;
        // A tenth too much of 100 segments: 1/2 - 10 each round trip.
        assert!((ledbat.each_round_trip(100.0) + 9.5).abs() < 1e-9);
        ledbat.delays.recent = [Span::from_millis(400); RECENT];
        assert_eq!(ledbat.each_round_trip(100.0), -50.0);
        ledbat.delays.recent = [Span::from_millis(150); RECENT];
        assert_eq!(ledbat.each_round_trip(100.0), 0.5);
    }

    #[test]
    fn the_first_slow_start_ends_at_three_quarters_of_the_target_and_a_slowdown_follows() {
        let (mut ledbat, mut window) = (LedbatPlusPlus::new(), Window::new(10));
        // Base 40 ms: a third of a segment for each.
        assert!((ack(&mut ledbat, &mut window, 0, 40) - (10.0 + 1.0 / 3.0)).abs() < 1e-9);
        for at in 1..4 {
            ack(&mut ledbat, &mut window, at, 86);
        }
        assert!(window.is_in_slow_start());
        ack(&mut ledbat, &mut window, 4, 86);
        assert!(!window.is_in_slow_start(), "the smallest of four counts");
        let before = window.size;
        // Two round trips of 86 ms later.
        ack(&mut ledbat, &mut window, 175, 86);
        assert!(window.size > before);
        let before = window.size;
        assert_eq!(ack(&mut ledbat, &mut window, 176, 86), 2.0);
        assert_eq!(window.threshold, before);
        assert_eq!(ack(&mut ledbat, &mut window, 260, 86), 2.0);
        assert_eq!(ack(&mut ledbat, &mut window, 348, 86), 2.0);
        assert!(ack(&mut ledbat, &mut window, 349, 40) > 2.0);
    }

    #[test]
    fn slowdowns_take_a_tenth_of_the_time() {
        let (mut ledbat, mut window) = (LedbatPlusPlus::new(), Window::new(10));
        ledbat.delays = with_base(40);
        window.threshold = 10.1;
        let since = Time::ZERO;
        ledbat.stage = Stage::Return { since };
        ack(&mut ledbat, &mut window, 200, 40);
        let until = Time::ZERO + Span::from_millis(2_000);
        assert_eq!(ledbat.stage, Stage::Cruise { until });
    }

    #[test]
    fn a_loss_during_a_slowdown_halves_what_it_comes_back_to() {
        let (mut ledbat, mut window) = (LedbatPlusPlus::new(), Window::new(2));
        window.threshold = 50.0;
        ledbat.stage = Stage::Slowdown {
            since: Time::ZERO,
            until: Time::MAX,
        };
        ledbat.on_congestion(&mut window);
        assert_eq!((window.size, window.threshold), (2.0, 25.0));
    }

    #[test]
    fn after_a_timeout_the_window_grows_fast_to_half_of_what_it_was() {
        let (mut ledbat, mut window) = (LedbatPlusPlus::new(), Window::new(2));
        ledbat.delays = with_base(120);
        let until = Time::ZERO + Span::from_millis(10);
        ledbat.stage = Stage::Cruise { until };
        // As a timeout at 20 segments leaves it. The gain is 1: a segment for each.
        (window.size, window.threshold) = (1.0, 10.0);
        for at in 1..=9 {
            assert_eq!(ack(&mut ledbat, &mut window, 2 * at, 120), 1.0 + at as f64);
        }
        assert_eq!(window.threshold, 10.0);
        // The slowdown was due in between.
        assert_eq!(ack(&mut ledbat, &mut window, 20, 120), 2.0);
        assert_eq!(window.threshold, 10.0);
    }

    #[test]
    fn a_base_older_than_ten_minutes_is_forgotten() {
        let (mut ledbat, mut window) = (LedbatPlusPlus::new(), Window::new(2));
        ack(&mut ledbat, &mut window, 0, 40);
        for minute in 1..10 {
            ack(&mut ledbat, &mut window, minute * 60_000, 50);
            assert_eq!(ledbat.delays.base(), Span::from_millis(40));
        }
        ack(&mut ledbat, &mut window, 600_000, 50);
        assert_eq!(ledbat.delays.base(), Span::from_millis(50));
    }
}
