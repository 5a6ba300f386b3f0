//! The window of CUBIC (RFC 9438), in segments, after slow start.

use units::{Span, Time};

/// RFC 9438 section 5: how steep the cubic is, in segments per cubed second.
const STEEPNESS: f64 = 0.4;
/// RFC 9438 section 4.6: what is kept of the window after a loss.
const KEPT: f64 = 0.7;
/// RFC 9438 section 4.3: growth that gives Reno's mean window with these cuts.
const RENO_GROWTH: f64 = 3.0 * (1.0 - KEPT) / (1.0 + KEPT);

/// Grows along a cubic around the window of the last loss, never slower than Reno would.
#[derive(Debug, Clone, Default)]
pub struct CubicWindow {
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

impl CubicWindow {
    /// What a window of `size` is after so many segments were acknowledged (sections 4.2 to 4.5).
    pub fn grown(&mut self, size: f64, now: Time, round_trip: Span, acked: f64) -> f64 {
        let max = self.max;
        let epoch = self
            .epoch
            .get_or_insert_with(|| Epoch::begin(now, size, max));
        let elapsed = now.since(epoch.start).as_secs_f64();
        let alpha = if epoch.reno >= self.prior {
            1.0
        } else {
            RENO_GROWTH
        };
        epoch.reno += alpha * acked / size;
        if epoch.at(elapsed) < epoch.reno {
            return epoch.reno.max(size);
        }
        let ahead = epoch.at(elapsed + round_trip.as_secs_f64());
        let target = ahead.clamp(size, 1.5 * size);
        size + (target - size) / size * acked
    }

    /// What is left of a window of `size` after a loss (sections 4.6 and 4.7, fast convergence).
    pub fn cut(&mut self, size: f64) -> f64 {
        self.max = match size < self.max {
            true => size * (1.0 + KEPT) / 2.0,
            false => size,
        };
        self.prior = size;
        self.epoch = None;
        size * KEPT
    }

    /// The next epoch begins where the cubic is flat (section 4.8, after a timeout).
    pub fn forget_max(&mut self) {
        self.max = 0.0;
    }

    /// The window just before the last cut.
    pub fn prior(&self) -> f64 {
        self.prior
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
        let mut cubic = CubicWindow::default();
        assert_eq!((cubic.cut(100.0), cubic.max), (70.0, 100.0));
        cubic.cut(70.0);
        assert!((cubic.max - 59.5).abs() < 1e-9, "{}", cubic.max);
    }

    #[test]
    fn without_a_maximum_the_cubic_is_flat_where_it_begins() {
        let mut cubic = CubicWindow::default();
        cubic.cut(100.0);
        cubic.forget_max();
        cubic.grown(70.0, Time::ZERO, Span::ZERO, 1.0);
        let epoch = cubic.epoch.expect("congestion avoidance has begun");
        assert_eq!((epoch.origin, epoch.climb), (70.0, 0.0));
        // RFC 9438 section 4.3: Reno's window grows by less until it is where it was.
        assert!((epoch.reno - (70.0 + RENO_GROWTH / 70.0)).abs() < 1e-9);
    }
}
