//! What an operating point is chosen for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Span;

/// What makes one operating point better than another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Objective {
    /// The fewest streams that reach this share of the highest goodput seen.
    Knee {
        /// Between 0 and 1.
        share: f64,
    },
    /// The highest goodput; among equals the fewest streams, then the smallest window.
    Max,
    /// The highest goodput per loaded round-trip time.
    ///
    /// Source: Kleinrock, "Power and deterministic rules of thumb for probabilistic problems in
    /// computer communications", ICC 1979.
    Power,
    /// The highest goodput that keeps to a budget of harm to others.
    Gentle {
        /// Delay that the run may add to the path's round-trip time.
        #[serde(rename = "added_rtt_max_seconds")]
        added_rtt_max: Span,
        /// Retransmitted share that the run may cause.
        #[serde(rename = "retransmitted_max_ratio")]
        loss_max: f64,
    },
}

impl Objective {
    /// 90 % of the maximum with the fewest streams: what an expert chose by hand on SLAC-TWAREN in
    /// 2006, for stability and for the others on the path.
    pub const KNEE: Objective = Objective::Knee {
        share: Self::KNEE_SHARE,
    };
    /// The share of [`Objective::KNEE`].
    pub const KNEE_SHARE: f64 = 0.9;

    /// The delay that [`Objective::GENTLE`] may add: below it a voice call on the same path does
    /// not suffer.
    pub const ADDED_RTT_MAX: Span = Span::from_millis(30);
    /// The loss that it may cause: one packet in a thousand.
    pub const LOSS_MAX: f64 = 1e-3;

    /// The customary budget of harm to others.
    pub const GENTLE: Objective = Objective::Gentle {
        added_rtt_max: Self::ADDED_RTT_MAX,
        loss_max: Self::LOSS_MAX,
    };

    /// The word on the command line and in documents.
    pub fn name(&self) -> &'static str {
        match self {
            Objective::Knee { .. } => "knee",
            Objective::Max => "max",
            Objective::Power => "power",
            Objective::Gentle { .. } => "gentle",
        }
    }
}

impl Default for Objective {
    fn default() -> Self {
        Objective::KNEE
    }
}
