//! A demonstration: settings that people have used, beside the tuned one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Promise, Run, Target, Tune};

/// The body of a `trunkline/demo` document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Demo {
    /// What was measured.
    pub target: Target,
    /// The settings to compare, in the order in which they are shown.
    pub runs: Vec<LabelledRun>,
    /// The search for the best one.
    pub tune: Tune,
    /// What it recommends, run once more for longer than a search does, which is one of its samples
    /// as well; absent where it was not, and in documents of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuned: Option<Run>,
}

/// One setting of the comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabelledRun {
    /// Its name in tables and plots.
    pub label: String,
    /// What the search promises for it, of whose samples it is none; absent in documents of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promise: Option<Promise>,
    /// What was published of this setting on the real path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<Published>,
    /// What was seen.
    #[serde(flatten)]
    pub run: Run,
}

/// A published measurement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// Its throughput.
    pub goodput_bits_per_second: u64,
    /// Who measured it, and when.
    pub source: String,
}
