//! Curves near more samples than they have coefficients.
//!
//! Least squares on `n^2/T^2` in shares of its value. To first order that is twice the relative
//! error of throughput, so one stream counts as much as thirty-two. It is linear in all
//! coefficients but the power, which is searched for. What first order costs: samples 20 % above
//! the curve count for less than those as far below it.

use units::Rate;

use super::exact::{Point, most_streams, points};
use super::{Curve, CurveError, Form};
use crate::linear::{Solution, least_squares};

/// Powers that are tried first, from just above 1 to 16, each 4.7 % above the one before.
const POWERS: u32 = 60;
const POWER_LOWEST: f64 = 1.05;
const POWER_STEP: f64 = 1.047;
/// Steps of the golden section: a bracket of 10 % shrinks below a part in 10^9.
const NARROWINGS: u32 = 40;
/// `(sqrt(5) - 1) / 2`
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// A curve and how well it fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The curve.
    pub curve: Curve,
    /// Predicted over measured throughput, less 1, for each sample in the order given.
    pub residuals: Vec<f64>,
    /// How far the curve lies from a sample in the mean, either way.
    pub mean_absolute_error: Rate,
    /// Standard errors of [`Curve::coefficients`] in their order, for samples with independent
    /// errors that are alike in shares of their values. `None` when the curve goes through all
    /// samples and leaves nothing to judge it by.
    pub standard_errors: Option<Vec<f64>>,
}

impl Fit {
    /// Fits `form` to samples of (streams, aggregate throughput): through them when there are just
    /// enough, by least squares when there are more. Several samples of one number of streams are
    /// welcome.
    ///
    /// A partial second order whose best `b` is below 0, because throughput hardly changes or
    /// falls, is fitted again as a level line, `b = 0`.
    ///
    /// Source: Draper and Smith, "Applied Regression Analysis", 3rd edition (1998), chapters 5 and
    /// 24.
    /// ```
    /// use models::{Curve, Fit, Form};
    /// use units::Rate;
    /// // The full second order of a = 1e-4, b = -1.5e-3, c = 0.012 with errors of 1 % up and down.
    /// let samples = [(1, 9.81), (2, 20.42), (4, 46.34), (8, 99.00), (16, 138.57), (32, 122.94)]
    ///     .map(|(streams, mbit): (u32, f64)| (streams, Rate::from_f64(mbit * 1e6)));
    /// let fit = Fit::of(Form::FullSecondOrder, &samples).unwrap();
    /// assert!((fit.curve.peak().unwrap() / 16.0 - 1.0).abs() < 0.05);
    /// assert!(fit.residuals.iter().all(|residual| residual.abs() < 0.04));
    /// assert_eq!(fit.standard_errors.unwrap().len(), 3);
    /// ```
    ///
    /// # Errors
    /// When there are too few samples, and when the best curve breaks a bound of
    /// [`Curve::delimited`].
    pub fn of(form: Form, samples: &[(u32, Rate)]) -> Result<Fit, CurveError> {
        let points = points(form, samples)?;
        let curve = match points.len() == form.coefficients() {
            true => Curve::through(form, samples)?,
            false => nearest(form, &points)?.delimited(most_streams(samples))?,
        };
        let residual = |(streams, rate): &(u32, Rate)| {
            curve.throughput(*streams).as_f64() / rate.as_f64() - 1.0
        };
        let error = |(streams, rate): &(u32, Rate)| {
            (curve.throughput(*streams).as_f64() - rate.as_f64()).abs()
        };
        let errors = samples.iter().map(error).sum::<f64>();
        Ok(Fit {
            curve,
            residuals: samples.iter().map(residual).collect(),
            mean_absolute_error: Rate::from_f64(errors / samples.len() as f64),
            standard_errors: standard_errors(&curve, &points),
        })
    }

    /// Root of the mean squared residual.
    pub fn relative_error(&self) -> f64 {
        root_mean_square(&self.residuals)
    }
}

pub(crate) fn root_mean_square(values: &[f64]) -> f64 {
    let squares = values.iter().map(|value| value * value);
    (squares.sum::<f64>() / values.len() as f64).sqrt()
}

/// The best coefficients, whether they mean anything or not.
fn nearest(form: Form, points: &[Point]) -> Result<Curve, CurveError> {
    let solved = match form {
        Form::PartialSecondOrder => partial(points),
        Form::Logarithmic => logarithmic(points),
        Form::FullSecondOrder => full_second_order(points),
        Form::Newton => best_power(|power| newton(points, power)),
        Form::FullC => best_power(|power| full_c(points, power)),
    };
    solved
        .map(|(curve, _)| curve)
        .ok_or(CurveError::NoPower { form })
}

/// A curve and the sum of its squared errors.
type Solved = Option<(Curve, f64)>;

/// Least squares of `n^2/T^2 = sum of unknowns times terms of n`, in shares of `n^2/T^2`.
fn solve<const K: usize>(points: &[Point], terms: impl Fn(f64) -> [f64; K]) -> Option<Solution<K>> {
    let row = |point: &Point| (terms(point.n).map(|term| term / point.y), 1.0);
    least_squares(&points.iter().map(row).collect::<Vec<_>>())
}

