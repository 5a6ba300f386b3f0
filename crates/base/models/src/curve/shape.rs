//! Where a curve peaks, flattens and stops being worth more streams.

use units::Rate;

use super::{Curve, MBIT, Shape};
use crate::root::bisect;

/// A curve that still rises here is taken to have no peak: no host opens so many streams.
const STREAMS_BEYOND: f64 = 1e9;

impl Curve {
    /// The number of streams, not rounded, at which throughput is highest; `None` where it never
    /// falls.
    ///
    /// Newton: `(2b / (a (c - 2)))^(1/c)`. Full second order: `-2c / b`. Full c by bisection.
    /// ```
    /// use models::Curve;
    /// let newton = Curve::Newton { a: 2e-5, b: 0.02, c: 2.6 };
    /// assert!((newton.peak().unwrap() - 22.644).abs() < 5e-4);
    /// let full = Curve::FullSecondOrder { a: 1e-4, b: -1.5e-3, c: 0.012 };
    /// assert!((full.peak().unwrap() - 16.0).abs() < 1e-12);
    /// // Throughput there is sqrt(4c / (4ac - b^2)) = 137.19887 Mbit/s.
    /// let (b, c) = (-1.5e-3_f64, 0.012_f64);
    /// let highest = (4.0 * c / (4.0 * 1e-4 * c - b * b)).sqrt();
    /// assert!((full.throughput(16).as_f64() / 1e6 - highest).abs() < 1e-5);
    /// // Full c with the power 2.6 and no linear part is Newton's.
    /// let same = Curve::FullC { a: 2e-5, b: 0.02, c: 2.6, d: 0.0 };
    /// assert!((same.peak().unwrap() - 22.644).abs() < 5e-4);
    /// assert_eq!(Curve::PartialSecondOrder { a: 2.28605e-4, b: 1.096929e-2 }.peak(), None);
    /// ```
    pub fn peak(&self) -> Option<f64> {
        let peak = match *self {
            Curve::Newton { a, b, c } => (2.0 * b / (a * (c - 2.0))).powf(1.0 / c),
            Curve::FullSecondOrder { b, c, .. } => -2.0 * c / b,
            Curve::FullC { .. } => self.turning_point()?,
            Curve::PartialSecondOrder { .. } | Curve::Logarithmic { .. } => return None,
        };
        (peak > 0.0 && peak.is_finite()).then_some(peak)
    }

    /// Where the curve stops rising, from one stream on.
    fn turning_point(&self) -> Option<f64> {
        let mut above = 2.0;
        while self.rises_at(above) {
            above *= 2.0;
            if above > STREAMS_BEYOND {
                return None;
            }
        }
        Some(bisect(1.0, above, |n| self.rises_at(n)))
    }

    fn rises_at(&self, streams: f64) -> bool {
        self.slope_mbit(streams) > 0.0
    }

    pub(super) fn slope_mbit(&self, streams: f64) -> f64 {
        match self.shape() {
            Shape::Root(radicand) => {
                let share = radicand.rising(streams) / (2.0 * streams * radicand.at(streams));
                self.mbit(streams) * share
            }
            Shape::Log { a, .. } => a / streams,
        }
    }

    /// What throughput tends to with ever more streams; `None` for the logarithmic form, which has
    /// no bound.
    ///
    /// `1 / sqrt(a)` for both second orders; zero for a power above 2, whose throughput falls for
    /// good.
    /// ```
    /// use models::Curve;
    /// let lu = Curve::PartialSecondOrder { a: 2.28605e-4, b: 1.096929e-2 };
    /// assert!((lu.limit().unwrap().as_f64() / 1e6 - 66.139).abs() < 5e-4);
    /// let full = Curve::FullSecondOrder { a: 1e-4, b: -1.5e-3, c: 0.012 };
    /// assert_eq!(full.limit().unwrap().to_string(), "100Mbit/s");
    /// ```
    pub fn limit(&self) -> Option<Rate> {
        match *self {
            Curve::PartialSecondOrder { a, .. } | Curve::FullSecondOrder { a, .. } => {
                Some(Rate::from_f64(MBIT / a.sqrt()))
            }
            Curve::Newton { .. } | Curve::FullC { .. } => Some(Rate::ZERO),
            Curve::Logarithmic { .. } => None,
        }
    }

    /// The fewest streams, not rounded, that reach `fraction` of the highest throughput with up to
    /// `streams_max`; at least one.
    ///
    /// `None` for a fraction that is not above 0 and at most 1, and for no streams.
    ///
    /// For the partial second order and endless streams this is `sqrt(b/a) f / sqrt(1 - f^2)`:
    /// ```
    /// use models::Curve;
    /// let lu = Curve::PartialSecondOrder { a: 2.28605e-4, b: 1.096929e-2 };
    /// assert!((lu.knee(0.9, u32::MAX).unwrap() - 14.30).abs() < 5e-3);
    /// // Of what 16 streams carry, 90 % take fewer.
    /// assert!((lu.knee(0.9, 16).unwrap() - 10.15).abs() < 5e-3);
    /// ```
    pub fn knee(&self, fraction: f64, streams_max: u32) -> Option<f64> {
        let possible = fraction > 0.0 && fraction <= 1.0 && streams_max > 0;
        let best = self.best(streams_max);
        let wanted = fraction * self.mbit(best);
        possible.then(|| bisect(1.0, best, |n| self.mbit(n) < wanted))
    }

    /// The number of streams up to `streams_max` with the highest throughput.
    ///
    /// A curve within its bounds rises up to its one peak.
    pub(super) fn best(&self, streams_max: u32) -> f64 {
        let last = f64::from(streams_max.max(1));
        self.peak().map_or(last, |peak| peak.clamp(1.0, last))
    }
}
