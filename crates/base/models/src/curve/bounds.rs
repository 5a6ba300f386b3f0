//! Delimitation: the coefficients for which a curve means something.
//!
//! A published implementation of these models checks no bound and can return a negative optimum.

use super::radicand::Radicand;
use super::{Curve, CurveError, Form};

/// Least share of `a n^2` in `a n^2 + b`, at the most streams sampled, that counts as flattening.
///
/// Rates are whole bits per second; a smaller share is their rounding and would set the limit by
/// chance.
const FLATTENING_MIN: f64 = 1e-6;

/// What has to be above zero, and its value.
type Bound = (&'static str, f64);

impl Curve {
    /// The curve itself when its coefficients mean something for up to `streams` streams.
    ///
    /// * Partial second order: `a > 0` (there is a limit) and `b >= 0` (it does not fall).
    /// * Newton: `a > 0`, `b > 0`, `c > 2`.
    /// * Full second order: `a > 0`, `b < 0`, `c > 0`, `2c + b > 0` (the peak lies beyond one
    ///   stream), `4ac > b^2` and `a + b + c > 0` (the root has a value).
    /// * Full c, in the same spirit: `a > 0`, `c > 2`, rising at one stream, and the root has a
    ///   value for every number of streams.
    /// * Logarithmic: `a > 0`, `b > 0`.
    ///
    /// Source: the two in the middle from Yildirim, Yin and Kosar (see [`Form::Newton`]); the
    /// others follow from the formulas. Slides of the same authors print `2c + b > 1`; `-2c / b >
    /// 1`, a peak beyond one stream, gives 0, whatever the unit of `T`.
    /// ```
    /// use models::{Curve, CurveError};
    /// assert!(Curve::FullSecondOrder { a: 1e-4, b: -1.5e-3, c: 0.012 }.delimited(16).is_ok());
    /// // b^2 = 4.84e-6 is above 4ac = 4.8e-6: the root has no value around n = 11.
    /// let broken = Curve::FullSecondOrder { a: 1e-4, b: -2.2e-3, c: 0.012 }.delimited(16);
    /// assert!(matches!(broken, Err(CurveError::OutOfBounds { bound: "4ac - b^2 > 0", .. })));
    /// ```
    ///
    /// # Errors
    /// Names the bound that is broken.
    pub fn delimited(self, streams: u32) -> Result<Curve, CurveError> {
        let form = self.form();
        match self {
            Curve::PartialSecondOrder { a, b } => partial(a, b, streams),
            Curve::Newton { a, b, c } => {
                all(form, &[("a > 0", a), ("b > 0", b), ("c - 2 > 0", c - 2.0)]).map(|()| self)
            }
            Curve::FullSecondOrder { a, b, c } => {
                all(form, &full_second_order(a, b, c)).map(|()| self)
            }
            Curve::FullC { a, b, c, d } => full_c(a, b, c, d).map(|()| self),
            Curve::Logarithmic { a, .. } if a <= 0.0 => Err(CurveError::Falling { form }),
            Curve::Logarithmic { a, b } => all(form, &[("a > 0", a), ("b > 0", b)]).map(|()| self),
        }
    }
}

fn partial(a: f64, b: f64, streams: u32) -> Result<Curve, CurveError> {
    let flattening = a * f64::from(streams).powi(2);
    let flattens = flattening > FLATTENING_MIN * b.abs();
    if !flattens {
        return Err(CurveError::NoLimit { streams });
    }
    // Equal rates give b = 0 up to rounding.
    if b < -FLATTENING_MIN * flattening {
        let form = Form::PartialSecondOrder;
        return Err(CurveError::Falling { form });
    }
    Ok(Curve::PartialSecondOrder { a, b: b.max(0.0) })
}

fn full_second_order(a: f64, b: f64, c: f64) -> [Bound; 6] {
    [
        ("a > 0", a),
        ("-b > 0", -b),
        ("c > 0", c),
        ("2c + b > 0", 2.0 * c + b),
        ("4ac - b^2 > 0", 4.0 * a * c - b * b),
        ("a + b + c > 0", a + b + c),
    ]
}

fn full_c(a: f64, b: f64, c: f64, d: f64) -> Result<(), CurveError> {
    all(Form::FullC, &[("a > 0", a), ("c - 2 > 0", c - 2.0)])?;
    let radicand = Radicand {
        a,
        power: c,
        linear: d,
        constant: b,
    };
    let rising = ("(2 - c) a + d + 2b > 0", radicand.rising(1.0));
    let valued = ("a n^c + d n + b > 0", radicand.lowest());
    all(Form::FullC, &[rising, valued])
}

fn all(form: Form, bounds: &[Bound]) -> Result<(), CurveError> {
    // What is not a number is above nothing.
    let broken = bounds
        .iter()
        .find(|(_, value)| !(*value > 0.0 && value.is_finite()));
    match broken {
        None => Ok(()),
        Some(&(bound, value)) => Err(CurveError::OutOfBounds { form, bound, value }),
    }
}
