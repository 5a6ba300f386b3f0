//! Two sweeps side by side.

use ::sweep::{DirectionChange, SettingChange};
use schemars::JsonSchema;
use serde::Serialize;
use units::Span;

use crate::{Beside, SCHEMA_VERSION, Setting, Sweep, layout};

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
    /// What the simulator carries on the inferred path beside what each measured; empty where
    /// neither has one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Beside>,
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
    #[serde(rename = "durations_seconds")]
    pub durations: Vec<Span>,
    /// When the first visit began; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// Visits that were measured.
    pub visits: u64,
}

impl SweepComparison {
    /// Compares two sweeps, see [`::sweep::compare()`].
    pub fn new(from: &Sweep, to: &Sweep) -> Self {
        let change = ::sweep::compare(&from.visits(), &to.visits());
        SweepComparison {
            schema: "trunkline/sweep-comparison",
            schema_version: SCHEMA_VERSION,
            from: ComparedSweep::of(from),
            to: ComparedSweep::of(to),
            directions: change.directions,
            settings: change.settings,
            only_from: change.only_from,
            only_to: change.only_to,
            beside: Vec::new(),
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
            durations: sweep.plan.durations.clone(),
            started: started.cloned(),
            visits: measured.count() as u64,
        }
    }
}
