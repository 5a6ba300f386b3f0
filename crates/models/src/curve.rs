//! Throughput against the number of streams, fitted to measurements.

use thiserror::Error;
use units::Rate;

/// Least share of `a n^2` in `a n^2 + b`, at the most streams sampled, that counts as flattening.
///
/// Rates are whole bits per second; a smaller share is their rounding and would set the limit by chance.
const FLATTENING_MIN: f64 = 1e-6;

/// The partial second-order curve `T(n) = n / sqrt(a n^2 + b)`: rises, flattens, has no peak.
///
/// Source: Lu, Qiao, Dinda and Bustamante, "Modeling and taming parallel TCP on the wide area
/// network", IPDPS 2005: `n^2 / T^2 = a n^2 + b`, since loss over squared rate grows with `n^2`.
/// ```
/// use models::StreamCurve;
/// use units::Rate;
/// let mbit = |rate: f64| Rate::from_f64(rate * 1e6);
/// let curve = StreamCurve::fit(&[(1, mbit(9.45)), (8, mbit(50.0))]).unwrap();
/// assert!((curve.limit().as_f64() / 1e6 - 66.139).abs() < 5e-4);
/// assert!((curve.streams_reaching(0.9).unwrap() - 14.30).abs() < 5e-3);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StreamCurve {
    a: f64,
    b: f64,
}

/// Why samples give no curve of this form.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum CurveError {
    /// A sample without streams or without throughput.
    #[error("a sample of {streams} streams at {throughput} cannot lie on the curve")]
    EmptySample {
        /// Streams of that sample.
        streams: u32,
        /// Its throughput.
        throughput: Rate,
    },
    /// All samples have the same number of streams.
    #[error("{distinct} different numbers of streams were sampled, the curve needs 2")]
    TooFewSamples {
        /// How many different numbers of streams there were.
        distinct: usize,
    },
    /// Throughput still grows in proportion to the streams (a is not above 0): no limit in sight.
    #[error(
        "throughput grows in proportion up to {streams} streams, so the samples show no limit; sample more streams"
    )]
    NoLimit {
        /// The most streams sampled.
        streams: u32,
    },
    /// One stream would carry more than many (b is below 0), which this curve cannot say.
    #[error(
        "throughput falls as streams are added, which this curve cannot follow; choose among the measured points"
    )]
    Falling,
}

impl StreamCurve {
    /// Fits the curve to two or more samples of (streams, aggregate throughput).
    ///
    /// Two samples are met exactly. More are fitted by least squares on `n^2/T^2`, which weighs the
    /// samples with many streams most: the limit comes out better than the first steps.
    pub fn fit(samples: &[(u32, Rate)]) -> Result<Self, CurveError> {
        let points = samples
            .iter()
            .map(linearised)
            .collect::<Result<Vec<_>, _>>()?;
        let line = stats::fit_line(&points).ok_or(CurveError::TooFewSamples {
            distinct: samples.len().min(1),
        })?;
        let streams = samples
            .iter()
            .map(|(streams, _)| *streams)
            .max()
            .unwrap_or(0);
        StreamCurve {
            a: line.slope,
            b: line.intercept,
        }
        .delimited(streams)
    }

    /// The curve itself, when its coefficients mean something for up to `streams` streams.
    fn delimited(self, streams: u32) -> Result<Self, CurveError> {
        let flattening = self.a * f64::from(streams).powi(2);
        let flattens = flattening > FLATTENING_MIN * self.b.abs();
        if !flattens {
            return Err(CurveError::NoLimit { streams });
        }
        // Equal rates give b = 0 up to rounding.
        if self.b < -FLATTENING_MIN * flattening {
            return Err(CurveError::Falling);
        }
        Ok(StreamCurve {
            b: self.b.max(0.0),
            ..self
        })
    }

    /// Predicted aggregate throughput of `streams` streams; zero without any.
    pub fn throughput(&self, streams: u32) -> Rate {
        let n = f64::from(streams);
        Rate::from_f64(n / (self.a * n * n + self.b).sqrt())
    }

    /// What throughput tends to with ever more streams: `1 / sqrt(a)`.
    pub fn limit(&self) -> Rate {
        Rate::from_f64(1.0 / self.a.sqrt())
    }

    /// How many streams reach a fraction of the limit: `sqrt(b/a) f / sqrt(1 - f^2)`.
    ///
    /// Not rounded. `None` for a fraction that is not above 0 and below 1: the limit is never reached.
    pub fn streams_reaching(&self, fraction: f64) -> Option<f64> {
        let reachable = fraction > 0.0 && fraction < 1.0;
        let streams = (self.b / self.a).sqrt() * fraction / (1.0 - fraction * fraction).sqrt();
        reachable.then_some(streams)
    }
}

