//! Curves through measured points.

pub use models::{Form, Spread};
pub use predict::{Choice, Optimum, StreamsAt};

use models::Ranked;
use predict::Fitting;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Rate;

/// The body of a `trunkline/fit` document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fit {
    /// Where the points come from.
    pub file: String,
    /// The share of the highest throughput at which a knee lies.
    pub knee_ratio: f64,
    /// The measured points.
    pub samples: Vec<StreamsAt>,
    /// What the best form recommends; absent when no form fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommended: Option<Optimum>,
    /// The forms, the one that predicts best what it has not seen first.
    pub models: Vec<FitModel>,
    /// What the rules of the literature would have chosen; empty unless asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
}

/// One form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitModel {
    /// Which form.
    pub form: Form,
    /// Its formula.
    pub formula: String,
    /// Why it does not fit; absent when it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Its coefficients, for throughput in Mbit/s.
    pub coefficients: Vec<Coefficient>,
    /// Root of the mean squared error of what was left out, in shares of what was measured; absent
    /// when that cannot be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out_ratio: Option<f64>,
    /// Numbers of streams without which the rest gives no curve of this form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out_failed: Option<usize>,
    /// How far the curve lies from a sample in the mean, either way.
    #[serde(
        rename = "mean_absolute_error_bits_per_second",
        skip_serializing_if = "Option::is_none"
    )]
    pub mean_absolute_error: Option<Rate>,
    /// Predicted over measured less 1, for each sample.
    pub residual_ratios: Vec<f64>,
    /// What throughput tends to with ever more streams; absent where there is no bound.
    #[serde(
        rename = "limit_bits_per_second",
        skip_serializing_if = "Option::is_none"
    )]
    pub limit: Option<Rate>,
    /// Streams at the peak; absent for a curve without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak: Option<Spread>,
    /// Streams at the knee.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knee: Option<Spread>,
    /// The curve at every number of streams up to the most that were sampled.
    pub curve: Vec<StreamsAt>,
}

/// A coefficient.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Coefficient {
    /// Its letter in the formula.
    pub name: char,
    /// Its value.
    pub value: f64,
    /// Its standard error; absent when the curve goes through all samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
}

/// A curve is told at no more numbers of streams than this, evenly apart.
const CURVE_POINTS: u32 = 200;

impl Fit {
    /// The shape of `fitting`, whose samples come from `file`.
    pub fn new(file: &str, fitting: &Fitting) -> Self {
        let model = |ranked| FitModel::new(ranked, fitting.streams_max);
        Fit {
            file: file.to_owned(),
            knee_ratio: fitting.knee,
            samples: fitting.samples.clone(),
            recommended: fitting.recommended,
            models: fitting.ranked.iter().map(model).collect(),
            choices: Vec::new(),
        }
    }
}

impl FitModel {
    fn new(ranked: &Ranked, streams_max: u32) -> Self {
        let fit = ranked.fit.as_ref().ok();
        let curve = fit.map(|fit| fit.curve);
        let step = streams_max.div_ceil(CURVE_POINTS).max(1) as usize;
        let at = |streams: u32| {
            Some(StreamsAt {
                streams,
                throughput: curve?.throughput(streams),
            })
        };
        FitModel {
            form: ranked.form,
            formula: ranked.form.formula().to_owned(),
            problem: ranked.fit.as_ref().err().map(ToString::to_string),
            coefficients: fit.map(coefficients).unwrap_or_default(),
            left_out_ratio: ranked.left_out.map(|left_out| left_out.relative_error),
            left_out_failed: ranked.left_out.map(|left_out| left_out.failed),
            mean_absolute_error: fit.map(|fit| fit.mean_absolute_error),
            residual_ratios: fit.map(|fit| fit.residuals.clone()).unwrap_or_default(),
            limit: curve.and_then(|curve| curve.limit()),
            peak: ranked.peak,
            knee: ranked.knee,
            curve: (1..=streams_max).step_by(step).filter_map(at).collect(),
        }
    }
}

fn coefficients(fit: &models::Fit) -> Vec<Coefficient> {
    let error = |index: usize| fit.standard_errors.as_ref().map(|errors| errors[index]);
    let coefficient = |(index, (name, value)): (usize, (char, f64))| Coefficient {
        name,
        value,
        standard_error: error(index).filter(|error| error.is_finite()),
    };
    fit.curve
        .coefficients()
        .into_iter()
        .enumerate()
        .map(coefficient)
        .collect()
}
