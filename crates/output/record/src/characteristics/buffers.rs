//! What follows for socket buffers.

use ::probing::characterise as seen;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Rate, Span};

use observe::Way;

/// What the rules say about one direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Buffers {
    /// Which direction.
    pub way: Way,
    /// Shortest round trip, which two of the rules read.
    pub rtt_min_seconds: f64,
    /// Longest round trip beside streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_max_seconds: Option<f64>,
    /// Mean round trip beside one stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_mean_seconds: Option<f64>,
    /// Middle of the range of available bandwidth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_bits_per_second: Option<u64>,
    /// Goodput of one stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bulk_transfer_capacity_bits_per_second: Option<u64>,
    /// Each rule whose facts are known.
    pub advice: Vec<BufferAdvice>,
}

/// What one rule asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BufferAdvice {
    /// Which rule: `BDP1` to `BDP5`.
    pub rule: String,
    /// What it multiplies.
    pub formula: String,
    /// Buffer of all streams together.
    pub total_bytes: u64,
    /// The fewest streams with which each stays below the hosts' limit.
    pub streams: u16,
    /// What each stream asks for.
    pub window_bytes: u64,
    /// What Linux then says it granted.
    pub granted_bytes: u64,
    /// Whether the kernel's own sizing gets one stream there; absent where its limits are not
    /// known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub automatic: Option<bool>,
}

impl From<&seen::Buffers> for Buffers {
    fn from(buffers: &seen::Buffers) -> Self {
        let facts = &buffers.facts;
        let rate = |rate: Option<Rate>| rate.map(Rate::bits_per_second);
        Buffers {
            way: buffers.way,
            rtt_min_seconds: facts.rtt_min.as_secs_f64(),
            rtt_max_seconds: facts.rtt_max.map(Span::as_secs_f64),
            rtt_mean_seconds: facts.rtt_mean.map(Span::as_secs_f64),
            available_bits_per_second: rate(facts.available),
            bulk_transfer_capacity_bits_per_second: rate(facts.bulk_transfer_capacity),
            advice: buffers.advice.iter().map(BufferAdvice::from).collect(),
        }
    }
}

impl From<&seen::BufferAdvice> for BufferAdvice {
    fn from(advice: &seen::BufferAdvice) -> Self {
        BufferAdvice {
            rule: advice.rule.name().to_owned(),
            formula: advice.rule.formula().to_owned(),
            total_bytes: advice.total.get(),
            streams: advice.streams.get(),
            window_bytes: advice.window.get(),
            granted_bytes: advice.granted.get(),
            automatic: advice.automatic,
        }
    }
}
