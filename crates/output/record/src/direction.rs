//! The figures of one direction of a run.

use observe::{Counted, DirectionSummary, StreamDirection, TcpSummary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Interval, Steady};

/// One direction of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DirectionFigures {
    /// Which way, seen from the client.
    pub direction: StreamDirection,
    /// All its streams together, over its steady window.
    pub goodput_bits_per_second: u64,
    /// Where the goodput of a longer run lies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The part of the run over which the figures hold.
    pub steady: Steady,
    /// Who counted the bytes.
    pub counted: Counted,
    /// Jain's fairness index over the streams: 1 when all get the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fairness: Option<f64>,
    /// Segments retransmitted over the whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u64>,
    /// The busiest thread at this end, as a share of one processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_cpu_ratio: Option<f64>,
    /// What the senders' kernels said over the steady window.
    pub tcp: TcpSummary,
}

impl From<&DirectionSummary> for DirectionFigures {
    fn from(summary: &DirectionSummary) -> Self {
        DirectionFigures {
            direction: summary.direction,
            goodput_bits_per_second: summary.goodput.mean.bits_per_second(),
            interval: summary.goodput.interval,
            steady: summary.into(),
            counted: summary.counted,
            fairness: summary.fairness,
            retransmits: summary.retransmits_total,
            thread_cpu_ratio: summary.thread_cpu_share,
            // Only verdicts need it; documents do not have it.
            tcp: TcpSummary {
                peer_window_fall: None,
                ..summary.tcp
            },
        }
    }
}
