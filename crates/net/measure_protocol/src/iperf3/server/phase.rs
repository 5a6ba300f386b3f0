//! Where a conversation stands.

use super::Awaited;
use crate::StreamPlan;
use crate::frame::FrameReader;

/// Where a conversation stands.
#[derive(Debug)]
pub(super) enum Phase {
    Parameters(FrameReader),
    Deciding(StreamPlan),
    Opening(u16),
    Running,
    Asked,
    Results(FrameReader),
    Reporting,
    Farewell,
    Over,
}

impl Phase {
    /// What is awaited, in words.
    pub(super) fn awaited(&self) -> Awaited {
        match self {
            Phase::Parameters(_) | Phase::Deciding(_) => Awaited::Parameters,
            Phase::Opening(missing) => Awaited::Streams(*missing),
            Phase::Running | Phase::Asked => Awaited::TestEnd,
            Phase::Results(_) | Phase::Reporting => Awaited::Results,
            Phase::Farewell | Phase::Over => Awaited::Goodbye,
        }
    }
}
