//! Parts of a longer examination: the observer of their progress, and what was left out.

use observe::{ProbesError, RunObserver, TargetError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Follows an examination, part after part.
pub trait PartObserver: RunObserver {
    /// Now `part` begins: a few words such as "capacity forward".
    fn on_part(&mut self, part: &str) {
        let _ = part;
    }
}

/// Follows nothing.
impl PartObserver for () {}

/// A part that could not be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Which: a few words.
    pub part: String,
    /// Why: a sentence without a full stop.
    pub why: String,
    /// What would make it possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl LeftOut {
    /// `part`, left out because of `why`.
    pub fn new(part: impl Into<String>, why: impl Into<String>, hint: Option<String>) -> Self {
        LeftOut {
            part: part.into(),
            why: why.into(),
            hint,
        }
    }

    /// `part`, which failed.
    pub fn failed(part: impl Into<String>, error: &ProbesError) -> Self {
        let hint = match error {
            ProbesError::Unsupported { hint, .. } => hint.clone(),
            ProbesError::Failed(TargetError { hint, .. }) => hint.clone(),
        };
        LeftOut::new(part, error.to_string(), hint)
    }
}
