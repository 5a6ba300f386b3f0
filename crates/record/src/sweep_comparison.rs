//! Two sweeps side by side.

use schemars::JsonSchema;
use serde::Serialize;

use crate::sweep_analysis::{RateShift, RateSpread, RatioSpread, TimeShift, TimeSpread};
use crate::{Direction, SCHEMA_VERSION, Setting, Sweep, layout};

/// What changed from one sweep to another.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SweepComparison {
    schema: &'static str,
    schema_version: u32,
    /// The first of the two.
    pub from: ComparedSweep,
    /// The second.
    pub to: ComparedSweep,
    /// All settings of a direction together.
    pub directions: Vec<DirectionChange>,
    /// Each setting that both measured.
    pub settings: Vec<SettingChange>,
    /// Settings that only the first measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only_from: Vec<Setting>,
    /// Settings that only the second measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only_to: Vec<Setting>,
}

/// One of two sweeps.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ComparedSweep {
    /// What was measured.
    pub target: String,
    /// Digest of the path's description, of an emulated or simulated one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_digest: Option<String>,
    /// How long the streams of a visit ran.
    pub durations_seconds: Vec<f64>,
    /// When the first visit began; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// Visits that were measured.
    pub visits: u64,
}

/// All settings of one direction together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct DirectionChange {
    /// Which way.
    pub direction: Direction,
    /// Settings that were compared.
    pub compared: u64,
    /// Settings whose goodput changed for sure.
    pub changed: u64,
    /// Goodput of the second over that of the first less 1, over settings.
    pub goodput_relative: RatioSpread,
    /// dRTT of the second less that of the first, over settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_added: Option<TimeSpread>,
}

/// One setting in both.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SettingChange {
    /// The setting.
    pub setting: Setting,
    /// Goodput in the first.
    pub from: RateSpread,
    /// Goodput in the second.
    pub to: RateSpread,
    /// The second less the first.
    pub goodput: RateShift,
    /// Its confidence, corrected for the number of settings.
    pub goodput_confidence_corrected: f64,
    /// Whether that is above 95 %.
    pub goodput_changed: bool,
    /// dRTT of the second less that of the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_added: Option<TimeShift>,
    /// Its confidence, corrected for the number of settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_added_confidence_corrected: Option<f64>,
    /// Whether that is above 95 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_added_changed: Option<bool>,
}

impl SweepComparison {
    /// Compares two sweeps, see [`::sweep::compare()`].
    pub fn new(from: &Sweep, to: &Sweep) -> Self {
        let change = ::sweep::compare(&from.visits(), &to.visits());
        let compared = |direction| {
            let same = |one: &&::sweep::SettingChange| one.setting.direction == direction;
            change.settings.iter().filter(same).count() as u64
        };
        SweepComparison {
            schema: "trunkline/sweep-comparison",
            schema_version: SCHEMA_VERSION,
            from: ComparedSweep::of(from),
            to: ComparedSweep::of(to),
            directions: change
                .directions
                .iter()
                .map(|way| DirectionChange {
                    direction: way.direction,
                    compared: compared(way.direction),
                    changed: way.changed as u64,
                    goodput_relative: (&way.goodput_relative).into(),
                    rtt_added: way.rtt_added.as_ref().map(TimeSpread::from),
                })
                .collect(),
            settings: change.settings.iter().map(SettingChange::from).collect(),
            only_from: change.only_from,
            only_to: change.only_to,
        }
    }

    /// The document as text, laid out like all others.
    pub fn to_json(&self) -> String {
        layout::document(self)
    }
}

impl ComparedSweep {
    fn of(sweep: &Sweep) -> Self {
        let measured = sweep.cells.iter().filter(|cell| cell.figures.is_some());
        // RFC 3339 in UTC sorts as text.
        let started = sweep.cells.iter().map(|cell| &cell.started).min();
        ComparedSweep {
            target: sweep.target.name.clone(),
            path_digest: sweep.target.path_digest.clone(),
            durations_seconds: sweep.plan.durations_seconds.clone(),
            started: started.cloned(),
            visits: measured.count() as u64,
        }
    }
}

impl From<&::sweep::SettingChange> for SettingChange {
    fn from(change: &::sweep::SettingChange) -> Self {
        let added = change.rtt_added;
        SettingChange {
            setting: change.setting.clone(),
            from: (&change.from).into(),
            to: (&change.to).into(),
            goodput: (&change.goodput.shift).into(),
            goodput_confidence_corrected: change.goodput.confidence_corrected,
            goodput_changed: change.goodput.is_sure(),
            rtt_added: added.map(|added| (&added.shift).into()),
            rtt_added_confidence_corrected: added.map(|added| added.confidence_corrected),
            rtt_added_changed: added.map(|added| added.is_sure()),
        }
    }
}
