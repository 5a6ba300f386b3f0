//! Curves that become straight lines when an axis is bent.

use crate::regression::{Line, fit_line, fit_line_weighted};

/// `y = height exp(-x / scale)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exponential {
    /// `y` at `x = 0`.
    pub height: f64,
    /// Where `y` has fallen to 1/e, in the unit of `x`; negative where it grows.
    pub scale: f64,
    /// Share of the variation of `ln y` that the curve accounts for.
    pub r_squared: Option<f64>,
}

impl Exponential {
    /// `y` at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.height * (-x / self.scale).exp()
    }
}

/// `y = slope ln x + offset`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Logarithm {
    /// Growth of `y` while `x` grows e-fold.
    pub slope: f64,
    /// `y` at `x = 1`.
    pub offset: f64,
    /// Share of the variation of `y` that the curve accounts for.
    pub r_squared: Option<f64>,
}

impl Logarithm {
    /// `y` at `x`, which has to be above zero.
    pub fn at(&self, x: f64) -> f64 {
        self.slope * x.ln() + self.offset
    }
}

/// Fits `y = height exp(-x / scale)` to a frequency distribution: points of a place and a count (or
/// a share).
///
/// A line through `ln y`, each point weighted with its `y`: the logarithm of a count `y` scatters
/// by `1 / sqrt(y)`, so bins with one or two values should not decide. Points with `y = 0` have no
/// logarithm and are left out.
///
/// `None` for fewer than three points with `y > 0`, one that is not finite, and where `y` does not
/// change.
///
/// Source of the weights: Taylor, "An Introduction to Error Analysis", 2nd edition (1997), chapter
/// 8 (least squares to an exponential).
/// ```
/// // 80 values at 0, then half as many every 0.03: a scale of 0.03 / ln 2 = 0.0433.
/// let fit = stats::fit_exponential(&[(0.0, 80.0), (0.03, 40.0), (0.06, 20.0), (0.09, 10.0)]).unwrap();
/// assert!((fit.height - 80.0).abs() < 1e-9);
/// assert!((fit.scale - 0.0433).abs() < 1e-4);
/// ```
pub fn fit_exponential(points: &[(f64, f64)]) -> Option<Exponential> {
    let positive = points.iter().filter(|(_, y)| *y > 0.0 || y.is_nan());
    let (bent, weights): (Vec<(f64, f64)>, Vec<f64>) =
        positive.map(|(x, y)| ((*x, y.ln()), *y)).unzip();
    let line = fit_line_weighted(&bent, &weights).filter(|_| bent.len() > 2)?;
    (line.slope != 0.0).then(|| Exponential {
        height: line.intercept.exp(),
        scale: -1.0 / line.slope,
        r_squared: line.r_squared,
    })
}

/// Fits `y = slope ln x + offset` by least squares in `y`. Points with `x <= 0` have no logarithm
/// and are left out.
///
/// `None` for fewer than three others, one that is not finite, and where all lie at one `x`.
/// ```
/// // A tenth more each time x doubles: 0.1 / ln 2 = 0.1443.
/// let fit = stats::fit_logarithm(&[(0.01, 0.3), (0.02, 0.4), (0.04, 0.5), (0.08, 0.6)]).unwrap();
/// assert!((fit.slope - 0.1443).abs() < 1e-4);
/// assert!((fit.at(0.16) - 0.7).abs() < 1e-9);
/// ```
pub fn fit_logarithm(points: &[(f64, f64)]) -> Option<Logarithm> {
    let positive = points.iter().filter(|(x, _)| *x > 0.0 || x.is_nan());
    let bent: Vec<(f64, f64)> = positive.map(|(x, y)| (x.ln(), *y)).collect();
    let line = fit_line(&bent).filter(|_| bent.len() > 2)?;
    Some(Logarithm {
        slope: line.slope,
        offset: line.intercept,
        r_squared: line.r_squared,
    })
}

/// Fits `y = slope / (1 - load) + intercept`: how the wait at a queue grows as its load nears one.
///
/// * `points`: load (0 up to but not 1) and `y`; others are left out.
/// * `None` for fewer than three points, one that is not finite, and where all have one load.
///
/// Source of the form: the mean time in an M/M/1 system, `1 / (mu (1 - load))`, Kleinrock,
/// "Queueing Systems", volume 1 (1975), chapter 3.
/// ```
/// // Half full: twice the time of an empty system. Nine tenths: ten times.
/// let line = stats::fit_crowding(&[(0.0, 3.0), (0.5, 4.0), (0.9, 12.0)]).unwrap();
/// assert!((line.slope - 1.0).abs() < 1e-9 && (line.intercept - 2.0).abs() < 1e-9);
/// ```
pub fn fit_crowding(points: &[(f64, f64)]) -> Option<Line> {
    let usable = points
        .iter()
        .filter(|(load, _)| load.is_nan() || (0.0..1.0).contains(load));
    let bent: Vec<(f64, f64)> = usable.map(|(load, y)| (1.0 / (1.0 - load), *y)).collect();
    fit_line(&bent).filter(|_| bent.len() > 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_with_few_values_do_not_decide() {
        // exp(-x / 2) with 1000 values at 0; the last bin has one where 0.05 are expected.
        let mut points: Vec<(f64, f64)> = (0..10)
            .map(|i| (f64::from(i), (1000.0 * (-f64::from(i) / 2.0).exp()).round()))
            .collect();
        points.push((20.0, 1.0));
        let fit = fit_exponential(&points).unwrap();
        assert!((fit.scale - 2.0).abs() < 0.1, "{fit:?}");
        assert!(fit.r_squared.unwrap() > 0.98, "{fit:?}");
    }

    #[test]
    fn empty_bins_and_places_without_a_logarithm_are_left_out() {
        let fit = fit_exponential(&[(0.0, 4.0), (1.0, 0.0), (2.0, 1.0), (4.0, 0.25)]).unwrap();
        assert!((fit.scale - 2.0 / 4_f64.ln()).abs() < 1e-9, "{fit:?}");
        let fit = fit_logarithm(&[(0.0, 9.0), (1.0, 0.0), (2.0, 1.0), (4.0, 2.0)]).unwrap();
        assert!((fit.slope - 1.0 / 2_f64.ln()).abs() < 1e-9);
    }

    #[test]
    fn too_little_has_no_curve() {
        assert_eq!(fit_exponential(&[(0.0, 2.0), (1.0, 1.0)]), None);
        assert_eq!(fit_exponential(&[(0.0, 2.0), (1.0, 2.0), (2.0, 2.0)]), None);
        assert_eq!(
            fit_exponential(&[(0.0, 2.0), (1.0, f64::NAN), (2.0, 1.0)]),
            None
        );
        assert_eq!(fit_logarithm(&[(1.0, 2.0), (2.0, 1.0)]), None);
        assert_eq!(
            fit_logarithm(&[(f64::NAN, 2.0), (2.0, 1.0), (3.0, 1.0)]),
            None
        );
        assert_eq!(fit_crowding(&[(0.1, 1.0), (0.2, 1.0), (1.0, 5.0)]), None);
    }
}
