//! Whether a run that still goes has shown enough.

use stats::{CONFIDENCE, Estimate, Interval};
use units::Rate;

use super::series::Series;
use super::{Goodput, RateInterval, Steadiness, steady};
use crate::{Precision, Progress};

impl Precision {
    /// Whether the goodput of these streams is known to within this precision, by the scatter
    /// within the run ([`Goodput::scatter`]).
    ///
    /// * `streams`: the readings so far of each stream of one direction, or one series of their
    ///   sum.
    ///
    /// Meant to be asked every [`crate::SamplePlan::INTERVAL`]: it costs microseconds for a run of
    /// ten seconds.
    ///
    /// ```
    /// use observe::{Precision, Progress};
    /// use units::{Bytes, Span, Time};
    /// let precision = Precision { relative_half_width: 0.02, steady_min: Span::from_secs(1) };
    /// let readings = |n: u64| -> Vec<Progress> {
    ///     let reading = |i| Progress {
    ///         at: Time::ZERO + Span::from_millis(100 * i),
    ///         bytes: Bytes::new(1_250_000 * i),
    ///     };
    ///     (1..=n).map(reading).collect()
    /// };
    /// // Ten batches of two intervals are the least that an interval can come from.
    /// assert!(!precision.is_met(&[&readings(19)]));
    /// assert!(precision.is_met(&[&readings(20)]));
    /// ```
    pub fn is_met(&self, streams: &[&[Progress]]) -> bool {
        let Some(series) = Series::of(streams) else {
            return false;
        };
        let window = steady::window(&series);
        let (mean, scatter) = steady::mean(&series, &window);
        let narrow = |scatter: RateInterval| {
            scatter.half_width() <= self.relative_half_width * mean.as_f64()
        };
        window.steadiness == Steadiness::Settled
            && window.length() >= self.steady_min
            && scatter.is_some_and(narrow)
    }
}

impl Goodput {
    /// Half the width of the interval as a share of the mean; `None` without an interval.
    ///
    /// ```
    /// # use observe::{Goodput, RateInterval};
    /// # use units::Rate;
    /// let mbit = |n: u64| Rate::from_bits_per_second(n * 1_000_000);
    /// let interval = Some(RateInterval::new(mbit(38), mbit(42)));
    /// let goodput = Goodput { mean: mbit(40), interval, scatter: None };
    /// assert_eq!(goodput.relative_half_width(), Some(0.05));
    /// ```
    pub fn relative_half_width(&self) -> Option<f64> {
        let half = self.interval?.half_width();
        (self.mean > Rate::ZERO).then(|| half / self.mean.as_f64())
    }
}

/// One sample among others of a search, with the scatter within it: where a run tells nothing of
/// the long run, that is still the least by which it may be off.
impl From<Goodput> for Estimate<Rate> {
    fn from(goodput: Goodput) -> Self {
        Estimate {
            value: goodput.mean,
            interval: goodput.scatter.map(|interval| Interval {
                low: interval.low,
                high: interval.high,
                confidence: CONFIDENCE,
            }),
        }
    }
}
