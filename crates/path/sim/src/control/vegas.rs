//! Vegas (Brakmo, Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet", IEEE
//! JSAC 13(8), 1995), with the choices of Linux where the paper leaves one.

use super::round::{Round, carried, queued};
use super::{Acked, WINDOW_MIN, Window};

/// Section 3.2: with fewer segments than this in the queue the window grows.
const ALPHA: f64 = 2.0;
/// With more it shrinks.
const BETA: f64 = 4.0;
/// Section 3.3: with more than this slow start ends.
const GAMMA: f64 = 1.0;

/// Compares the rate that a window should have on an empty path with the rate that it has, once a
/// round trip, and so keeps between two and four segments in the queue.
///
/// 20 segments at 50 ms on a path of 40 ms: 4 of them wait in the queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vegas {
    round: Round,
    /// Slow start doubles the window in every other round trip only, so that the one between can be
    /// measured (section 3.3).
    measures: bool,
}

impl Vegas {
    pub(crate) const fn new() -> Self {
        Vegas {
            round: Round::new(),
            measures: true,
        }
    }

    pub(crate) fn on_ack(&mut self, window: &mut Window, acked: &Acked) {
        if acked.must_not_grow {
            return;
        }
        let round_trip = self.round.ends(acked);
        let (size, base) = (window.size, acked.round_trip_min);
        match round_trip {
            Some(now) if window.is_in_slow_start() => {
                self.measures = !self.measures;
                if queued(size, base, now) > GAMMA {
                    // As Linux does: what the path carries, and one for the queue.
                    window.cut_to(size.min(carried(size, base, now) + 1.0));
                }
            }
            Some(now) => adjust(window, queued(size, base, now)),
            None => {}
        }
        if window.is_in_slow_start() && !self.measures {
            window.slow_start(acked.growth);
        }
    }

    /// As Reno (RFC 5681 equation 4), which is also what Linux does; the paper leaves it to Reno.
    pub(crate) fn on_congestion(&mut self, window: &mut Window) {
        window.cut_to(window.size / 2.0);
    }
}

/// Section 3.2: one segment more, one less, or as it is.
fn adjust(window: &mut Window, queued: f64) {
    if queued < ALPHA {
        window.size += 1.0;
    } else if queued > BETA {
        window.size = (window.size - 1.0).max(WINDOW_MIN);
    }
    window.threshold = window.threshold.min(window.size);
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Span;

    /// Acknowledges one segment, the first of a new round each time.
    fn rounds(vegas: &mut Vegas, window: &mut Window, millis: &[u64]) -> Vec<f64> {
        let mut sizes = Vec::new();
        for (index, rtt) in millis.iter().enumerate() {
            let acked = Acked {
                una: index as u32 * 10 + 10,
                next: index as u32 * 10 + 19,
                round_trip: Some(Span::from_millis(*rtt)),
                round_trip_min: Span::from_millis(40),
                ..Acked::of(1)
            };
            vegas.on_ack(window, &acked);
            sizes.push(window.size);
        }
        sizes
    }

    #[test]
    fn the_window_keeps_two_to_four_segments_in_the_queue() {
        let mut window = Window::new(20);
        window.cut_to(20.0);
        // 20 (1 - 40/rtt): 0, 1.8, 3.0 (21 segments and 46.667 would be), then 5 and more.
        let sizes = rounds(&mut Vegas::new(), &mut window, &[40, 44, 47, 54, 54]);
        assert_eq!(sizes, [21.0, 22.0, 22.0, 21.0, 20.0]);
    }

    #[test]
    fn slow_start_grows_in_every_other_round_and_ends_at_a_queue() {
        let mut window = Window::new(10);
        let sizes = rounds(&mut Vegas::new(), &mut window, &[40, 40, 40]);
        assert_eq!(sizes, [11.0, 11.0, 12.0]);
        // 12 (1 - 40/50) = 2.4 wait: 9.6 are carried, and one waits.
        let mut vegas = Vegas::new();
        let sizes = rounds(&mut vegas, &mut window, &[50]);
        assert!((sizes[0] - 10.6).abs() < 1e-9);
        assert!(!window.is_in_slow_start());
    }
}
