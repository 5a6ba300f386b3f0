//! Two means apart: by how much, and how surely.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::estimate::{CONFIDENCE, Interval, student_t};
use crate::summary::{mean, standard_deviation};

/// A mean with its standard error, as two of them are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean itself.
    pub value: f64,
    /// How far means of repeated measurements would scatter, in the unit of the value.
    pub standard_error: f64,
    /// From how many independent values the scatter is known, less one.
    pub degrees: f64,
}

impl Mean {
    /// The mean of values that do not depend on each other, such as one for each seed.
    ///
    /// `None` for fewer than two values or one that is not finite.
    /// ```
    /// // Standard deviation 2, so the mean of four scatters by 2 / sqrt(4).
    /// let mean = stats::Mean::of_repeats(&[10.0, 14.0, 10.0, 14.0]).unwrap();
    /// assert_eq!((mean.value, mean.degrees), (12.0, 3.0));
    /// assert!((mean.standard_error - 2.309 / 2.0).abs() < 1e-3);
    /// ```
    pub fn of_repeats(values: &[f64]) -> Option<Self> {
        let count = values.len() as f64;
        Some(Mean {
            value: mean(values)?,
            standard_error: standard_deviation(values)? / count.sqrt(),
            degrees: count - 1.0,
        })
    }

    /// The mean behind a 95 % interval that reaches `half_width` to either side of `value`.
    ///
    /// * `degrees`: of freedom that the interval was computed with, above zero.
    /// * `None` where a number is not finite or the degrees are not above zero.
    /// ```
    /// // Student's t for nine degrees of freedom is 2.262.
    /// let mean = stats::Mean::from_interval(26.8, 1.131, 9.0).unwrap();
    /// assert!((mean.standard_error - 0.5).abs() < 1e-4);
    /// ```
    pub fn from_interval(value: f64, half_width: f64, degrees: f64) -> Option<Self> {
        let standard_error = half_width.abs() / student_t(degrees)?;
        let usable = value.is_finite() && standard_error.is_finite();
        usable.then_some(Mean {
            value,
            standard_error,
            degrees,
        })
    }

    /// The 95 % interval; `None` where the degrees of freedom are not above zero.
    pub fn interval(&self) -> Option<Interval<f64>> {
        let half_width = student_t(self.degrees)? * self.standard_error;
        Some(around(self.value, half_width))
    }
}

/// How far two means lie apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The later mean less the earlier.
    pub value: f64,
    /// Where the true difference lies.
    pub interval: Interval<f64>,
    /// The highest confidence at which an interval would still leave out zero: 0.99 says that a
    /// difference this large appears by chance alone in one comparison of a hundred.
    pub confidence: f64,
}

/// `to` less `from`, for means with different scatter (Welch's t test).
///
/// Both must come from separate measurements. `None` where a standard error or its degrees of
/// freedom make no sense.
///
/// Source: Welch, "The generalization of 'Student's' problem when several different population
/// variances are involved", Biometrika 34 (1947); degrees of freedom after Satterthwaite,
/// Biometrics Bulletin 2 (1946).
/// ```
/// // Two runs of ten batches: 26.8 and 29.8, standard errors 0.6 and 0.8. Together 1.0, with
/// // 1 / (0.6^4 / 9 + 0.8^4 / 9) = 16.7 degrees of freedom, t = 2.113.
/// let run = |value, standard_error| stats::Mean { value, standard_error, degrees: 9.0 };
/// let apart = stats::difference(&run(26.8, 0.6), &run(29.8, 0.8)).unwrap();
/// assert!((apart.interval.low - (3.0 - 2.113)).abs() < 1e-3);
/// assert!((apart.confidence - 0.992).abs() < 1e-3);
/// ```
pub fn difference(from: &Mean, to: &Mean) -> Option<Difference> {
    let value = to.value - from.value;
    let variances = [from.standard_error.powi(2), to.standard_error.powi(2)];
    let variance: f64 = variances.iter().sum();
    if !(value + variance).is_finite() {
        return None;
    }
    if variance == 0.0 {
        return Some(exact(value));
    }
    let terms = variances[0].powi(2) / from.degrees + variances[1].powi(2) / to.degrees;
    let degrees = variance.powi(2) / terms;
    let error = variance.sqrt();
    let half_width = student_t(degrees)? * error;
    let distribution = StudentsT::new(0.0, 1.0, degrees).ok()?;
    let confidence = 2.0 * distribution.cdf((value / error).abs()) - 1.0;
    Some(Difference {
        value,
        interval: around(value, half_width),
        confidence,
    })
}

/// The difference of two means that do not scatter at all.
fn exact(value: f64) -> Difference {
    Difference {
        value,
        interval: around(value, 0.0),
        confidence: if value == 0.0 { 0.0 } else { 1.0 },
    }
}

fn around(value: f64, half_width: f64) -> Interval<f64> {
    Interval {
        low: value - half_width,
        high: value + half_width,
        confidence: CONFIDENCE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(value: f64, standard_error: f64) -> Mean {
        Mean {
            value,
            standard_error,
            degrees: 9.0,
        }
    }

    #[test]
    fn a_mean_and_itself_differ_by_nothing() {
        let apart = difference(&run(5.0, 1.0), &run(5.0, 1.0)).unwrap();
        assert_eq!(apart.value, 0.0);
        assert!(apart.interval.low < 0.0 && apart.interval.high > 0.0);
        assert!(apart.confidence.abs() < 1e-9, "{apart:?}");
    }

    #[test]
    fn the_order_turns_the_sign_and_nothing_else() {
        let there = difference(&run(5.0, 0.3), &run(6.0, 0.9)).unwrap();
        let back = difference(&run(6.0, 0.9), &run(5.0, 0.3)).unwrap();
        assert_eq!(there.value, -back.value);
        assert!((there.interval.low + back.interval.high).abs() < 1e-12);
        assert!((there.confidence - back.confidence).abs() < 1e-12);
    }

    /// Where the confidence passes 95 %, the interval touches zero.
    #[test]
    fn confidence_and_interval_agree() {
        for step in 0..200 {
            let apart = difference(&run(0.0, 1.0), &run(f64::from(step) / 40.0, 0.5)).unwrap();
            let without_zero = apart.interval.low > 0.0;
            assert_eq!(without_zero, apart.confidence > CONFIDENCE, "{apart:?}");
        }
    }

    #[test]
    fn means_without_scatter_differ_for_certain_or_not_at_all() {
        assert_eq!(
            difference(&run(1.0, 0.0), &run(2.0, 0.0))
                .unwrap()
                .confidence,
            1.0
        );
        assert_eq!(
            difference(&run(1.0, 0.0), &run(1.0, 0.0))
                .unwrap()
                .confidence,
            0.0
        );
    }

    #[test]
    fn nonsense_has_no_difference() {
        assert_eq!(difference(&run(f64::NAN, 1.0), &run(1.0, 1.0)), None);
        assert_eq!(difference(&run(1.0, f64::INFINITY), &run(1.0, 1.0)), None);
        assert_eq!(Mean::from_interval(1.0, 1.0, 0.0), None);
        assert_eq!(Mean::of_repeats(&[1.0]), None);
    }
}
