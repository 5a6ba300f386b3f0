//! CUBIC (RFC 9438).

use units::Time;

use super::hystart::HyStart;
use super::{Acked, WINDOW_MIN, Window};

/// RFC 9438 section 5: how steep the cubic is, in segments per cubed second.
const STEEPNESS: f64 = 0.4;
/// RFC 9438 section 4.6: what is kept of the window after a loss.
const KEPT: f64 = 0.7;
/// RFC 9438 section 4.3: growth that gives Reno's mean window with these cuts.
const RENO_GROWTH: f64 = 3.0 * (1.0 - KEPT) / (1.0 + KEPT);

/// Grows along a cubic around the window of the last loss, never slower than Reno would.
#[derive(Debug, Clone)]
pub(crate) struct Cubic {
    hystart: HyStart,
    /// The window before the last loss, lowered when it was smaller than the one before.
    max: f64,
    /// The window just before the last cut.
    prior: f64,
    epoch: Option<Epoch>,
}

/// Congestion avoidance since the last loss.
#[derive(Debug, Clone, Copy)]
struct Epoch {
    start: Time,
    /// Where the cubic is flat.
    origin: f64,
    /// Seconds until it is reached.
    climb: f64,
    /// What Reno's window would be.
    reno: f64,
}

impl Cubic {
    pub(crate) fn new() -> Self {
        Cubic {
            hystart: HyStart::new(),
            max: 0.0,
            prior: 0.0,
            epoch: None,
        }
    }

    pub(crate) fn on_ack(&mut self, window: &mut Window, acked: &Acked) {
        if acked.must_not_grow {
            return;
        }
        let mut growth = acked.growth;
        if window.is_in_slow_start() {
            if self.hystart.says_leave(window.size, acked) {
                window.threshold = window.size;
            }
            growth = window.slow_start(growth);
        }
        if growth > 0.0 {
            self.avoid_congestion(window, acked, growth);
        }
    }

    /// RFC 9438 sections 4.2 to 4.5.
    fn avoid_congestion(&mut self, window: &mut Window, acked: &Acked, growth: f64) {
        let size = window.size;
        let max = self.max;
        let epoch = self
            .epoch
            .get_or_insert_with(|| Epoch::begin(acked.now, size, max));
        let elapsed = acked.now.since(epoch.start).as_secs_f64();
        let alpha = if epoch.reno >= self.prior {
            1.0
        } else {
            RENO_GROWTH
        };
        epoch.reno += alpha * growth / size;
        if epoch.at(elapsed) < epoch.reno {
            window.size = epoch.reno.max(size);
            return;
        }
        let ahead = epoch.at(elapsed + acked.round_trip_smoothed.as_secs_f64());
        let target = ahead.clamp(size, 1.5 * size);
        window.size += (target - size) / size * growth;
    }

    /// RFC 9438 sections 4.6 and 4.7 (fast convergence).
    pub(crate) fn on_congestion(&mut self, window: &mut Window, _now: Time) {
        let size = window.size;
        self.max = match size < self.max {
            true => size * (1.0 + KEPT) / 2.0,
            false => size,
        };
        self.prior = size;
        self.epoch = None;
        window.cut_to((size * KEPT).max(WINDOW_MIN));
    }

    /// RFC 9438 section 4.8: slow start up to the usual cut; the cubic then begins where it is
    /// flat, at the window of that time (`K = 0`). HyStart measures anew: what it knew is of
    /// before.
    pub(crate) fn on_timeout(&mut self, window: &mut Window, now: Time) {
        self.on_congestion(window, now);
        window.size = 1.0;
        self.max = 0.0;
        self.hystart = HyStart::new();
    }
}

impl Epoch {
    /// RFC 9438 section 4.2, `K = cbrt((W_max - cwnd_epoch) / C)`.
    fn begin(start: Time, size: f64, max: f64) -> Self {
        let origin = max.max(size);
        Epoch {
            start,
            origin,
            climb: libm::cbrt((origin - size) / STEEPNESS),
            reno: size,
        }
    }

    /// The cubic, `seconds` after the epoch began.
    fn at(&self, seconds: f64) -> f64 {
        let from_flat = seconds - self.climb;
        STEEPNESS * from_flat * from_flat * from_flat + self.origin
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Span;

    #[test]
    fn the_climb_back_takes_the_cube_root_of_what_was_lost() {
        // 100 segments cut to 70: cbrt(30 / 0.4) = 4.217 s.
        let epoch = Epoch::begin(Time::ZERO, 70.0, 100.0);
        assert!((epoch.climb - 4.217).abs() < 1e-3, "{}", epoch.climb);
        assert!((epoch.at(0.0) - 70.0).abs() < 1e-9);
        assert!((epoch.at(epoch.climb) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn a_second_loss_at_a_smaller_window_gives_room_to_others() {
        let mut cubic = Cubic::new();
        let mut window = Window::new(100);
        cubic.on_congestion(&mut window, Time::ZERO);
        assert_eq!((window.size, cubic.max), (70.0, 100.0));
        cubic.on_congestion(&mut window, Time::ZERO);
        assert!((cubic.max - 59.5).abs() < 1e-9, "{}", cubic.max);
    }

    #[test]
    fn after_a_timeout_the_cubic_is_flat_where_slow_start_ends() {
        let mut cubic = Cubic::new();
        let mut window = Window::new(100);
        cubic.on_timeout(&mut window, Time::ZERO);
        assert_eq!((window.size, window.threshold), (1.0, 70.0));
        cubic.on_ack(&mut window, &Acked::of(69));
        assert!(cubic.epoch.is_none(), "{cubic:?}");
        cubic.on_ack(&mut window, &Acked::of(1));
        let epoch = cubic.epoch.expect("congestion avoidance has begun");
        assert_eq!((epoch.origin, epoch.climb), (70.0, 0.0));
        // RFC 9438 section 4.3: Reno's window grows by less until it is where it was.
        assert!((epoch.reno - (70.0 + RENO_GROWTH / 70.0)).abs() < 1e-9);
    }

    #[test]
    fn a_timeout_forgets_the_round_trips_before() {
        let mut cubic = Cubic::new();
        let mut window = Window::new(20);
        let acked = |una, next, millis| Acked {
            una,
            next,
            round_trip: Some(Span::from_millis(millis)),
            round_trip_min: Span::from_millis(40),
            ..Acked::of(1)
        };
        // The round that ends at segment 500 has shown nine long round trips.
        for una in 1..10 {
            cubic.hystart.says_leave(10.0, &acked(una, 500, 90));
        }
        cubic.on_timeout(&mut window, Time::ZERO);
        assert!(!cubic.hystart.says_leave(20.0, &acked(20, 40, 90)));
    }
}
