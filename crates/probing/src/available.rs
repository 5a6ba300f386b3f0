//! Available bandwidth: what others leave of the tightest link, as a range.

use observe::Way;
use units::Rate;

use crate::Cost;

/// What others leave of the tightest link of one direction, at the IP layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Available {
    /// Which direction.
    pub way: Way,
    /// The range, or why there is none: a sentence without a full stop.
    pub range: Result<AvailableRange, String>,
    /// A second opinion: the mean of a few chirps.
    pub chirps: Option<Rate>,
    /// What it cost.
    pub cost: Cost,
}

/// The range within which the available bandwidth varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AvailableRange {
    /// Trains of this rate made no queue grow.
    pub low: Rate,
    /// Trains of this rate did.
    pub high: Rate,
}
