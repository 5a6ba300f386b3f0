//! Packets that are overtaken.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Span;

/// Some packets take a longer way, and those behind them overtake them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reorder {
    /// Probability that a packet takes the longer way.
    #[serde(rename = "reordered_ratio")]
    pub rate: f64,
    /// How much longer that way takes, added to the link's delay.
    #[serde(rename = "delay_seconds")]
    pub delay: Span,
}
