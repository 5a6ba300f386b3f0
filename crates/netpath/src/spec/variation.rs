//! A rate that varies by itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Rate, Span};

/// A rate that is drawn anew, as that of a wireless link.
///
/// Each rate is drawn evenly between two bounds and holds for a time that is exponential: changes
/// come as a Poisson process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Variation {
    /// The lowest rate.
    #[serde(rename = "low_bits_per_second")]
    pub low: Rate,
    /// The highest rate.
    #[serde(rename = "high_bits_per_second")]
    pub high: Rate,
    /// Mean time for which a rate holds.
    #[serde(rename = "every_seconds")]
    pub every: Span,
}

impl Variation {
    /// The long-run rate.
    ///
    /// ```
    /// use netpath::Variation;
    /// use units::{Rate, Span};
    /// let rate = |mbit: u64| Rate::from_bits_per_second(mbit * 1_000_000);
    /// let varies = Variation { low: rate(20), high: rate(80), every: Span::from_secs(2) };
    /// assert_eq!(varies.mean(), rate(50));
    /// ```
    pub fn mean(&self) -> Rate {
        let sum = self.low.bits_per_second() + self.high.bits_per_second();
        Rate::from_bits_per_second(sum / 2)
    }
}
