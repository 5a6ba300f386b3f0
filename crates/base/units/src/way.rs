//! Ways along a path, and which ends of it send.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of the two ways along a path.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// From the near host to the far one.
    Forward = 0,
    /// From the far host to the near one.
    Reverse = 1,
}

impl Way {
    /// Both, forward first.
    pub const BOTH: [Way; 2] = [Way::Forward, Way::Reverse];

    /// Its name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Way::Forward => "forward",
            Way::Reverse => "reverse",
        }
    }
}

/// Which end sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The client sends: iperf3's default.
    #[default]
    Forward,
    /// The server sends: iperf3's `-R`.
    Reverse,
    /// Both send, each over its own streams: iperf3's `--bidir`.
    Both,
}
