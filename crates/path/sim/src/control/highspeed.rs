//! HighSpeed TCP (RFC 3649).

use super::{Acked, Window};

/// RFC 3649 section 5: up to this window it behaves like Reno.
const LOW_WINDOW: f64 = 38.0;
/// The window at which it gives up least at a loss.
const HIGH_WINDOW: f64 = 83_000.0;
/// What it gives up there.
const HIGH_DECREASE: f64 = 0.1;

/// The larger the window, the faster it grows and the less it gives up at a loss.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HighSpeed;

impl HighSpeed {
    /// RFC 3649 section 5: `w += a(w) / w` for each acknowledged segment.
    #[inline]
    pub(crate) fn on_ack(&mut self, window: &mut Window, acked: &Acked) {
        if acked.must_not_grow {
            return;
        }
        let mut growth = acked.growth;
        if window.is_in_slow_start() {
            growth = window.slow_start(growth);
        }
        if growth > 0.0 {
            window.size += increase(window.size) * growth / window.size;
        }
    }

    /// RFC 3649 section 5: `w = (1 - b(w)) w`.
    pub(crate) fn on_congestion(&mut self, window: &mut Window) {
        window.cut_to(window.size * (1.0 - decrease(window.size)));
    }
}

/// RFC 3649 section 5: the share that a loss takes, `b(w)`. Beyond the largest window that the RFC
/// looks at it stays what it is there; the formula would go on down, below nothing.
fn decrease(window: f64) -> f64 {
    let window = window.clamp(LOW_WINDOW, HIGH_WINDOW);
    let way = libm::log(window / LOW_WINDOW) / libm::log(HIGH_WINDOW / LOW_WINDOW);
    (HIGH_DECREASE - 0.5) * way + 0.5
}

/// RFC 3649 section 5: segments that a round trip adds, `a(w) = w^2 p(w) 2 b(w) / (2 - b(w))` with
/// `p(w) = 0.078 / w^1.2`.
fn increase(window: f64) -> f64 {
    if window <= LOW_WINDOW {
        return 1.0;
    }
    let (b, loss) = (decrease(window), 0.078 / libm::pow(window, 1.2));
    (window * window * loss * 2.0 * b / (2.0 - b)).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formulas_give_the_table_of_the_rfc() {
        // RFC 3649 appendix B: window, a(w), b(w); a(w) rounded to the next step of the table.
        for (window, grows, cuts) in [
            (38.0, 1.0, 0.50),
            (118.0, 2.0, 0.44),
            (1058.0, 8.0, 0.33),
            (84_035.0, 73.0, 0.10),
        ] {
            assert!((increase(window) / grows - 1.0).abs() < 0.05, "{window}");
            assert!((decrease(window) - cuts).abs() < 0.006, "{window}");
        }
    }

    #[test]
    fn beyond_the_largest_window_a_loss_takes_a_tenth() {
        // The formula would give 0.081, -0.03 and -0.27.
        for window in [120_000.0, 1e6, 1e8] {
            assert!((decrease(window) - 0.1).abs() < 1e-12, "{window}");
        }
        // a(w) = 0.078 w^0.8 2 b / (2 - b): 0.078 * 63,096 * 0.2 / 1.9 = 518.05.
        assert!((increase(1e6) - 518.05).abs() < 0.1, "{}", increase(1e6));
        let mut window = Window::new(1_000_000);
        HighSpeed.on_congestion(&mut window);
        assert!((window.size - 900_000.0).abs() < 1e-6, "{}", window.size);
    }

    #[test]
    fn a_small_window_behaves_like_reno() {
        assert_eq!((increase(20.0), decrease(20.0)), (1.0, 0.5));
        let mut window = Window::new(20);
        HighSpeed.on_congestion(&mut window);
        assert_eq!(window.size, 10.0);
        HighSpeed.on_ack(&mut window, &Acked::of(1));
        assert_eq!(window.size, 10.1);
    }

    #[test]
    fn a_large_window_gives_up_a_third_and_gains_eight_each_round_trip() {
        let mut window = Window::new(1058);
        HighSpeed.on_congestion(&mut window);
        assert!(
            (window.size / 1058.0 - 0.673).abs() < 1e-3,
            "{}",
            window.size
        );
        window.size = 1058.0;
        HighSpeed.on_ack(&mut window, &Acked::of(1058));
        assert!((window.size - 1066.0).abs() < 0.1, "{}", window.size);
    }
}
