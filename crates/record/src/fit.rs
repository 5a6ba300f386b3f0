//! Curves through measured points.

use models::{Ranked, Spread};
use predict::{Fitting, Optimum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The body of a `trunkline/fit` document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fit {
    /// Where the points come from.
    pub file: String,
    /// The share of the highest throughput at which a knee lies.
    pub knee_ratio: f64,
    /// The measured points.
    pub samples: Vec<FitSample>,
    /// What the best form recommends; absent when no form fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommended: Option<FitOptimum>,
    /// The forms, the one that predicts best what it has not seen first.
    pub models: Vec<FitModel>,
}

/// A point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FitSample {
    /// Parallel streams.
    pub streams: u32,
    /// Throughput of all of them.
    pub goodput_bits_per_second: u64,
}

/// A number of streams to use: the fewest that reach the share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitOptimum {
    /// The form that says so.
    pub form: String,
    /// How many.
    pub streams: u32,
    /// Where the curve reaches the share, not rounded, and how far that moves as samples are left
    /// out.
    pub spread: FitSpread,
}

/// A value and how far it moves as numbers of streams are left out; no confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitSpread {
    /// From all samples, not rounded.
    pub streams: f64,
    /// The lowest.
    pub low_streams: f64,
    /// The highest.
    pub high_streams: f64,
}

/// One form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitModel {
    /// Which form.
    pub form: String,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_absolute_error_bits_per_second: Option<u64>,
    /// Predicted over measured less 1, for each sample.
    pub residual_ratios: Vec<f64>,
    /// What throughput tends to with ever more streams; absent where there is no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_bits_per_second: Option<u64>,
    /// Streams at the peak; absent for a curve without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak: Option<FitSpread>,
    /// Streams at the knee.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knee: Option<FitSpread>,
    /// The curve at every number of streams up to the most that were sampled.
    pub curve: Vec<FitSample>,
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
        let sample = |&(streams, rate): &(u32, units::Rate)| FitSample {
            streams,
            goodput_bits_per_second: rate.bits_per_second(),
        };
        let model = |ranked| FitModel::new(ranked, fitting.streams_max);
        Fit {
            file: file.to_owned(),
            knee_ratio: fitting.knee,
            samples: fitting.samples.iter().map(sample).collect(),
            recommended: fitting.recommended.as_ref().map(Into::into),
            models: fitting.ranked.iter().map(model).collect(),
        }
    }
}

impl From<&Optimum> for FitOptimum {
    fn from(optimum: &Optimum) -> Self {
        FitOptimum {
            form: optimum.form.name().to_owned(),
            streams: optimum.streams,
            spread: optimum.knee.into(),
        }
    }
}

impl From<Spread> for FitSpread {
    fn from(spread: Spread) -> Self {
        FitSpread {
            streams: spread.value,
            low_streams: spread.low,
            high_streams: spread.high,
        }
    }
}

impl FitModel {
    fn new(ranked: &Ranked, streams_max: u32) -> Self {
        let fit = ranked.fit.as_ref().ok();
        let curve = fit.map(|fit| fit.curve);
        let step = streams_max.div_ceil(CURVE_POINTS).max(1) as usize;
        let at = |streams: u32| {
            Some(FitSample {
                streams,
                goodput_bits_per_second: curve?.throughput(streams).bits_per_second(),
            })
        };
        FitModel {
            form: ranked.form.name().to_owned(),
            formula: ranked.form.formula().to_owned(),
            problem: ranked.fit.as_ref().err().map(ToString::to_string),
            coefficients: fit.map(coefficients).unwrap_or_default(),
            left_out_ratio: ranked.left_out.map(|left_out| left_out.relative_error),
            left_out_failed: ranked.left_out.map(|left_out| left_out.failed),
            mean_absolute_error_bits_per_second: fit
                .map(|fit| fit.mean_absolute_error.bits_per_second()),
            residual_ratios: fit.map(|fit| fit.residuals.clone()).unwrap_or_default(),
            limit_bits_per_second: curve
                .and_then(|curve| curve.limit())
                .map(|rate| rate.bits_per_second()),
            peak: ranked.peak.map(Into::into),
            knee: ranked.knee.map(Into::into),
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
