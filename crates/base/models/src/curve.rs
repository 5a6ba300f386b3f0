//! Throughput against the number of streams: the published forms of the curve.
//!
//! All but the logarithmic one say that loss over squared rate, `n^2 / T^2`, is a polynomial in the
//! number of streams `n`. Coefficients are those of the literature, which counts `T` in Mbit/s.
//!
//! Left out: why a curve bends. A form fits a shared queue, a full host and slow disks alike, and
//! says nothing beyond the streams that were sampled.
//!
//! Reading order: here [`Form`] and [`Curve`]; `radicand.rs` for the polynomial; `shape.rs` for
//! peak, limit and knee; `bounds.rs` for coefficients that mean something; `exact.rs` for curves
//! through few samples, `least_squares.rs` for curves near many, `error.rs` for why there is none.

mod bounds;
mod error;
mod exact;
mod least_squares;
mod radicand;

mod shape;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

use units::Rate;

pub use error::CurveError;
pub use least_squares::Fit;
pub(crate) use least_squares::root_mean_square;

use radicand::Radicand;

/// Bits per second in the unit of the coefficients.
const MBIT: f64 = 1e6;

/// The form of a curve of throughput `T` over streams `n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Form {
    /// `T = n / sqrt(a n^2 + b)`: rises, flattens, has no peak.
    ///
    /// Source: Lu, Qiao, Dinda and Bustamante, "Modeling and taming parallel TCP on the wide area
    /// network", IPDPS 2005.
    #[serde(rename = "partial second order")]
    PartialSecondOrder,
    /// `T = n / sqrt(a n^c + b)`, `c` by Newton's method: one peak.
    ///
    /// Source: Yildirim, Yin and Kosar, "Prediction of optimal parallelism level in wide area data
    /// transfers", IEEE TPDS 22 (2011); also the next two.
    Newton,
    /// `T = n / sqrt(a n^2 + b n + c)`: one peak.
    #[serde(rename = "full second order")]
    FullSecondOrder,
    /// `T = n / sqrt(a n^c + d n + b)`: one peak.
    #[serde(rename = "full c")]
    FullC,
    /// `T = a ln n + b`: rises ever more slowly, has neither peak nor limit.
    #[serde(rename = "logarithmic")]
    Logarithmic,
}

impl Form {
    /// Every form, those with fewer coefficients first.
    pub const ALL: [Form; 5] = [
        Form::PartialSecondOrder,
        Form::Logarithmic,
        Form::Newton,
        Form::FullSecondOrder,
        Form::FullC,
    ];

    /// Its coefficients, and so the fewest different numbers of streams that determine it.
    pub const fn coefficients(self) -> usize {
        match self {
            Form::PartialSecondOrder | Form::Logarithmic => 2,
            Form::Newton | Form::FullSecondOrder => 3,
            Form::FullC => 4,
        }
    }

