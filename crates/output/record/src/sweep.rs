//! A grid of settings measured in cycles.

mod analysis;

pub use ::sweep::{
    CellFigures, Curve, DirectionAnalysis, DirectionChange, DirectionsApart, Distribution, Knee,
    LineFit, OperatingPoint, Product, RateSpread, RatioSpread, RecommendedPoint, RoundTripFigures,
    SettingChange, SettingFigures, Starvation, StreamFigures, SweepPlan,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Beside, Setting, SweepAnalysis, Target};

/// The body of a `trunkline/sweep` document.
///
/// The readings of each cell lie in a measurement of its own, which the archive keeps under
/// [`SweepCell::run`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sweep {
    /// What was measured.
    pub target: Target,
    /// What was asked for.
    pub plan: SweepPlan,
    /// Why it ended before its time; absent where it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_because: Option<String>,
    /// Every visit so far, in the order of the plan. One that failed and was made again later keeps
    /// its place.
    pub cells: Vec<SweepCell>,
    /// What the simulator carries on the path that explains the visits, where it was asked for: one
    /// for each direction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Beside>,
    /// What the visits showed when the document was written; absent of one that was not analysed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analysis: Option<SweepAnalysis>,
}

/// One visit of one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepCell {
    /// Its place in the order of visits, from 1.
    pub number: u32,
    /// The cycle that it belongs to, from 1.
    pub cycle: u32,
    /// What was asked for.
    pub setting: Setting,
    /// How long its streams were to run.
    pub duration_seconds: f64,
    /// When it began: RFC 3339, UTC.
    pub started: String,
    /// The archive's number of its measurement, with all readings; absent where none was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<i64>,
    /// Why it could not be measured; absent where it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_because: Option<String>,
    /// What it showed; absent where it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figures: Option<CellFigures>,
}
