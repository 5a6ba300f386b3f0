//! A rate that varies by itself.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Span};

/// How a rate varies, as that of a wireless link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Variation {
    /// It is drawn anew again and again.
    Drawn(DrawnRate),
    /// It was recorded.
    Recorded(Trace),
}

/// A rate that is drawn anew.
///
/// Each rate is drawn evenly between two bounds and holds for a time that is exponential: changes
/// come as a Poisson process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DrawnRate {
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

impl DrawnRate {
    /// The long-run rate.
    ///
    /// ```
    /// use netpath::DrawnRate;
    /// use units::{Rate, Span};
    /// let rate = |mbit: u64| Rate::from_bits_per_second(mbit * 1_000_000);
    /// let drawn = DrawnRate { low: rate(20), high: rate(80), every: Span::from_secs(2) };
    /// assert_eq!(drawn.mean(), rate(50));
    /// ```
    pub fn mean(&self) -> Rate {
        let sum = self.low.bits_per_second() + self.high.bits_per_second();
        Rate::from_bits_per_second(sum / 2)
    }
}

/// A recorded rate, in the format of mahimahi: when the link could deliver a packet.
///
/// Each opportunity carries up to [`OPPORTUNITY`](Trace::OPPORTUNITY), of several packets where
/// they are small; what nothing waits for is lost. The record is repeated without end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trace {
    /// The file that it came from.
    #[serde(rename = "trace")]
    pub file: String,
    /// The beginning of the BLAKE3 digest of the file, in hexadecimal digits.
    #[serde(rename = "trace_digest")]
    pub digest: String,
    /// How many opportunities it has.
    pub opportunities: u64,
    /// How long it is.
    #[serde(rename = "period_seconds")]
    pub period: Span,
    /// When they come, in milliseconds from the beginning, in order; the last one is the period.
    /// Documents leave them out.
    #[serde(skip)]
    pub millis: Arc<[u32]>,
}

impl Trace {
    /// What one opportunity carries.
    pub const OPPORTUNITY: Bytes = Bytes::new(1500);

    /// The long-run rate where something always waits.
    pub fn mean(&self) -> Rate {
        Rate::of(Self::OPPORTUNITY.times(self.opportunities), self.period)
    }
}
