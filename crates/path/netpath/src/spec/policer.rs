//! A policer in front of a link.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate};

/// A token bucket that drops packets beyond a rate instead of letting them wait.
///
/// The bucket begins full. It fills at `rate`, counted in whole IP packets. A packet that finds
/// fewer tokens than its size is dropped before it reaches the queue (RFC 2475, section 2.3.3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Policer {
    /// The rate that passes in the long run.
    #[serde(rename = "rate_bits_per_second")]
    pub rate: Rate,
    /// The largest burst that passes: the size of the bucket.
    #[serde(rename = "bucket_bytes")]
    pub bucket: Bytes,
}
