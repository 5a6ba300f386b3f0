//! Which form of the curve describes measurements best, and how far that can be trusted.
//!
//! Each number of streams is left out in turn, the curve fitted to the others, and the throughput
//! that was left out predicted. A form that merely bends through its samples fails at what it has
//! not seen.
//!
//! The spread of peaks and knees over these fits is a spread and no confidence interval: the fits
//! share nearly all their samples, and leaving out the first or the last of few moves them most.
//!
//! Source: Stone, "Cross-validatory choice and assessment of statistical predictions", Journal of
//! the Royal Statistical Society B 36 (1974).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Rate;

use crate::curve::root_mean_square;
use crate::{Curve, CurveError, Fit, Form};

/// A number of streams and how far it moves as samples are left out; no confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// From all samples, not rounded.
    #[serde(rename = "streams")]
    pub value: f64,
    /// The lowest, that of all samples among them.
    #[serde(rename = "low_streams")]
    pub low: f64,
    /// The highest, likewise.
    #[serde(rename = "high_streams")]
    pub high: f64,
}

/// What came of leaving out each number of streams in turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeftOut {
    /// Root of the mean squared error of what was predicted, in shares of what was measured.
    pub relative_error: f64,
    /// Numbers of streams without which the rest gives no curve of this form.
    pub failed: usize,
}

/// One form, fitted and judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// Which form.
    pub form: Form,
    /// Its fit to all samples.
    pub fit: Result<Fit, CurveError>,
    /// How it predicts what it has not seen; `None` without a fit, and when no fit is left.
    pub left_out: Option<LeftOut>,
    /// Streams at the peak; `None` for a curve without one. Fits without a number of streams that
    /// have no curve say nothing here.
    pub peak: Option<Spread>,
    /// The fewest streams that reach the fraction asked for.
    pub knee: Option<Spread>,
}

