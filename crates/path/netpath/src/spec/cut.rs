//! Times at which a link is cut.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Span, Time};

/// A span of time during which nothing passes: a cable that is pulled out and put back.
///
/// A packet is lost when its last bit would leave while the link is cut. What was on the way before
/// arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cut {
    /// Since the path came up.
    #[serde(rename = "at_seconds")]
    pub at: Span,
    /// How long.
    #[serde(rename = "length_seconds")]
    pub length: Span,
}

impl Cut {
    /// When it begins.
    pub fn begin(&self) -> Time {
        Time::ZERO + self.at
    }

    /// When packets pass again.
    pub fn end(&self) -> Time {
        self.begin() + self.length
    }
}
