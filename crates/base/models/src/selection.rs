//! Which numbers of streams to sample, and the curve that explains the samples best, as published.
//!
//! These are baselines: the rules are the literature's, and so are their weaknesses. Both take each
//! sample for exact; one noisy sample stops the first rule or moves the second's peak.
//!
//! Source: Yildirim, Yin and Kosar, "Prediction of optimal parallelism level in wide area data
//! transfers", IEEE TPDS 22 (2011).

use thiserror::Error;
use units::Rate;

use crate::{Curve, CurveError, Form};

/// The number of streams that ExpSelection samples next: 1, 2, 4, 8, ...; `None` when it stops.
///
/// It stops when the slope of the last doubling, `(T_2n - T_n) / (2n - n)`, is at or below
/// `accuracy`, and never goes beyond `streams_max`.
///
/// * `samples`: those it asked for so far, in that order, each (streams, aggregate throughput).
/// * `accuracy`: throughput that each further stream has to add.
/// ```
/// use models::exp_selection;
/// use units::Rate;
/// let mbit = |rate: u64| Rate::from_bits_per_second(rate * 1_000_000);
/// let mut samples = vec![(1, mbit(9)), (2, mbit(18)), (4, mbit(34))];
/// // The slope from 2 to 4 streams is 8 Mbit/s for each.
/// assert_eq!(exp_selection(&samples, mbit(1), 128), Some(8));
/// samples.push((8, mbit(37)));
/// // 3 Mbit/s for 4 more streams.
/// assert_eq!(exp_selection(&samples, mbit(1), 128), None);
/// ```
pub fn exp_selection(samples: &[(u32, Rate)], accuracy: Rate, streams_max: u32) -> Option<u32> {
    let next = match samples {
        [] => 1,
        [(last, _)] => last.checked_mul(2)?,
        [.., before, last] => {
            let gained = last.1.as_f64() - before.1.as_f64();
            let slope = gained / (f64::from(last.0) - f64::from(before.0));
            (slope > accuracy.as_f64()).then_some(last.0.checked_mul(2)?)?
        }
    };
    (next <= streams_max).then_some(next)
}

/// The curve that BestCmb picks.
#[derive(Debug, Clone, PartialEq)]
pub struct BestCombination {
    /// It goes through [`BestCombination::through`].
    pub curve: Curve,
    /// The samples that it goes through.
    pub through: Vec<(u32, Rate)>,
    /// How far it lies from a sample in the mean over all of them, either way.
    pub mean_absolute_error: Rate,
    /// How many combinations gave a curve within the bounds of [`Curve::delimited`].
    pub effective: usize,
    /// How many there were.
    pub combinations: usize,
}

/// Why BestCmb picks nothing.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum CombinationError {
    /// No curve goes through any samples.
    #[error(transparent)]
    Samples(CurveError),
    /// Each of the curves breaks a bound.
    #[error(
        "none of {combinations} combinations of samples gives a {form} curve within its bounds, so \
            these samples show no peak; use the knee"
    )]
    NoneEffective {
        /// Which form.
        form: Form,
        /// How many combinations were tried.
        combinations: usize,
    },
}

/// BestCmb: of the curves of `form` through every combination of samples, the one within bounds
/// that has the smallest mean absolute error over all samples; the first of equals.
///
/// Published for [`Form::Newton`] and [`Form::FullSecondOrder`] over all triples. The number of
/// streams to use is the [`Curve::peak`] of its curve.
/// ```
/// use models::{Form, best_combination};
/// use units::Rate;
/// // Th(1, 4, 16) of a = 1e-4, b = -1.5e-3, c = 0.012, and a disturbed sample among them.
/// let samples = [(1, 9.71286), (2, 16.0), (4, 45.88315), (16, 137.19887)]
///     .map(|(streams, mbit): (u32, f64)| (streams, Rate::from_f64(mbit * 1e6)));
/// let best = best_combination(Form::FullSecondOrder, &samples).unwrap();
/// assert_eq!(best.through, [samples[0], samples[2], samples[3]]);
/// assert!((best.curve.peak().unwrap() - 16.0).abs() < 1e-3);
/// assert_eq!((best.effective, best.combinations), (1, 4));
/// ```
///
/// # Errors
/// When there are too few samples, and when no combination gives a curve within its bounds.
pub fn best_combination(
    form: Form,
    samples: &[(u32, Rate)],
) -> Result<BestCombination, CombinationError> {
    let mut search = Search {
        form,
        samples,
        best: None,
        effective: 0,
        combinations: 0,
        refused: None,
    };
    search.extend(&mut Vec::with_capacity(form.coefficients()), samples);
    search.best()
}

type Samples = Vec<(u32, Rate)>;

struct Search<'a> {
    form: Form,
    samples: &'a [(u32, Rate)],
    best: Option<(f64, Curve, Samples)>,
    effective: usize,
    combinations: usize,
    refused: Option<CurveError>,
}

