//! The part of a run over which its figures hold.

use observe::Lacking;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The part of a run over which its figures hold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Steady {
    /// Where the warm-up ends.
    pub from_seconds: f64,
    /// Where the readings end.
    pub to_seconds: f64,
    /// Whether the run tells what a much longer one would carry; if not, there is no interval.
    pub settled: bool,
    /// Why not; absent when it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsettled: Option<Unsettled>,
    /// How long a run would have to be to tell, about; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes_seconds: Option<f64>,
}

/// Why a run does not tell what a much longer one would carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unsettled {
    /// The rate still rose or fell, or the run was too short to tell: figures are over its later
    /// half.
    NeverSettled,
    /// Only totals are known: figures are over the whole run.
    TotalsOnly,
    /// Losses decide on the rate, and too few were seen after slow start.
    FewLosses,
    /// The rate varies so much that an interval would be nearly as wide as the goodput.
    Uneven,
}

impl From<&observe::DirectionSummary> for Steady {
    fn from(way: &observe::DirectionSummary) -> Self {
        Steady {
            from_seconds: way.steady.from.as_secs_f64(),
            to_seconds: way.steady.to.as_secs_f64(),
            settled: way.unsettled.is_none(),
            unsettled: way.unsettled.map(|unsettled| unsettled.why.into()),
            takes_seconds: way
                .unsettled
                .and_then(|unsettled| unsettled.takes)
                .map(|takes| takes.as_secs_f64()),
        }
    }
}

impl From<Lacking> for Unsettled {
    fn from(lacking: Lacking) -> Self {
        match lacking {
            Lacking::Time | Lacking::Steadiness => Unsettled::NeverSettled,
            Lacking::Readings => Unsettled::TotalsOnly,
            Lacking::Losses => Unsettled::FewLosses,
            Lacking::Evenness => Unsettled::Uneven,
        }
    }
}
