//! How unusual a value is beside those before it, as a normal score.
//!
//! Van der Waerden's scores: a value's rank among the earlier ones becomes the quantile of the
//! normal distribution at that rank, so that sums of scores are judged like sums of normal values
//! whatever the distribution. Beyond the range of the earlier values the score grows linearly with
//! the distance in units of their scatter, so that a gross change shows at once.
//!
//! Source: van der Waerden, "Order tests for the two-sample problem and their power", Indagationes
//! Mathematicae 14 (1952).

use statrs::distribution::{ContinuousCDF, Normal};

/// Scores never grow beyond this: a value ten times as far out proves no more.
const SCORE_MAX: f64 = 8.0;

/// The score of `value` among `sorted` earlier ones.
///
/// * `scatter_min`: the least scatter in whose units distances beyond the range are counted.
/// * Zero where there are no earlier values.
pub(crate) fn score(sorted: &[f64], value: f64, scatter_min: f64) -> f64 {
    let (Some(low), Some(high)) = (sorted.first(), sorted.last()) else {
        return 0.0;
    };
    let below = sorted.partition_point(|other| *other < value);
    let equal = sorted[below..].partition_point(|other| *other <= value);
    let rank = below as f64 + 0.5 * equal as f64 + 0.5;
    let inside = Normal::standard().inverse_cdf(rank / (sorted.len() as f64 + 1.0));
    let beyond = (value - high).max(0.0) / scatter(sorted, true, scatter_min)
        - (low - value).max(0.0) / scatter(sorted, false, scatter_min);
    (inside + beyond).clamp(-SCORE_MAX, SCORE_MAX)
}

/// The wider of the scatter of the middle half and of the outer values on one side, as the
/// standard deviation that a normal distribution would have.
fn scatter(sorted: &[f64], upwards: bool, scatter_min: f64) -> f64 {
    let at = |share: f64| sorted[(share * (sorted.len() - 1) as f64).round() as usize];
    let middle = (at(0.75) - at(0.25)) / 1.349;
    let outer = match upwards {
        true => at(0.98) - at(0.5),
        false => at(0.5) - at(0.02),
    };
    middle.max(outer / 2.054).max(scatter_min)
}

/// Variance of the sum of `m` neighbouring scores, for `m` from 0 to `most`, as their
/// autocorrelation makes it: `m + 2 sum (m - k) r_k` over the lags with `r_k` above zero. Scores
/// that know nothing of each other give `m`.
pub(crate) fn variance_of_sums(scores: &[f64], most: usize) -> Vec<f64> {
    let clipped: Vec<f64> = scores.iter().map(|score| score.clamp(-3.0, 3.0)).collect();
    let mean = stats::mean(&clipped).unwrap_or(0.0);
    let product = |lag: usize| -> f64 {
        let pairs = clipped.iter().zip(clipped.iter().skip(lag));
        pairs.map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    let own = product(0);
    let correlation = |lag: usize| match own > 0.0 && scores.len() > 2 * lag {
        true => (product(lag) / own).max(0.0),
        false => 0.0,
    };
    let correlations: Vec<f64> = (1..most.max(1)).map(correlation).collect();
    let variance = |m: usize| {
        let pairs = correlations.iter().enumerate().take(m.saturating_sub(1));
        let shared: f64 = pairs.map(|(k, r)| (m - k - 1) as f64 * r).sum();
        m as f64 + 2.0 * shared
    };
    (0..=most).map(variance).collect()
}

#[cfg(test)]
mod tests;
