//! What a sample says of a longer run.

use crate::history::History;
use crate::tuning::Sample;

/// Goodput in bits per second that a long run of a sample's setting is expected to have.
pub(crate) fn expected(history: &History, sample: &Sample) -> f64 {
    let _ = history;
    sample.goodput().mean.as_f64()
}
