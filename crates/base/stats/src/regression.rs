//! A straight line through points.

use crate::finite;
use crate::summary::{average, squared_deviations};

/// A straight line fitted to points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Change of `y` for each unit of `x`.
    pub slope: f64,
    /// `y` at `x = 0`.
    pub intercept: f64,
    /// Share of the variation of `y` that the line accounts for, 0 to 1. Absent when `y` never
    /// varies and there is nothing to account for.
    pub r_squared: Option<f64>,
    /// Standard error of the slope, assuming independent errors of equal size. Absent for two
    /// points, which leave nothing to judge the line by.
    pub slope_error: Option<f64>,
}

impl Line {
    /// `y` on the line at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

/// Fits a line to points `(x, y)` by ordinary least squares.
///
/// `None` for fewer than two points, for a coordinate that is not finite, and when every `x` is the
/// same.
///
/// Source: Draper and Smith, "Applied Regression Analysis", 3rd edition (1998), chapter 1.
/// ```
/// // Sender CPU in percent at four rates in Mbit/s, 0.15 % for each Mbit/s: the slope that
/// // Cottrell et al. saw from SLAC in 2000-2001.
/// let line = stats::fit_line(&[(10.0, 1.5), (20.0, 3.0), (40.0, 6.0), (80.0, 12.0)]).unwrap();
/// assert!((line.slope - 0.15).abs() < 1e-12);
/// assert!((line.r_squared.unwrap() - 1.0).abs() < 1e-12);
/// ```
pub fn fit_line(points: &[(f64, f64)]) -> Option<Line> {
    let (xs, ys): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let (xs, ys) = (finite(&xs)?, finite(&ys)?);
    let (x_mean, y_mean) = (average(xs), average(ys));
    let x_variation = squared_deviations(xs);
    if x_variation == 0.0 {
        return None;
    }
    let covariation: f64 = points
        .iter()
        .map(|(x, y)| (x - x_mean) * (y - y_mean))
        .sum();
    let slope = covariation / x_variation;
    let intercept = y_mean - slope * x_mean;
    let residual = residual_variation(points, slope, intercept);
    Some(Line {
        slope,
        intercept,
        r_squared: explained_share(residual, squared_deviations(ys)),
        slope_error: slope_error(residual, x_variation, points.len()),
    })
}

/// Fits a line to points that are not equally sure: least squares with each square times its
/// weight.
///
/// * `weights`: one for each point, inverse to the variance of its `y`, not negative.
/// * `r_squared` of the result is over the weighted variation; `slope_error` is absent.
/// * `None` as [`fit_line`], and where the weights do not match the points or are all zero.
///
/// ```
/// // The third point hardly counts.
/// let line = stats::fit_line_weighted(&[(0.0, 0.0), (1.0, 1.0), (2.0, 9.0)], &[1.0, 1.0, 1e-9]).unwrap();
/// assert!((line.slope - 1.0).abs() < 1e-6);
/// ```
pub fn fit_line_weighted(points: &[(f64, f64)], weights: &[f64]) -> Option<Line> {
    let (xs, ys): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let (xs, ys, weights) = (finite(&xs)?, finite(&ys)?, finite(weights)?);
    let all: f64 = weights.iter().sum();
    let usable = weights.len() == xs.len() && weights.iter().all(|w| *w >= 0.0) && all > 0.0;
    if !usable {
        return None;
    }
    let mean = |values: &[f64]| values.iter().zip(weights).map(|(v, w)| v * w).sum::<f64>() / all;
    let (x_mean, y_mean) = (mean(xs), mean(ys));
    let sum = |term: &dyn Fn(f64, f64) -> f64| -> f64 {
        let terms = points.iter().zip(weights);
        terms.map(|((x, y), w)| w * term(*x, *y)).sum()
    };
    let x_variation = sum(&|x, _| (x - x_mean).powi(2));
    if x_variation == 0.0 {
        return None;
    }
    let slope = sum(&|x, y| (x - x_mean) * (y - y_mean)) / x_variation;
    let intercept = y_mean - slope * x_mean;
    let residual = sum(&|x, y| (y - intercept - slope * x).powi(2));
    Some(Line {
        slope,
        intercept,
        r_squared: explained_share(residual, sum(&|_, y| (y - y_mean).powi(2))),
        slope_error: None,
    })
}

fn residual_variation(points: &[(f64, f64)], slope: f64, intercept: f64) -> f64 {
    let residual = |(x, y): &(f64, f64)| (y - intercept - slope * x).powi(2);
    points.iter().map(residual).sum()
}

fn explained_share(residual: f64, total: f64) -> Option<f64> {
    (total > 0.0).then(|| (1.0 - residual / total).clamp(0.0, 1.0))
}

fn slope_error(residual: f64, x_variation: f64, points: usize) -> Option<f64> {
    let degrees_of_freedom = points.checked_sub(2).filter(|left| *left > 0)?;
    Some((residual / degrees_of_freedom as f64 / x_variation).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn anscombes_first_set_gives_its_known_line() {
        // Anscombe 1973, set I: y = 3.00 + 0.500 x, R^2 = 0.67, standard error of the slope 0.118.
        let points = [
            (10.0, 8.04),
            (8.0, 6.95),
            (13.0, 7.58),
            (9.0, 8.81),
            (11.0, 8.33),
            (14.0, 9.96),
            (6.0, 7.24),
            (4.0, 4.26),
            (12.0, 10.84),
            (7.0, 4.82),
            (5.0, 5.68),
        ];
        let line = fit_line(&points).unwrap();
        assert!((line.slope - 0.500).abs() < 5e-4, "{line:?}");
        assert!((line.intercept - 3.00).abs() < 5e-3, "{line:?}");
        assert!((line.r_squared.unwrap() - 0.67).abs() < 5e-3, "{line:?}");
        assert!((line.slope_error.unwrap() - 0.118).abs() < 5e-4, "{line:?}");
    }

    #[test]
    fn too_few_or_stacked_points_have_no_line() {
        assert_eq!(fit_line(&[]), None);
        assert_eq!(fit_line(&[(1.0, 1.0)]), None);
        assert_eq!(fit_line(&[(1.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(fit_line(&[(1.0, 1.0), (f64::NAN, 2.0)]), None);
    }

    #[test]
    fn a_level_line_has_nothing_to_explain() {
        let line = fit_line(&[(0.0, 3.0), (1.0, 3.0), (2.0, 3.0)]).unwrap();
        assert_eq!((line.slope, line.r_squared), (0.0, None));
        assert_eq!(
            fit_line(&[(0.0, 1.0), (1.0, 3.0)]).unwrap().slope_error,
            None
        );
    }

    proptest! {
        #[test]
        fn points_on_a_line_give_it_back(slope in -1e3..1e3_f64, intercept in -1e3..1e3_f64, n in 2_u32..30) {
            let points: Vec<(f64, f64)> = (0..n).map(f64::from).map(|x| (x, intercept + slope * x)).collect();
            let line = fit_line(&points).unwrap();
            prop_assert!((line.slope - slope).abs() < 1e-6);
            prop_assert!((line.at(0.0) - intercept).abs() < 1e-6);
        }
    }
}