/// All forms, the one that predicts best what it has not seen first.
///
/// Forms that lack a fit when some number of streams is left out come after those that never do,
/// and forms that do not fit at all come last.
///
/// * `samples`: (streams, aggregate throughput), several of one number of streams are welcome.
/// * `fraction`, `streams_max`: as for [`Curve::knee`].
/// ```
/// use models::{Form, rank};
/// use units::Rate;
/// // 64 / sqrt(1 + 100/n^2), 1 % up and down: a curve without a peak.
/// let samples = [(1, 6.43), (2, 12.43), (4, 24.0), (8, 39.58), (16, 54.82), (32, 60.5)]
///     .map(|(streams, mbit): (u32, f64)| (streams, Rate::from_f64(mbit * 1e6)));
/// let ranked = rank(&samples, 0.9, 128);
/// assert_eq!(ranked[0].form, Form::PartialSecondOrder);
/// assert!(ranked[0].left_out.unwrap().relative_error < 0.02);
/// let knee = ranked[0].knee.unwrap();
/// assert!(knee.low > 18.0 && knee.high < 22.0, "{knee:?}");
/// ```
pub fn rank(samples: &[(u32, Rate)], fraction: f64, streams_max: u32) -> Vec<Ranked> {
    let mut ranked = Form::ALL.map(|form| judge(form, samples, fraction, streams_max));
    ranked.sort_by(|one, other| {
        one.order()
            .partial_cmp(&other.order())
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    ranked.to_vec()
}

impl Ranked {
    fn order(&self) -> (bool, usize, f64) {
        let failed = self.left_out.map_or(usize::MAX, |left_out| left_out.failed);
        let error = self
            .left_out
            .map_or(f64::INFINITY, |left_out| left_out.relative_error);
        (self.fit.is_err(), failed, error)
    }
}

fn judge(form: Form, samples: &[(u32, Rate)], fraction: f64, streams_max: u32) -> Ranked {
    let fit = Fit::of(form, samples);
    let (mut errors, mut curves, mut failed) = (Vec::new(), Vec::new(), 0);
    for streams in distinct(samples) {
        let (left_out, rest): (Vec<_>, Vec<_>) =
            samples.iter().copied().partition(|(n, _)| *n == streams);
        match Fit::of(form, &rest) {
            Ok(fit) => {
                errors.extend(
                    left_out
                        .iter()
                        .map(|sample| relative_error(&fit.curve, sample)),
                );
                curves.push(fit.curve);
            }
            Err(_) => failed += 1,
        }
    }
    let all = fit.as_ref().ok().map(|fit| fit.curve);
    let spread = |of: &dyn Fn(&Curve) -> Option<f64>| all.and_then(|all| spread(&all, &curves, of));
    Ranked {
        form,
        left_out: all.filter(|_| !errors.is_empty()).map(|_| LeftOut {
            relative_error: root_mean_square(&errors),
            failed,
        }),
        peak: spread(&Curve::peak),
        knee: spread(&|curve| curve.knee(fraction, streams_max)),
        fit,
    }
}

fn distinct(samples: &[(u32, Rate)]) -> Vec<u32> {
    let mut streams: Vec<u32> = samples.iter().map(|(streams, _)| *streams).collect();
    streams.sort_unstable();
    streams.dedup();
    streams
}

fn relative_error(curve: &Curve, (streams, measured): &(u32, Rate)) -> f64 {
    curve.throughput(*streams).as_f64() / measured.as_f64() - 1.0
}

fn spread(all: &Curve, others: &[Curve], of: &dyn Fn(&Curve) -> Option<f64>) -> Option<Spread> {
    let value = of(all)?;
    let values = || others.iter().filter_map(of);
    Some(Spread {
        value,
        low: values().fold(value, f64::min),
        high: values().fold(value, f64::max),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn samples(curve: &Curve, streams: &[u32], noise: f64) -> Vec<(u32, Rate)> {
        let off = |index: usize| 1.0 + noise * [1.0, -1.0, 0.5, -0.5][index % 4];
        let sample = |(index, n): (usize, &u32)| {
            (
                *n,
                Rate::from_f64(curve.throughput(*n).as_f64() * off(index)),
            )
        };
        streams.iter().enumerate().map(sample).collect()
    }

    const STREAMS: [u32; 8] = [1, 2, 4, 8, 12, 16, 24, 32];

    #[test]
    fn each_form_recognises_its_own() {
        let curves = [
            Curve::PartialSecondOrder {
                a: 2.3e-4,
                b: 1.1e-2,
            },
            Curve::Newton {
                a: 2e-5,
                b: 0.02,
                c: 2.6,
            },
            Curve::FullSecondOrder {
                a: 1e-4,
                b: -1.5e-3,
                c: 0.012,
            },
            Curve::FullC {
                a: 2e-7,
                b: 0.02,
                c: 4.0,
                d: -2e-4,
            },
            Curve::Logarithmic { a: 10.0, b: 9.0 },
        ];
        for curve in curves {
            let ranked = rank(&samples(&curve, &STREAMS, 0.0), 0.9, 128);
            let own = ranked
                .iter()
                .find(|ranked| ranked.form == curve.form())
                .unwrap();
            let error = own.left_out.unwrap().relative_error;
            assert!(error < 1e-3, "{curve:?}: {error}");
            // The full c form contains the others.
            let best = &ranked[0];
            assert!(
                best.form == curve.form() || best.left_out.unwrap().relative_error < 1e-6,
                "{curve:?}: {best:?}"
            );
        }
    }

    #[test]
    fn a_peak_is_found_with_its_spread() {
        let curve = Curve::FullSecondOrder {
            a: 1e-4,
            b: -1.5e-3,
            c: 0.012,
        };
        let ranked = rank(&samples(&curve, &STREAMS, 0.02), 0.9, 128);
        let peak = ranked
            .iter()
            .find(|ranked| ranked.form == curve.form())
            .unwrap()
            .peak
            .unwrap();
        assert!(peak.low <= peak.value && peak.value <= peak.high);
        assert!(peak.low > 13.0 && peak.high < 19.0, "{peak:?}");
    }

    #[test]
    fn forms_that_cannot_be_judged_come_last() {
        // Three samples: the forms of three coefficients go through them, and nothing is left to
        // judge by.
        let curve = Curve::PartialSecondOrder {
            a: 2.3e-4,
            b: 1.1e-2,
        };
        let ranked = rank(&samples(&curve, &[1, 4, 16], 0.01), 0.9, 128);
        assert_eq!(ranked[0].left_out.unwrap().failed, 0);
        assert_eq!(ranked[4].form, Form::FullC);
        assert!(matches!(
            ranked[4].fit,
            Err(CurveError::TooFewSamples { .. })
        ));
    }

    #[test]
    fn nothing_to_fit_is_five_refusals() {
        let ranked = rank(&[], 0.9, 128);
        assert!(
            ranked
                .iter()
                .all(|ranked| ranked.fit.is_err() && ranked.knee.is_none())
        );
    }

    #[test]
    fn a_level_line_through_noise_needs_one_stream() {
        let level: Vec<_> = [(1, 940.0), (2, 942.0), (4, 939.0), (8, 938.0)]
            .map(|(n, mbit): (u32, f64)| (n, Rate::from_f64(mbit * 1e6)))
            .to_vec();
        let ranked = rank(&level, 0.9, 128);
        let partial = ranked
            .iter()
            .find(|ranked| ranked.form == Form::PartialSecondOrder);
        let knee = partial.unwrap().knee.unwrap();
        assert_eq!((knee.low, knee.high), (1.0, 1.0));
    }

    proptest! {
        #[test]
        fn anything_is_ranked(rates in prop::collection::vec(0_u64..1_000_000_000, 0..9)) {
            let samples: Vec<_> = rates.iter().enumerate()
                .map(|(index, rate)| (1 << index, Rate::from_bits_per_second(*rate)))
                .collect();
            let ranked = rank(&samples, 0.9, 128);
            prop_assert_eq!(ranked.len(), 5);
            for ranked in ranked {
                if let Ok(fit) = &ranked.fit {
                    prop_assert_eq!(fit.residuals.len(), samples.len());
                    prop_assert!(fit.relative_error().is_finite(), "{:?}", fit);
                }
            }
        }
    }
}
