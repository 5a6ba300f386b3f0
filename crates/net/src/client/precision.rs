//! Whether the goodput of a running test is known well enough to end it.

use observe::{Precision, Snapshot};
use stats::{SteadyState, mean_with_interval, steady_state};
use units::Time;

/// The rate of each interval so far.
#[derive(Debug, Default)]
pub(super) struct Rates {
    rates: Vec<f64>,
    times: Vec<Time>,
}

impl Rates {
    pub(super) fn add(&mut self, snapshot: &Snapshot) {
        if snapshot.at > Time::ZERO {
            self.rates.push(snapshot.rate.as_f64());
            self.times.push(snapshot.at);
        }
    }

    /// Whether the steady part is long enough and its 95 % interval narrow enough.
    pub(super) fn suffice(&self, wanted: &Precision) -> bool {
        self.relative_half_width(wanted)
            .is_some_and(|width| width <= wanted.relative_half_width)
    }

    fn relative_half_width(&self, wanted: &Precision) -> Option<f64> {
        let SteadyState::Settled { from } = steady_state(&self.rates)? else {
            return None;
        };
        let (begin, end) = (self.times.get(from)?, self.times.last()?);
        let long_enough = end.since(*begin) >= wanted.steady_min;
        let steady = self.rates.get(from..).filter(|_| long_enough)?;
        let estimate = mean_with_interval(steady)?;
        let interval = estimate.interval.filter(|_| estimate.value > 0.0)?;
        Some((interval.high - interval.low) / 2.0 / estimate.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Bytes, Rate, Span};

    const WANTED: Precision = Precision {
        relative_half_width: 0.02,
        steady_min: Span::from_secs(2),
    };

    fn rates(megabits: impl Iterator<Item = u64>) -> Rates {
        let mut rates = Rates::default();
        for (index, rate) in megabits.enumerate() {
            rates.add(&Snapshot {
                at: Time::ZERO + Span::from_millis(100 * (index as u64 + 1)),
                duration_max: None,
                bytes: Bytes::ZERO,
                rate: Rate::from_bits_per_second(rate * 1_000_000),
                rtt: None,
            });
        }
        rates
    }

    #[test]
    fn a_steady_rate_is_known_soon() {
        let steady = rates((0..40).map(|n| 100 + n % 2));
        assert!(steady.suffice(&WANTED));
    }

    #[test]
    fn a_short_or_wild_series_is_not_believed() {
        assert!(!rates((0..10).map(|_| 100)).suffice(&WANTED));
        assert!(!rates((0..40).map(|n| 10 + 90 * ((n / 7) % 2))).suffice(&WANTED));
    }
}
