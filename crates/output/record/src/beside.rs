//! What the simulator carries on an inferred path, beside what was measured.

use observe::{Direction, Setting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A simulated setting is like the measured one where it carries as much to within this share.
pub const NEAR: f64 = 0.1;

/// The settings of one direction, simulated on the path that explains what was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Beside {
    /// The run or sweep whose settings these are, of a comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<i64>,
    /// Which way data flowed.
    pub direction: Direction,
    /// The share of the settings at which the simulator carries within 10 % of what was measured.
    pub near_ratio: f64,
    /// Each setting.
    pub settings: Vec<BesideSetting>,
    /// The path, as a path file; its forward link is the one that carried the data.
    pub path_file: String,
}

/// One setting, measured and simulated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BesideSetting {
    /// Which.
    pub setting: Setting,
    /// How long its streams ran.
    pub duration_seconds: f64,
    /// Measured: the median where it was measured several times.
    pub goodput_bits_per_second: u64,
    /// Simulated: the median of seven runs.
    pub simulated_bits_per_second: u64,
}

impl Beside {
    /// Settings that were simulated on `path_file`.
    pub fn new(direction: Direction, path_file: String, settings: Vec<BesideSetting>) -> Self {
        let near = settings.iter().filter(|one| one.is_near()).count();
        Beside {
            run: None,
            direction,
            near_ratio: near as f64 / settings.len().max(1) as f64,
            settings,
            path_file,
        }
    }

    /// What the simulator carries with `setting`.
    pub fn simulated(&self, setting: &Setting, duration_seconds: f64) -> Option<u64> {
        let found = self.settings.iter().find(|one| {
            one.setting == *setting && one.duration_seconds.to_bits() == duration_seconds.to_bits()
        });
        found.map(|one| one.simulated_bits_per_second)
    }
}

impl BesideSetting {
    /// Simulated goodput as a multiple of the measured one.
    pub fn ratio(&self) -> f64 {
        self.simulated_bits_per_second as f64 / self.goodput_bits_per_second.max(1) as f64
    }

    /// Whether the simulator carries within 10 % of what was measured.
    pub fn is_near(&self) -> bool {
        (self.ratio() - 1.0).abs() <= NEAR
    }
}
