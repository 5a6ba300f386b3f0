//! What was found of a path itself: round trips, hops, capacity, available bandwidth.

use serde::{Deserialize, Serialize};

use crate::Target;

/// The body of a `trunkline/path` document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Characteristics {
    /// What was probed.
    pub target: Target,
}
