//! Round-trip estimate and retransmission timeout (RFC 6298).

use units::Span;

/// The longest timeout, with all its doublings.
const TIMEOUT_MAX: Span = Span::from_secs(60);
/// Before anything was measured (RFC 6298 section 2.1).
const TIMEOUT_FIRST: Span = Span::from_secs(1);

/// What the least timeout bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutFloor {
    /// The timeout as a whole (RFC 6298 section 2.4).
    Whole(Span),
    /// What is added to the smoothed round trip, as Linux does it.
    Margin(Span),
}

impl TimeoutFloor {
    /// The time itself.
    pub(crate) fn least(self) -> Span {
        match self {
            TimeoutFloor::Whole(least) | TimeoutFloor::Margin(least) => least,
        }
    }
}

/// Smoothed round-trip time and its variation, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoundTrip {
    smoothed: u64,
    variation: u64,
    pub(crate) min: Span,
    /// Doublings since the last acknowledgement of new data.
    backoff: u8,
}

impl RoundTrip {
    pub(crate) const fn new() -> Self {
        RoundTrip {
            smoothed: 0,
            variation: 0,
            min: Span::MAX,
            backoff: 0,
        }
    }

    /// A measurement: RFC 6298 sections 2.2 and 2.3.
    #[inline]
    pub(crate) fn on_sample(&mut self, sample: Span) {
        self.min = self.min.min(sample);
        let sample = sample.as_nanos();
        if self.smoothed == 0 {
            (self.smoothed, self.variation) = (sample, sample / 2);
            return;
        }
        let error = self.smoothed.abs_diff(sample);
        self.variation = self.variation - self.variation / 4 + error / 4;
        self.smoothed = self.smoothed - self.smoothed / 8 + sample / 8;
    }

    /// The smoothed round trip; `None` before the first measurement.
    pub(crate) fn smoothed(&self) -> Option<Span> {
        (self.smoothed > 0).then(|| Span::from_nanos(self.smoothed))
    }

    /// Its variation; `None` before the first measurement.
    pub(crate) fn variation(&self) -> Option<Span> {
        (self.smoothed > 0).then(|| Span::from_nanos(self.variation))
    }

    /// The smallest measurement; `None` before the first.
    pub(crate) fn smallest(&self) -> Option<Span> {
        (self.min < Span::MAX).then_some(self.min)
    }

    /// How long to wait for an acknowledgement.
    #[inline]
    pub(crate) fn timeout(&self, floor: TimeoutFloor) -> Span {
        let base = match (self.smoothed, floor) {
            (0, _) => TIMEOUT_FIRST,
            (smoothed, TimeoutFloor::Whole(least)) => {
                Span::from_nanos(smoothed + 4 * self.variation).max(least)
            }
            (smoothed, TimeoutFloor::Margin(least)) => {
                Span::from_nanos(smoothed + (4 * self.variation).max(least.as_nanos()))
            }
        };
        base.times(1 << self.backoff).min(TIMEOUT_MAX)
    }

    /// The timer went off: RFC 6298 section 5.5.
    pub(crate) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(16);
    }

    /// New data was acknowledged.
    #[inline]
    pub(crate) fn recovered(&mut self) {
        self.backoff = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOOR: TimeoutFloor = TimeoutFloor::Whole(Span::from_millis(200));

    #[test]
    fn the_first_measurement_sets_both() {
        let mut round_trip = RoundTrip::new();
        assert_eq!(round_trip.timeout(FLOOR), Span::from_secs(1));
        round_trip.on_sample(Span::from_millis(100));
        // 100 ms + 4 x 50 ms.
        assert_eq!(round_trip.timeout(FLOOR), Span::from_millis(300));
    }

    #[test]
    fn a_steady_path_comes_down_to_the_floor() {
        let mut round_trip = RoundTrip::new();
        for _ in 0..200 {
            round_trip.on_sample(Span::from_millis(40));
        }
        assert_eq!(round_trip.timeout(FLOOR), Span::from_millis(200));
        let linux = TimeoutFloor::Margin(Span::from_millis(200));
        assert_eq!(round_trip.timeout(linux), Span::from_millis(240));
    }

    #[test]
    fn timeouts_double_up_to_the_bound() {
        let mut round_trip = RoundTrip::new();
        for doubled in [2, 4, 8, 16, 32, 60, 60] {
            round_trip.back_off();
            assert_eq!(round_trip.timeout(FLOOR), Span::from_secs(doubled));
        }
        round_trip.recovered();
        assert_eq!(round_trip.timeout(FLOOR), Span::from_secs(1));
    }
}
