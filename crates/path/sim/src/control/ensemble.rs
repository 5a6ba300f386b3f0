//! Streams of one transfer as one flow (RFC 2140).
//!
//! The streams share a window and a round-trip estimate ([`Common`]); the engine lends them to the
//! stream that an event concerns. Each has its own segments and repairs its own losses. To all
//! others they look like one flow: the window grows by one segment a round trip however many
//! streams there are, and shrinks once for losses that come together.

use units::{Span, Time};

use super::{Acked, WINDOW_MIN, Window};
use crate::round_trip::RoundTrip;

/// What the streams of a transfer have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Common {
    pub ensemble: Ensemble,
    pub round_trip: RoundTrip,
}

impl Common {
    pub(crate) fn new(initial_window: u32) -> Self {
        Common {
            ensemble: Ensemble {
                common: Window::new(initial_window),
                members: 0,
                place: 0,
                reduced: None,
                round_trip: Span::ZERO,
            },
            round_trip: RoundTrip::new(),
        }
    }
}

/// AIMD (RFC 5681) on a window that several streams use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ensemble {
    common: Window,
    /// Streams that are connected and not done.
    members: u32,
    /// The number of the stream that it is lent to.
    place: u32,
    /// When the window was reduced last.
    reduced: Option<Time>,
    /// The smoothed round trip.
    round_trip: Span,
}

impl Ensemble {
    /// One stream more.
    pub(crate) fn join(&mut self) {
        self.members += 1;
    }

    /// One stream less.
    pub(crate) fn leave(&mut self) {
        self.members -= 1;
    }

    /// As it is for the stream with number `place`.
    pub(crate) fn at(self, place: u32) -> Self {
        Ensemble { place, ..self }
    }

    /// This stream's part: whole segments, as even as can be, and at least one.
    pub(crate) fn share(&self) -> Window {
        let members = self.members.max(1);
        let whole = self.common.size as u32;
        let extra = u32::from(self.place % members < whole % members);
        Window {
            size: f64::from((whole / members + extra).max(1)),
            threshold: (self.common.threshold / f64::from(members)).max(1.0),
        }
    }

    /// RFC 5681 section 3.1, for all streams together. The window grows only where this stream uses
    /// its part; while one grows exponentially, half of it counts as use.
    pub(crate) fn on_ack(&mut self, window: &mut Window, acked: &Acked) {
        self.round_trip = acked.round_trip_smoothed;
        let used = f64::from(acked.pipe + acked.delivered);
        if !acked.must_not_grow && used >= self.share().size / 2.0 {
            let mut growth = acked.growth;
            if self.common.is_in_slow_start() {
                growth = self.common.slow_start(growth);
            }
            self.common.size += growth / self.common.size;
        }
        *window = self.share();
    }

    /// A loss in any of the streams: the common window is halved, once a round trip.
    pub(crate) fn on_congestion(&mut self, window: &mut Window, now: Time) {
        let recently = |reduced: Time| now.since(reduced) < self.round_trip;
        if !self.reduced.is_some_and(recently) {
            self.reduced = Some(now);
            self.common.cut_to(self.common.size / 2.0);
        }
        *window = self.share();
    }

    /// A timeout of any of the streams: the common window falls to one segment, as one flow's
    /// would, and each stream keeps its least part.
    pub(crate) fn on_timeout(&mut self, window: &mut Window, now: Time) {
        self.on_congestion(window, now);
        self.common.size = 1.0;
        self.common.threshold = self.common.threshold.max(WINDOW_MIN);
        *window = self.share();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(members: u32, size: u32) -> Ensemble {
        let mut ensemble = Common::new(size).ensemble;
        (0..members).for_each(|_| ensemble.join());
        ensemble
    }

    fn acked(millis: u64) -> Acked {
        Acked {
            now: Time::ZERO + Span::from_millis(millis),
            round_trip_smoothed: Span::from_millis(100),
            pipe: 5,
            ..Acked::of(1)
        }
    }

    #[test]
    fn parts_are_even_and_add_up() {
        // 43 segments for 8 streams: three get 6 and five get 5.
        let ensemble = of(8, 43);
        let parts: Vec<f64> = (0..8)
            .map(|place| ensemble.at(place).share().size)
            .collect();
        assert_eq!(parts, [6.0, 6.0, 6.0, 5.0, 5.0, 5.0, 5.0, 5.0]);
        assert_eq!(of(8, 3).at(7).share().size, 1.0);
    }

    #[test]
    fn a_round_trip_adds_one_segment_to_all_together() {
        let mut ensemble = of(8, 40);
        let mut window = ensemble.share();
        ensemble.on_congestion(&mut window, Time::ZERO);
        for place in 0..20 {
            ensemble = ensemble.at(place % 8);
            ensemble.on_ack(&mut window, &acked(0));
        }
        assert!((ensemble.common.size - 21.0).abs() < 0.03, "{ensemble:?}");
    }

    #[test]
    fn losses_within_a_round_trip_halve_it_once() {
        let mut ensemble = of(4, 80);
        let mut window = ensemble.share();
        ensemble.on_ack(&mut window, &acked(0));
        ensemble.common.size = 80.0;
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        for (millis, left) in [(200, 40.0), (250, 40.0), (299, 40.0), (300, 20.0)] {
            ensemble = ensemble.at(millis as u32 % 4);
            ensemble.on_congestion(&mut window, at(millis));
            assert_eq!(ensemble.common.size, left);
        }
        assert_eq!(window.size, 5.0);
    }

    #[test]
    fn what_a_stream_leaves_the_others_take() {
        let mut ensemble = of(2, 20);
        assert_eq!(ensemble.share().size, 10.0);
        ensemble.leave();
        assert_eq!(ensemble.share().size, 20.0);
    }
}