/// A sample as a point (n^2, n^2/T^2), where the curve is a straight line.
fn linearised(&(streams, throughput): &(u32, Rate)) -> Result<(f64, f64), CurveError> {
    if streams == 0 || throughput == Rate::ZERO {
        return Err(CurveError::EmptySample {
            streams,
            throughput,
        });
    }
    let squared = f64::from(streams).powi(2);
    Ok((squared, squared / throughput.as_f64().powi(2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mbit(rate: f64) -> Rate {
        Rate::from_f64(rate * 1e6)
    }

    fn fit(samples: &[(u32, f64)]) -> Result<StreamCurve, CurveError> {
        let samples: Vec<_> = samples.iter().map(|(n, rate)| (*n, mbit(*rate))).collect();
        StreamCurve::fit(&samples)
    }

    #[test]
    fn the_coefficients_are_the_published_ones() {
        let curve = fit(&[(1, 9.45), (8, 50.0)]).unwrap();
        // Per (bit/s)^2 here, per (Mbit/s)^2 in the worked number: a factor of 1e-12.
        assert!(
            (curve.a * 1e12 / 2.28605e-4 - 1.0).abs() < 1e-5,
            "{curve:?}"
        );
        assert!(
            (curve.b * 1e12 / 1.096929e-2 - 1.0).abs() < 1e-6,
            "{curve:?}"
        );
    }

    #[test]
    fn streams_that_do_not_help_saturate_at_once() {
        let curve = fit(&[(1, 94.0), (2, 94.0), (8, 94.0)]).unwrap();
        assert_eq!(curve.limit(), mbit(94.0));
        assert!(curve.streams_reaching(0.9).unwrap() < 0.01);
    }

    #[test]
    fn growth_in_proportion_has_no_limit() {
        assert_eq!(
            fit(&[(1, 5.0), (2, 10.0), (4, 20.0)]),
            Err(CurveError::NoLimit { streams: 4 })
        );
        // Rounding to whole bits bends the line by parts in a million.
        let rounded = [
            (1, Rate::from_bits_per_second(3_333_333)),
            (3, Rate::from_bits_per_second(9_999_998)),
        ];
        assert_eq!(
            StreamCurve::fit(&rounded),
            Err(CurveError::NoLimit { streams: 3 })
        );
        assert_eq!(
            fit(&[(1, 5.0), (2, 12.0)]),
            Err(CurveError::NoLimit { streams: 2 })
        );
    }

    #[test]
    fn falling_throughput_is_not_followed() {
        assert_eq!(fit(&[(1, 90.0), (8, 60.0)]), Err(CurveError::Falling));
    }

    #[test]
    fn samples_that_say_nothing_are_refused() {
        assert_eq!(fit(&[]), Err(CurveError::TooFewSamples { distinct: 0 }));
        assert_eq!(
            fit(&[(4, 5.0), (4, 6.0)]),
            Err(CurveError::TooFewSamples { distinct: 1 })
        );
        let empty = CurveError::EmptySample {
            streams: 2,
            throughput: Rate::ZERO,
        };
        assert_eq!(fit(&[(1, 5.0), (2, 0.0)]), Err(empty));
        assert_eq!(
            empty.to_string(),
            "a sample of 2 streams at 0bit/s cannot lie on the curve"
        );
    }

    #[test]
    fn the_limit_itself_takes_endless_streams() {
        let curve = fit(&[(1, 9.45), (8, 50.0)]).unwrap();
        for fraction in [0.0, 1.0, 1.1, f64::NAN] {
            assert_eq!(curve.streams_reaching(fraction), None, "{fraction}");
        }
    }

    proptest! {
        #[test]
        fn samples_of_a_curve_give_it_back(limit in 10.0..10_000.0_f64, knee in 0.5..20.0_f64) {
            let of = |n: u32| limit * f64::from(n) / (f64::from(n).powi(2) + knee * knee).sqrt();
            let curve = fit(&[(1, of(1)), (4, of(4)), (16, of(16))]).unwrap();
            prop_assert!((curve.limit().as_f64() / 1e6 / limit - 1.0).abs() < 1e-3);
            prop_assert!((curve.throughput(8).as_f64() / 1e6 / of(8) - 1.0).abs() < 1e-3);
        }

        #[test]
        fn more_streams_never_lose_and_never_pass_the_limit(first in 1.0..90.0_f64, n in 1_u32..500) {
            let curve = fit(&[(1, first), (8, 100.0)]);
            prop_assume!(curve.is_ok());
            let curve = curve.unwrap();
            prop_assert!(curve.throughput(n) <= curve.throughput(n + 1));
            prop_assert!(curve.throughput(n + 1) <= curve.limit());
        }

        #[test]
        fn the_knee_reaches_its_fraction(first in 10.0..70.0_f64, fraction in 0.1..0.98_f64) {
            let curve = fit(&[(1, first), (8, 80.0)]).unwrap();
            let streams = curve.streams_reaching(fraction).unwrap().ceil() as u32;
            let reached = curve.throughput(streams).as_f64() / curve.limit().as_f64();
            prop_assert!(reached >= fraction - 1e-6, "{reached}");
        }
    }
}
