//! Why a path changed: what else changed in the visits at the same time.
//!
//! Each candidate has a score between 0 and 1, its weight times the share of the visits on the new
//! side that show it. The order of the weights is that of cause and effect: a processor taken
//! away, another route or another far host explain a longer round trip, more loss or another
//! limit, and not the other way round. The rate of the path stands behind them: nothing in the
//! visits measures it apart from goodput and queue.

mod elsewhere;
mod evidence;
mod find;

pub(crate) use elsewhere::elsewhere;
pub(crate) use evidence::Evidence;
pub(crate) use find::find;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::UnixTime;

/// A candidate cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// What it is.
    pub kind: CauseKind,
    /// How likely beside the others, from 0 to 1; no probability.
    pub score: f64,
    /// What the visits show, as a sentence without a full stop.
    pub because: String,
    /// The visits that support it.
    #[serde(rename = "visits_unix_seconds")]
    pub visits: Vec<UnixTime>,
}

/// What may have caused a change.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum CauseKind {
    /// Others took processor time from this host.
    OwnProcessor,
    /// Packets take another route.
    Route,
    /// The far host has another kernel or other buffers.
    FarHost,
    /// The shortest round trip is another one: a longer or shorter way.
    RoundTrip,
    /// Packets are lost, or no longer lost.
    Loss,
    /// The path carries another rate: a link's rate or what others leave of it.
    PathRate,
    /// Something else limits the goodput than before.
    Limit,
    /// Queues that are there without our load: others send more, or less.
    Queue,
}

impl CauseKind {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            CauseKind::OwnProcessor => "own processor",
            CauseKind::Route => "route",
            CauseKind::FarHost => "far host",
            CauseKind::RoundTrip => "round trip",
            CauseKind::Loss => "loss",
            CauseKind::PathRate => "rate of the path",
            CauseKind::Limit => "limit",
            CauseKind::Queue => "queue of others",
        }
    }

    fn weight(self) -> f64 {
        match self {
            CauseKind::OwnProcessor => 0.97,
            CauseKind::Route => 0.95,
            CauseKind::FarHost => 0.93,
            CauseKind::RoundTrip => 0.85,
            CauseKind::Loss => 0.8,
            CauseKind::PathRate => 0.7,
            CauseKind::Limit => 0.6,
            CauseKind::Queue => 0.5,
        }
    }
}

#[cfg(test)]
mod tests;
