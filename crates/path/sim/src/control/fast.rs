//! FAST (Wei, Jin, Low, Hegde, "FAST TCP: motivation, architecture, algorithms, performance",
//! IEEE/ACM ToN 14(6), 2006).

use super::round::{Round, queued};
use super::{Acked, WINDOW_MIN, Window};

/// Segments that each flow keeps in the queue. The paper leaves it to the operator; 20 are about 5
/// ms at 50 Mbit/s.
const ALPHA: f64 = 20.0;
/// Section IV: how far a step goes towards its goal.
const GAMMA: f64 = 0.5;

/// Moves the window once a round trip to where `ALPHA` segments wait in the queue.
///
/// 100 segments at 50 ms on a path of 40 ms: half of 100 and half of 80 + 20, so they stay.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fast {
    round: Round,
}

impl Fast {
    pub(crate) const fn new() -> Self {
        Fast {
            round: Round::new(),
        }
    }

    /// Equation 4, with the smoothed round trip. Slow start ends when half of what the queue is to
    /// hold waits in it: then a doubling is already on its way.
    pub(crate) fn on_ack(&mut self, window: &mut Window, acked: &Acked) {
        if acked.must_not_grow {
            return;
        }
        let round_trip = self.round.ends(acked);
        let (size, base) = (window.size, acked.round_trip_min);
        if window.is_in_slow_start() {
            let full = round_trip.is_some_and(|now| queued(size, base, now) > ALPHA / 2.0);
            if full {
                window.threshold = size;
            } else {
                window.slow_start(acked.growth);
            }
        } else if round_trip.is_some() {
            let waiting = queued(size, base, acked.round_trip_smoothed);
            let next = (size + GAMMA * (ALPHA - waiting)).min(2.0 * size);
            window.size = next.max(WINDOW_MIN);
            window.threshold = window.threshold.min(window.size);
        }
    }

    /// Section III: at a loss the window is halved.
    pub(crate) fn on_congestion(&mut self, window: &mut Window) {
        window.cut_to(window.size / 2.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Span;

    fn after(size: f64, smoothed_millis: u64) -> f64 {
        let mut window = Window::new(2);
        window.cut_to(size);
        let acked = Acked {
            una: 1,
            next: 10,
            round_trip: Some(Span::from_millis(smoothed_millis)),
            round_trip_smoothed: Span::from_millis(smoothed_millis),
            round_trip_min: Span::from_millis(40),
            ..Acked::of(1)
        };
        Fast::new().on_ack(&mut window, &acked);
        window.size
    }

    #[test]
    fn the_window_settles_where_twenty_segments_wait() {
        assert!((after(100.0, 50) - 100.0).abs() < 1e-9);
        // Nothing waits: half the way to 20 more.
        assert!((after(100.0, 40) - 110.0).abs() < 1e-9);
        // 50 wait: half the way back to 20.
        assert!((after(100.0, 80) - 85.0).abs() < 1e-9);
    }

    #[test]
    fn it_never_more_than_doubles() {
        assert_eq!(after(4.0, 40), 8.0);
    }
}
