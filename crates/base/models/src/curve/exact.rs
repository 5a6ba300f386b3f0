//! Curves through the fewest samples, as they were published.

use units::Rate;

use super::{Curve, CurveError, Form, MBIT};
use crate::root::{bisect, newton};

/// The highest power that is looked for: 1000^64 still has a value.
const POWER_MAX: f64 = 64.0;
/// Near the powers 0 and 1 the full c form only repeats its constant and its linear part.
const POWER_MARGIN: f64 = 1e-3;

/// A sample: streams `n`, `T` in Mbit/s, and `y = n^2 / T^2`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub n: f64,
    pub mbit: f64,
    pub y: f64,
}

impl Point {
    fn new(&(streams, throughput): &(u32, Rate)) -> Result<Self, CurveError> {
        if streams == 0 || throughput == Rate::ZERO {
            return Err(CurveError::EmptySample {
                streams,
                throughput,
            });
        }
        let (n, mbit) = (f64::from(streams), throughput.as_f64() / MBIT);
        Ok(Point {
            n,
            mbit,
            y: (n / mbit).powi(2),
        })
    }
}

/// The samples as points, fewest streams first, when there are enough different ones for `form`.
pub(super) fn points(form: Form, samples: &[(u32, Rate)]) -> Result<Vec<Point>, CurveError> {
    let points: Result<Vec<Point>, _> = samples.iter().map(Point::new).collect();
    let mut points = points?;
    points.sort_by(|one, other| one.n.total_cmp(&other.n));
    let steps = points.windows(2).filter(|pair| pair[0].n < pair[1].n);
    let distinct = points.len().min(1) + steps.count();
    match distinct < form.coefficients() {
        true => Err(CurveError::TooFewSamples { form, distinct }),
        false => Ok(points),
    }
}

impl Curve {
    /// The curve of `form` through as many samples of (streams, aggregate throughput) as it has
    /// coefficients.
    ///
    /// Full second order, with `D(x,y) = (n_x^2/T_x^2 - n_y^2/T_y^2) / (n_x - n_y)`: `a = (D(k,i) -
    /// D(j,i)) / (n_k - n_j)`, `b = D(j,i) - (n_i + n_j) a`. Newton: `c` from `(n_3^c - n_1^c) /
    /// (n_2^c - n_1^c)`, which has to equal the same ratio of `n^2/T^2`. Full c: the same with
    /// second differences, which do away with its linear part.
    ///
    /// Source: see [`Form`].
    /// ```
    /// use models::{Curve, Form};
    /// use units::Rate;
    /// let mbit = |(streams, rate): (u32, f64)| (streams, Rate::from_f64(rate * 1e6));
    /// let through = |form, samples: &[_]| {
    ///     Curve::through(form, &samples.iter().copied().map(mbit).collect::<Vec<_>>()).unwrap()
    /// };
    /// // The rates are rounded, so the coefficients come back to parts in ten thousand.
    /// let near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 2e-4;
    /// // SLAC to CERN, Cottrell et al. 2000-2001
    /// let Curve::PartialSecondOrder { a, b } = through(Form::PartialSecondOrder, &[(1, 9.45), (8, 50.0)])
    ///     else { unreachable!() };
    /// assert!(near(a, 2.28605e-4) && near(b, 1.096929e-2));
    /// let Curve::Newton { a, b, c } = through(Form::Newton, &[(1, 7.0675), (8, 51.1548), (32, 74.6328)])
    ///     else { unreachable!() };
    /// assert!(near(a, 2e-5) && near(b, 0.02) && near(c, 2.6));
    /// let samples = [(1, 9.71286), (4, 45.88315), (16, 137.19887)];
    /// let Curve::FullSecondOrder { a, b, c } = through(Form::FullSecondOrder, &samples)
    ///     else { unreachable!() };
    /// assert!(near(a, 1e-4) && near(b, -1.5e-3) && near(c, 0.012));
    /// ```
    ///
    /// # Errors
    /// When the number of samples is another one, and when the curve through them breaks a bound of
    /// [`Curve::delimited`].
    pub fn through(form: Form, samples: &[(u32, Rate)]) -> Result<Curve, CurveError> {
        let points = points(form, samples)?;
        let given = points.len();
        let curve = match (form, &points[..]) {
            (Form::PartialSecondOrder, [i, j]) => partial_second_order(i, j),
            (Form::Logarithmic, [i, j]) => logarithmic(i, j),
            (Form::Newton, [i, j, k]) => by_newton(i, j, k)?,
            (Form::FullSecondOrder, [i, j, k]) => full_second_order(i, j, k),
            (Form::FullC, [i, j, k, l]) => full_c(&[*i, *j, *k, *l])?,
            _ => return Err(CurveError::TooManySamples { form, given }),
        };
        curve.delimited(most_streams(samples))
    }
}

