//! What carries bytes between two hosts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The congestion control of streams over UDP, as documents name it: `rate_control::PathModel`.
pub const UDP_CONTROL: &str = "path-model";

/// What carries the streams of a run or of a copy. Both ends also talk, over TCP where that passes.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// TCP, with the congestion control of the sender's kernel.
    #[default]
    Tcp,
    /// QUIC over UDP, with our own controller at the sender ([`UDP_CONTROL`]).
    Udp,
}

impl Transport {
    /// Whether it is TCP, which documents do not name.
    pub fn is_tcp(&self) -> bool {
        *self == Transport::Tcp
    }
}
