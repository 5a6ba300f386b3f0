//! What a monthly table shows.

use draw::format;
use watch_store::RollUp;

use crate::words;

/// What a table shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Median goodput.
    Goodput,
    /// Median round trip.
    RoundTrip,
    /// Share of the probes that was lost.
    Loss,
    /// Share of the visits that failed.
    Failed,
}

impl Figure {
    /// All of them.
    pub const ALL: [Figure; 4] = [
        Figure::Goodput,
        Figure::RoundTrip,
        Figure::Loss,
        Figure::Failed,
    ];

    /// The word in addresses.
    pub fn word(self) -> &'static str {
        match self {
            Figure::Goodput => "goodput",
            Figure::RoundTrip => "round-trip",
            Figure::Loss => "loss",
            Figure::Failed => "failed",
        }
    }

    /// The words on the page.
    pub fn title(self) -> &'static str {
        match self {
            Figure::Goodput => "median goodput",
            Figure::RoundTrip => "median round trip",
            Figure::Loss => "probes lost",
            Figure::Failed => "visits that failed",
        }
    }

    /// Of a month, in basic units.
    pub fn of(self, month: &RollUp) -> Option<f64> {
        match self {
            Figure::Goodput => Some(month.goodput?.median.as_f64()),
            Figure::RoundTrip => Some(month.round_trip?.median.as_secs_f64()),
            Figure::Loss => month.loss(),
            Figure::Failed => (month.visits > 0).then(|| month.failed as f64 / month.visits as f64),
        }
    }

    /// A value with its unit.
    pub fn words(self, value: f64) -> String {
        match self {
            Figure::Goodput => words::value(changes::Metric::Goodput, value),
            Figure::RoundTrip => words::value(changes::Metric::RoundTripMedian, value),
            Figure::Loss | Figure::Failed => format::percent(value),
        }
    }
}
