//! Round trips while a path is saturated.

use serde::{Deserialize, Serialize};

use crate::Target;

/// The body of a `trunkline/responsiveness` document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Responsiveness {
    /// What was saturated.
    pub target: Target,
}