pub(super) fn most_streams(samples: &[(u32, Rate)]) -> u32 {
    let streams = samples.iter().map(|(streams, _)| *streams);
    streams.max().unwrap_or(0)
}

/// First divided difference of `n^2/T^2`.
fn slope(x: &Point, y: &Point) -> f64 {
    (x.y - y.y) / (x.n - y.n)
}

fn partial_second_order(i: &Point, j: &Point) -> Curve {
    let a = (j.y - i.y) / (j.n.powi(2) - i.n.powi(2));
    Curve::PartialSecondOrder {
        a,
        b: i.y - a * i.n.powi(2),
    }
}

fn logarithmic(i: &Point, j: &Point) -> Curve {
    let a = (j.mbit - i.mbit) / (j.n / i.n).ln();
    Curve::Logarithmic {
        a,
        b: i.mbit - a * i.n.ln(),
    }
}

fn full_second_order(i: &Point, j: &Point, k: &Point) -> Curve {
    let a = (slope(k, i) - slope(j, i)) / (k.n - j.n);
    let b = slope(j, i) - (i.n + j.n) * a;
    let c = i.y - a * i.n.powi(2) - b * i.n;
    Curve::FullSecondOrder { a, b, c }
}

fn by_newton(i: &Point, j: &Point, k: &Point) -> Result<Curve, CurveError> {
    let form = Form::Newton;
    let (near, far) = ((j.n / i.n).ln(), (k.n / i.n).ln());
    let ratio = (k.y - i.y) / (j.y - i.y);
    // In logarithms, where no power overflows and the steps are long. No ratio at or below 0 has
    // one.
    let power = newton(POWER_MARGIN, POWER_MAX, |c| {
        let (far, near) = (growth(c, far), growth(c, near));
        (far.0 - near.0 - ratio.ln(), far.1 - near.1)
    });
    let c = power.ok_or(CurveError::NoPower { form })?;
    let a = (k.y - i.y) / (k.n.powf(c) - i.n.powf(c));
    let b = i.y - a * i.n.powf(c);
    Ok(Curve::Newton { a, b, c })
}

/// `ln((e^(c x) - 1) / c)` and its derivative by `c`; the division takes the trivial root at 0
/// away.
fn growth(c: f64, x: f64) -> (f64, f64) {
    let rest = -(-c * x).exp_m1();
    (c * x + rest.ln() - c.ln(), x / rest - 1.0 / c)
}

fn full_c(points: &[Point; 4]) -> Result<Curve, CurveError> {
    let form = Form::FullC;
    let most = points[3].n;
    // In shares of the most streams, so that no power overflows; both sides scale alike.
    let bend = |c: f64, from: usize| {
        second_difference([0, 1, 2].map(|step| {
            let point = points[from + step];
            (point.n, (point.n / most).powf(c))
        }))
    };
    let bend_of_y = |from: usize| {
        second_difference([0, 1, 2].map(|step| (points[from + step].n, points[from + step].y)))
    };
    let ratio = bend_of_y(1) / bend_of_y(0);
    let below = |c: f64| bend(c, 1) / bend(c, 0) < ratio;
    // The powers 0 and 1 bend nothing and solve any equation of second differences.
    let lowest = 1.0 + POWER_MARGIN;
    if !below(lowest) || below(POWER_MAX) {
        return Err(CurveError::NoPower { form });
    }
    let c = bisect(lowest, POWER_MAX, below);
    let a = bend_of_y(1) / bend(c, 1) / most.powf(c);
    let power = |point: &Point| a * point.n.powf(c);
    let [i, .., l] = points;
    let d = (l.y - i.y - power(l) + power(i)) / (l.n - i.n);
    let b = i.y - power(i) - d * i.n;
    Ok(Curve::FullC { a, b, c, d })
}

/// Second divided difference of three points.
fn second_difference([i, j, k]: [(f64, f64); 3]) -> f64 {
    let slope = |x: (f64, f64), y: (f64, f64)| (y.1 - x.1) / (y.0 - x.0);
    (slope(j, k) - slope(i, j)) / (k.0 - i.0)
}
