//! Two documents side by side.

use schemars::JsonSchema;
use serde::Serialize;

use super::Entry;
use record::{Beside, SCHEMA_VERSION, layout};

/// What changed from one document to another.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    schema: &'static str,
    schema_version: u32,
    /// The first of the two.
    pub from: Entry,
    /// The second.
    pub to: Entry,
    /// Goodput of the second less that of the first.
    pub goodput: Change,
    /// What the simulator carries on the inferred path beside what each measured; empty where
    /// neither has one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Beside>,
}

/// By how much the goodput changed, and how surely.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    /// The second less the first.
    pub difference_bits_per_second: f64,
    /// The same as a share of the first; absent where that is zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference_ratio: Option<f64>,
    /// Where the true difference lies; absent where one of the two has no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<DifferenceInterval>,
    /// The highest confidence at which the interval leaves out zero: how sure it is that there is a
    /// difference at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
}

/// A range that holds the true difference; its ends may be below zero.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct DifferenceInterval {
    /// Lower end.
    pub low_bits_per_second: f64,
    /// Upper end.
    pub high_bits_per_second: f64,
    /// 0.95 for a 95 % interval.
    pub confidence: f64,
}

impl Comparison {
    /// Compares two documents.
    ///
    /// The interval is Welch's, from the standard errors behind the two stored intervals (see
    /// [`stats::difference`]). They tell how each run scattered within itself; what the path itself
    /// changed between the two belongs to the difference.
    pub fn new(from: Entry, to: Entry) -> Self {
        Comparison {
            schema: "trunkline/comparison",
            schema_version: SCHEMA_VERSION,
            goodput: change(&from, &to),
            from,
            to,
            beside: Vec::new(),
        }
    }

    /// The document as text, laid out like all others.
    pub fn to_json(&self) -> String {
        layout::document(self)
    }
}

fn change(from: &Entry, to: &Entry) -> Change {
    let (from, to) = (&from.essence.outcome, &to.essence.outcome);
    let before = from.goodput_bits_per_second as f64;
    let difference = to.goodput_bits_per_second as f64 - before;
    let means = from.mean().zip(to.mean());
    let welch = means.and_then(|(from, to)| stats::difference(&from, &to));
    Change {
        difference_bits_per_second: difference,
        difference_ratio: (before > 0.0).then(|| difference / before),
        interval: welch.map(|apart| DifferenceInterval {
            low_bits_per_second: apart.interval.low,
            high_bits_per_second: apart.interval.high,
            confidence: apart.interval.confidence,
        }),
        confidence: welch.map(|apart| apart.confidence),
    }
}
