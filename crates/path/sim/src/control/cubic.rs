//! CUBIC (RFC 9438).

use rate_control::CubicWindow;
use units::Time;

use super::hystart::HyStart;
use super::{Acked, WINDOW_MIN, Window};

/// Slow start with [`HyStart`]; then the window is a [`CubicWindow`].
#[derive(Debug, Clone)]
pub(crate) struct Cubic {
    hystart: HyStart,
    beyond: CubicWindow,
}

impl Cubic {
    pub(crate) fn new() -> Self {
        Cubic {
            hystart: HyStart::new(),
            beyond: CubicWindow::default(),
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
            let round_trip = acked.round_trip_smoothed;
            window.size = self
                .beyond
                .grown(window.size, acked.now, round_trip, growth);
        }
    }

    pub(crate) fn on_congestion(&mut self, window: &mut Window, _now: Time) {
        window.cut_to(self.beyond.cut(window.size).max(WINDOW_MIN));
    }

    /// RFC 9438 section 4.8: slow start up to the usual cut; the cubic then begins where it is
    /// flat, at the window of that time (`K = 0`). HyStart measures anew: what it knew is of
    /// before.
    pub(crate) fn on_timeout(&mut self, window: &mut Window, now: Time) {
        self.on_congestion(window, now);
        window.size = 1.0;
        self.beyond.forget_max();
        self.hystart = HyStart::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Span;

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