impl Search<'_> {
    /// Tries every combination that begins with `chosen` and goes on with samples of `left`, in
    /// order.
    fn extend(&mut self, chosen: &mut Vec<(u32, Rate)>, left: &[(u32, Rate)]) {
        if chosen.len() == self.form.coefficients() {
            return self.consider(chosen);
        }
        for (index, sample) in left.iter().enumerate() {
            chosen.push(*sample);
            self.extend(chosen, &left[index + 1..]);
            chosen.pop();
        }
    }

    fn consider(&mut self, chosen: &[(u32, Rate)]) {
        self.combinations += 1;
        let curve = match Curve::through(self.form, chosen) {
            Ok(curve) => curve,
            Err(error) => {
                self.refused.get_or_insert(error);
                return;
            }
        };
        self.effective += 1;
        let error = mean_absolute_error(&curve, self.samples);
        if self.best.as_ref().is_none_or(|best| error < best.0) {
            self.best = Some((error, curve, chosen.to_vec()));
        }
    }

    fn best(self) -> Result<BestCombination, CombinationError> {
        let (form, combinations) = (self.form, self.combinations);
        let (error, curve, through) = match (self.best, self.refused) {
            (Some(best), _) => best,
            (None, Some(error @ CurveError::EmptySample { .. })) => {
                return Err(CombinationError::Samples(error));
            }
            (None, Some(_)) => {
                return Err(CombinationError::NoneEffective { form, combinations });
            }
            (None, None) => {
                let distinct = self.samples.len();
                let error = CurveError::TooFewSamples { form, distinct };
                return Err(CombinationError::Samples(error));
            }
        };
        Ok(BestCombination {
            curve,
            through,
            mean_absolute_error: Rate::from_f64(error),
            effective: self.effective,
            combinations,
        })
    }
}

fn mean_absolute_error(curve: &Curve, samples: &[(u32, Rate)]) -> f64 {
    let error =
        |(streams, rate): &(u32, Rate)| (curve.throughput(*streams).as_f64() - rate.as_f64()).abs();
    samples.iter().map(error).sum::<f64>() / samples.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mbit(rate: f64) -> Rate {
        Rate::from_f64(rate * 1e6)
    }

    fn samples(rates: &[(u32, f64)]) -> Vec<(u32, Rate)> {
        rates.iter().map(|(n, rate)| (*n, mbit(*rate))).collect()
    }

    #[test]
    fn sampling_ends_where_throughput_falls_or_streams_run_out() {
        let falling = samples(&[(1, 50.0), (2, 40.0)]);
        assert_eq!(exp_selection(&falling, mbit(0.1), 128), None);
        let growing = samples(&[(1, 1.0), (2, 2.0), (4, 4.0)]);
        assert_eq!(exp_selection(&growing, mbit(0.1), 8), Some(8));
        assert_eq!(exp_selection(&growing, mbit(0.1), 7), None);
        let endless = samples(&[(1 << 30, 1.0), (1 << 31, 9e9)]);
        assert_eq!(exp_selection(&endless, Rate::ZERO, u32::MAX), None);
        assert_eq!(exp_selection(&[], mbit(0.1), 0), None);
    }

    #[test]
    fn too_few_samples_and_none_effective_are_told_apart() {
        let few = best_combination(Form::Newton, &samples(&[(1, 5.0), (2, 9.0)]));
        let error = CurveError::TooFewSamples {
            form: Form::Newton,
            distinct: 2,
        };
        assert_eq!(few, Err(CombinationError::Samples(error)));
        let proportional = samples(&[(1, 5.0), (2, 10.0), (4, 20.0), (8, 40.0)]);
        let none = CombinationError::NoneEffective {
            form: Form::Newton,
            combinations: 4,
        };
        assert_eq!(best_combination(Form::Newton, &proportional), Err(none));
        let empty = best_combination(Form::Newton, &samples(&[(1, 0.0), (2, 1.0), (4, 2.0)]));
        assert!(matches!(
            empty,
            Err(CombinationError::Samples(CurveError::EmptySample { .. }))
        ));
    }

    proptest! {
        #[test]
        fn the_best_is_no_worse_than_any_single_combination(rates in prop::array::uniform5(10.0..100.0_f64)) {
            let samples: Vec<_> = [1, 2, 4, 8, 16].into_iter().zip(rates.map(mbit)).collect();
            for form in [Form::Newton, Form::FullSecondOrder] {
                let Ok(best) = best_combination(form, &samples) else { continue };
                prop_assert_eq!(best.combinations, 10);
                let one = Curve::through(form, &best.through).unwrap();
                prop_assert_eq!(one, best.curve);
                for left_out in 0..5 {
                    let mut three = samples.clone();
                    three.remove(left_out);
                    three.remove(left_out % 4);
                    if let Ok(curve) = Curve::through(form, &three) {
                        let error = Rate::from_f64(mean_absolute_error(&curve, &samples));
                        prop_assert!(best.mean_absolute_error <= error);
                    }
                }
            }
        }
    }
}