fn partial(points: &[Point]) -> Solved {
    let free = solve(points, |n| [n * n, 1.0])?;
    let [a, b] = free.unknowns;
    if b >= 0.0 {
        return Some((Curve::PartialSecondOrder { a, b }, free.residual));
    }
    let level = solve(points, |n| [n * n])?;
    let [a] = level.unknowns;
    Some((Curve::PartialSecondOrder { a, b: 0.0 }, level.residual))
}

fn full_second_order(points: &[Point]) -> Solved {
    let solution = solve(points, |n| [n * n, n, 1.0])?;
    let [a, b, c] = solution.unknowns;
    Some((Curve::FullSecondOrder { a, b, c }, solution.residual))
}

fn newton(points: &[Point], c: f64) -> Solved {
    let solution = solve(points, |n| [n.powf(c), 1.0])?;
    let [a, b] = solution.unknowns;
    Some((Curve::Newton { a, b, c }, solution.residual))
}

fn full_c(points: &[Point], c: f64) -> Solved {
    let solution = solve(points, |n| [n.powf(c), n, 1.0])?;
    let [a, d, b] = solution.unknowns;
    Some((Curve::FullC { a, b, c, d }, solution.residual))
}

/// Here the curve itself is linear, in shares of the throughput that was measured.
fn logarithmic(points: &[Point]) -> Solved {
    let row = |point: &Point| ([point.n.ln() / point.mbit, 1.0 / point.mbit], 1.0);
    let solution = least_squares(&points.iter().map(row).collect::<Vec<_>>())?;
    let [a, b] = solution.unknowns;
    Some((Curve::Logarithmic { a, b }, solution.residual))
}

/// The power of the smallest error: the best of a coarse grid, then the golden section around it.
fn best_power(solve: impl Fn(f64) -> Solved) -> Solved {
    let error = |power: f64| solve(power).map_or(f64::INFINITY, |(_, error)| error);
    let powers = (0..POWERS).map(|step| POWER_LOWEST * POWER_STEP.powf(f64::from(step)));
    let best = powers.min_by(|one, other| error(*one).total_cmp(&error(*other)))?;
    let (mut low, mut high) = (best / POWER_STEP, best * POWER_STEP);
    for _ in 0..NARROWINGS {
        let reach = GOLDEN * (high - low);
        match error(high - reach) < error(low + reach) {
            true => high = low + reach,
            false => low = high - reach,
        }
    }
    solve(low + (high - low) / 2.0)
}

/// From the variance of the residuals and how each coefficient moves the curve.
fn standard_errors(curve: &Curve, points: &[Point]) -> Option<Vec<f64>> {
    let values: Vec<f64> = curve
        .coefficients()
        .iter()
        .map(|(_, value)| *value)
        .collect();
    match values[..] {
        [a, b] => errors_of(curve, points, [a, b]),
        [a, b, c] => errors_of(curve, points, [a, b, c]),
        [a, b, c, d] => errors_of(curve, points, [a, b, c, d]),
        _ => None,
    }
}

fn errors_of<const K: usize>(curve: &Curve, points: &[Point], at: [f64; K]) -> Option<Vec<f64>> {
    let free = points.len().checked_sub(K).filter(|free| *free > 0)?;
    let share = |curve: &Curve, point: &Point| curve.mbit(point.n) / point.mbit;
    let moved = |k: usize, point: &Point| {
        // A level line's b is 0: a step in proportion to what one stream has under its root.
        let step = 1e-6 * at[k].abs().max(1e-6 * points[0].y);
        let moved = |by: f64| {
            let mut values = at;
            values[k] += by;
            share(&with(curve.form(), &values), point)
        };
        (moved(step) - moved(-step)) / (2.0 * step)
    };
    let row = |point: &Point| {
        let left: [f64; K] = std::array::from_fn(|k| moved(k, point));
        (left, 1.0 - share(curve, point))
    };
    let rows: Vec<_> = points.iter().map(row).collect();
    let variance = rows.iter().map(|(_, off)| off * off).sum::<f64>() / free as f64;
    let solution = least_squares(&rows)?;
    let errors = solution.variances.map(|unit| (variance * unit).sqrt());
    Some(errors.to_vec())
}

fn with(form: Form, values: &[f64]) -> Curve {
    match (form, values) {
        (Form::PartialSecondOrder, &[a, b]) => Curve::PartialSecondOrder { a, b },
        (Form::Newton, &[a, b, c]) => Curve::Newton { a, b, c },
        (Form::FullSecondOrder, &[a, b, c]) => Curve::FullSecondOrder { a, b, c },
        (Form::FullC, &[a, b, c, d]) => Curve::FullC { a, b, c, d },
        (Form::Logarithmic, &[a, b]) => Curve::Logarithmic { a, b },
        (form, values) => unreachable!("{form} with {} coefficients", values.len()),
    }
}
