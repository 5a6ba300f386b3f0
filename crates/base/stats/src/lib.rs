//! Statistics that the measurements rest on, each with its source.
//!
//! Everything is a pure function, mostly of a slice. An answer that the data cannot carry is
//! absent: `None` for an empty slice, for too few values, and for a slice with a value that is not
//! finite (a measurement that went wrong upstream should not turn into a plausible number here).
//!
//! Left out: resampling (bootstrap) intervals, which would need randomness, and tests of normality.
//! Intervals of means lean on means of many values being close to normal; those of medians and of
//! shifts lean on nothing but independent values.
//!
//! Reading order: `summary.rs` for one number about a slice, `fairness.rs`, `regression.rs`,
//! `slope.rs`, `curves.rs`, `distribution.rs`, `fits.rs` and `interpolate.rs` for one formula each,
//! `estimate.rs` for a mean with its interval, `difference.rs` for two of them, `spread.rs` and
//! `shift.rs` for the same with medians, `several.rs` for many comparisons at once, `steady.rs` for
//! where warm-up ends.

mod curves;
mod difference;
mod distribution;
mod estimate;
mod fairness;
mod fits;
mod interpolate;
mod regression;
mod several;
mod shift;
mod slope;
mod spread;
mod steady;
mod summary;

pub use curves::{Exponential, Logarithm, fit_crowding, fit_exponential, fit_logarithm};
pub use difference::{Difference, Mean, difference};
pub use distribution::{Frequencies, bin_width, cumulative, frequencies};
pub use estimate::{BATCH_DEGREES, CONFIDENCE, Estimate, Interval, SERIES_MIN, mean_with_interval};
pub use fairness::jain_index;
pub use fits::{Family, Fitted};
pub use interpolate::between;
pub use regression::{Line, fit_line, fit_line_weighted};
pub use several::holm;
pub use shift::{Shift, shift};
pub use slope::{MedianSlope, median_slope};
pub use spread::{Spread, median_interval, spread};
pub use steady::{SteadyState, steady_state};
pub use summary::{
    interquartile_range, mean, mean_of_lowest, median, quantile, standard_deviation,
};

/// The values themselves when there is at least one and all are finite.
fn finite(values: &[f64]) -> Option<&[f64]> {
    let usable = !values.is_empty() && values.iter().all(|value| value.is_finite());
    usable.then_some(values)
}