    /// Its formula for the throughput `T` of `n` streams.
    pub const fn formula(self) -> &'static str {
        match self {
            Form::PartialSecondOrder => "n / sqrt(a n^2 + b)",
            Form::Newton => "n / sqrt(a n^c + b)",
            Form::FullSecondOrder => "n / sqrt(a n^2 + b n + c)",
            Form::FullC => "n / sqrt(a n^c + d n + b)",
            Form::Logarithmic => "a ln n + b",
        }
    }

    /// Its name in the literature.
    pub const fn name(self) -> &'static str {
        match self {
            Form::PartialSecondOrder => "partial second order",
            Form::Newton => "Newton",
            Form::FullSecondOrder => "full second order",
            Form::FullC => "full c",
            Form::Logarithmic => "logarithmic",
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A form with its coefficients, for `T` in Mbit/s.
///
/// Made by [`Curve::through`] or a least-squares fit, whose curves all stay within the bounds of
/// [`Curve::delimited`]. One that was written down need not.
/// ```
/// use models::Curve;
/// let mbit = |curve: Curve, streams| curve.throughput(streams).as_f64() / 1e6;
/// let lu = Curve::PartialSecondOrder { a: 2.28605e-4, b: 1.096929e-2 };
/// assert!((mbit(lu, 1) - 9.45).abs() < 5e-5 && (mbit(lu, 8) - 50.0).abs() < 5e-4);
/// let newton = Curve::Newton { a: 2e-5, b: 0.02, c: 2.6 };
/// assert!((mbit(newton, 1) - 7.0675).abs() < 5e-5);
/// assert!((mbit(newton, 8) - 51.1548).abs() < 5e-5);
/// assert!((mbit(newton, 32) - 74.6328).abs() < 5e-5);
/// let full = Curve::FullSecondOrder { a: 1e-4, b: -1.5e-3, c: 0.012 };
/// assert!((mbit(full, 1) - 9.71286).abs() < 5e-6);
/// assert!((mbit(full, 4) - 45.88315).abs() < 5e-6);
/// assert!((mbit(full, 16) - 137.19887).abs() < 5e-6);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(
    missing_docs,
    reason = "the coefficients are those of the form's formula"
)]
pub enum Curve {
    /// See [`Form::PartialSecondOrder`].
    PartialSecondOrder { a: f64, b: f64 },
    /// See [`Form::Newton`].
    Newton { a: f64, b: f64, c: f64 },
    /// See [`Form::FullSecondOrder`].
    FullSecondOrder { a: f64, b: f64, c: f64 },
    /// See [`Form::FullC`].
    FullC { a: f64, b: f64, c: f64, d: f64 },
    /// See [`Form::Logarithmic`].
    Logarithmic { a: f64, b: f64 },
}

/// What is under the fraction: the root of a polynomial, or nothing but a logarithm above it.
enum Shape {
    Root(Radicand),
    Log { a: f64, b: f64 },
}

impl Curve {
    /// Its form.
    pub fn form(&self) -> Form {
        match self {
            Curve::PartialSecondOrder { .. } => Form::PartialSecondOrder,
            Curve::Newton { .. } => Form::Newton,
            Curve::FullSecondOrder { .. } => Form::FullSecondOrder,
            Curve::FullC { .. } => Form::FullC,
            Curve::Logarithmic { .. } => Form::Logarithmic,
        }
    }

    /// Its coefficients in the order of the alphabet.
    pub fn coefficients(&self) -> Vec<(char, f64)> {
        match *self {
            Curve::PartialSecondOrder { a, b } | Curve::Logarithmic { a, b } => {
                vec![('a', a), ('b', b)]
            }
            Curve::Newton { a, b, c } | Curve::FullSecondOrder { a, b, c } => {
                vec![('a', a), ('b', b), ('c', c)]
            }
            Curve::FullC { a, b, c, d } => vec![('a', a), ('b', b), ('c', c), ('d', d)],
        }
    }

    /// Predicted aggregate throughput of `streams` streams; zero without any, and where the formula
    /// has no value.
    pub fn throughput(&self, streams: u32) -> Rate {
        match streams {
            0 => Rate::ZERO,
            streams => Rate::from_f64(self.mbit(f64::from(streams)) * MBIT),
        }
    }

    /// Throughput in Mbit/s; not a number where the formula has no value.
    fn mbit(&self, streams: f64) -> f64 {
        match self.shape() {
            Shape::Root(radicand) => streams / radicand.at(streams).sqrt(),
            Shape::Log { a, b } => a * streams.ln() + b,
        }
    }

    fn shape(&self) -> Shape {
        let root = |a, power, linear, constant| {
            Shape::Root(Radicand {
                a,
                power,
                linear,
                constant,
            })
        };
        match *self {
            Curve::PartialSecondOrder { a, b } => root(a, 2.0, 0.0, b),
            Curve::Newton { a, b, c } => root(a, c, 0.0, b),
            Curve::FullSecondOrder { a, b, c } => root(a, 2.0, b, c),
            Curve::FullC { a, b, c, d } => root(a, c, d, b),
            Curve::Logarithmic { a, b } => Shape::Log { a, b },
        }
    }
}

#[cfg(test)]
mod tests;
