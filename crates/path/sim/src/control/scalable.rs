//! Scalable TCP (Kelly, "Scalable TCP: improving performance in highspeed wide area networks", ACM
//! CCR 33(2), 2003).

use super::{Acked, Window};

/// Segments that each acknowledged one adds (Kelly 2003, section 3: a).
const GROWTH: f64 = 0.01;
/// What is kept of the window at a loss (Kelly 2003, section 3: 1 - b, b = 1/8).
const KEPT: f64 = 0.875;
/// Up to this window it behaves like Reno (Kelly 2003, section 4: the legacy window).
const LEGACY_WINDOW: f64 = 16.0;

/// Grows and shrinks by a fixed share, so that the time between two losses does not depend on the
/// rate: `ln(1 / 0.875) / ln(1.01)` = 13.4 round trips.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scalable;

impl Scalable {
    #[inline]
    pub(crate) fn on_ack(&mut self, window: &mut Window, acked: &Acked) {
        if acked.must_not_grow {
            return;
        }
        let mut growth = acked.growth;
        if window.is_in_slow_start() {
            growth = window.slow_start(growth);
        }
        window.size += growth * GROWTH.max(Self::reno(window.size));
    }

    pub(crate) fn on_congestion(&mut self, window: &mut Window) {
        let kept = if window.size <= LEGACY_WINDOW {
            0.5
        } else {
            KEPT
        };
        window.cut_to(window.size * kept);
    }

    /// What Reno adds for a segment, where that counts.
    fn reno(window: f64) -> f64 {
        if window <= LEGACY_WINDOW {
            1.0 / window
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_made_up_for_in_fourteen_round_trips_at_any_rate() {
        for start in [100.0, 10_000.0] {
            let mut window = Window::new(start as u32);
            Scalable.on_congestion(&mut window);
            assert_eq!(window.size, start * 0.875);
            let mut round_trips = 0;
            while window.size < start {
                let acked = Acked::of(window.size as u32);
                Scalable.on_ack(&mut window, &acked);
                round_trips += 1;
            }
            assert_eq!(round_trips, 14);
        }
    }

    #[test]
    fn a_small_window_behaves_like_reno() {
        let mut window = Window::new(16);
        Scalable.on_congestion(&mut window);
        assert_eq!(window.size, 8.0);
        Scalable.on_ack(&mut window, &Acked::of(1));
        assert_eq!(window.size, 8.125);
    }
}
