//! ExpSelection and BestCmb: streams sampled at powers of two, and the number at which a model
//! peaks.
//!
//! What is left to choose, because the papers leave it open or what is known of them does not say:
//! - The accuracy at which ExpSelection stops is 5 % of the first sample's throughput for each stream.
//! - It takes three samples at least, the fewest that determine a model.
//! - Where no three samples give a model with a peak, the sampled number with the highest throughput is
//!   taken. The published program checks no bound and can then return a negative optimum.
//! - Samples are taken for a time and lose their warm-up by evidence; the papers take 50 MB and drop the
//!   first sample.

use models::{Form, best_combination, exp_selection};
use observe::{StreamCount, Window};
use tune::History;
use units::Rate;

use super::sampling::{carried, within_streams_max};

/// A stream that brings less than this share of what the first carried ends the sampling.
const ACCURACY: f64 = 0.05;

/// Samples that determine a model.
const SAMPLES_MIN: usize = 3;

/// The model that predicts the number of streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StreamModel {
    /// `n / sqrt(a n^2 + b n + c)`: [`Form::FullSecondOrder`].
    SecondOrder,
    /// `n / sqrt(a n^c + b)`: [`Form::Newton`].
    Newton,
}

impl StreamModel {
    fn form(self) -> Form {
        match self {
            StreamModel::SecondOrder => Form::FullSecondOrder,
            StreamModel::Newton => Form::Newton,
        }
    }
}

/// Where the sampling of streams stands.
pub(super) enum Streams {
    /// This number is to be sampled next, and why.
    Sample(StreamCount, String),
    /// The number to use, which has been sampled.
    Found(StreamCount),
}

/// A number of streams and what it carried.
type Point = (u32, Rate);

/// ExpSelection on `window`, then the number that BestCmb predicts.
pub(super) fn streams(history: &History, window: Window, model: StreamModel) -> Streams {
    let mut points: Vec<Point> = Vec::new();
    while let Some(next) = next_doubling(history, &points) {
        let streams = within_streams_max(history, f64::from(next));
        let Some(rate) = carried(history, streams, window) else {
            return Streams::Sample(streams, "ExpSelection doubles the streams".to_owned());
        };
        points.push((next, rate));
    }
    let n = predicted(history, &points, model);
    match carried(history, n, window) {
        Some(_) => Streams::Found(n),
        None => Streams::Sample(n, format!("the {} model peaks there", model.form())),
    }
}

/// As [`exp_selection`] has it, but not before a model can be fitted.
fn next_doubling(history: &History, points: &[Point]) -> Option<u32> {
    let most = u32::from(history.plan.streams_max.get());
    match points {
        [(first, _), ..] if points.len() < SAMPLES_MIN => {
            let next = first << points.len();
            (next <= most).then_some(next)
        }
        [(_, first), ..] => {
            let accuracy = Rate::from_f64(ACCURACY * first.as_f64());
            exp_selection(points, accuracy, most)
        }
        [] => exp_selection(points, Rate::ZERO, most),
    }
}

/// Where the model peaks, within the most streams allowed; else the sampled number that carried
/// most.
fn predicted(history: &History, points: &[Point], model: StreamModel) -> StreamCount {
    let delivered = points.iter().filter(|(_, rate)| *rate > Rate::ZERO);
    let delivered: Vec<Point> = delivered.copied().collect();
    let best = best_combination(model.form(), &delivered).ok();
    let peak = best.and_then(|best| best.curve.peak());
    let n = peak.unwrap_or_else(|| f64::from(best_sampled(points)));
    within_streams_max(history, n)
}

/// The fewest streams among those that carried most.
fn best_sampled(points: &[Point]) -> u32 {
    let best = points.iter().rev().max_by_key(|(_, rate)| *rate);
    best.map_or(1, |(streams, _)| *streams)
}
