//! What the tuner is asked for.

use observe::{Setting, StreamCount};
use units::Span;

/// What makes one operating point better than another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Objective {
    /// The fewest streams that reach this share of the highest goodput seen.
    Knee {
        /// Between 0 and 1.
        share: f64,
    },
    /// The highest goodput; among equals the fewest streams.
    Max,
    /// The highest goodput per loaded round-trip time (Kleinrock's power).
    Power,
    /// The highest goodput that keeps to a budget of harm to others.
    Gentle {
        /// Delay that the run may add to the path's round-trip time.
        added_rtt_max: Span,
        /// Retransmitted share that the run may cause.
        loss_max: f64,
    },
}

/// How the tuner goes about it.
#[derive(Debug, Clone, PartialEq)]
pub struct TunePlan {
    /// What is sought.
    pub objective: Objective,
    /// Direction, congestion control and MSS of every sample; its streams and window are ignored.
    pub base: Setting,
    /// The most streams to try.
    pub streams_max: StreamCount,
    /// The longest that one sample may run.
    pub sample_max: Span,
}
