//! What one visit of one setting showed.

use observe::{Limit, RateInterval, Setting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sharing;

/// One visit of a setting. Figures are in seconds, bits per second and shares.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The cycle that it belongs to, from 1.
    pub cycle: u32,
    /// What was asked for.
    pub setting: Setting,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a visit.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It was measured.
    Measured(Box<CellFigures>),
    /// It could not be, for this reason: a sentence without a full stop.
    Failed(String),
}

/// What a visit showed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellFigures {
    /// Delivered to the receiver per time over the steady window, all streams and directions
    /// together.
    pub goodput_bits_per_second: u64,
    /// Where the goodput of a longer run lies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<RateInterval>,
    /// How long the streams ran.
    pub duration_seconds: f64,
    /// Round trips of the idle path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_unloaded: Option<RoundTripFigures>,
    /// Round trips beside the streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_loaded: Option<RoundTripFigures>,
    /// Share of the bytes that were sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmitted_ratio: Option<f64>,
    /// This end's process in the program, as a share of one processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_user_ratio: Option<f64>,
    /// The same in the kernel on its behalf.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_kernel_ratio: Option<f64>,
    /// The far end's process in the program, as a share of one processor; absent where it did not
    /// say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_far_user_ratio: Option<f64>,
    /// The same in the far end's kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_far_kernel_ratio: Option<f64>,
    /// What kept it from being faster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// Share of the moments with losses in which at least half of the streams lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub losses_together_ratio: Option<f64>,
    /// The same share if streams lost independently of each other, as often as they did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub losses_together_by_chance_ratio: Option<f64>,
    /// Each stream.
    pub streams: Vec<StreamFigures>,
}

impl CellFigures {
    /// Goodput of each of several streams, in bits per second; `None` of a single one, and where
    /// one is unknown.
    pub fn shares(&self) -> Option<Vec<f64>> {
        let streams = self.streams.iter().map(|one| one.goodput_bits_per_second);
        let shares: Option<Vec<u64>> = streams.collect();
        let shares = shares.filter(|shares| shares.len() > 1)?;
        Some(shares.into_iter().map(|bits| bits as f64).collect())
    }

    /// Jain's index over the streams; `None` of a single one.
    pub fn fairness(&self) -> Option<f64> {
        stats::jain_index(&self.shares()?)
    }

    /// Streams below half their fair share; `None` of a single one.
    pub fn starved(&self) -> Option<usize> {
        sharing::starved(&self.shares()?)
    }
}

/// Round trips of small probes, in seconds; shares between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoundTripFigures {
    /// The smallest.
    #[serde(rename = "min_seconds")]
    pub min: f64,
    /// First quartile.
    #[serde(rename = "quartile1_seconds")]
    pub quartile1: f64,
    /// The middle.
    #[serde(rename = "median_seconds")]
    pub median: f64,
    /// Third quartile.
    #[serde(rename = "quartile3_seconds")]
    pub quartile3: f64,
    /// The mean.
    #[serde(rename = "mean_seconds")]
    pub mean: f64,
    /// The largest.
    #[serde(rename = "max_seconds")]
    pub max: f64,
    /// Share of the probes without an answer.
    #[serde(rename = "loss_ratio")]
    pub loss: f64,
}

/// One stream of a visit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamFigures {
    /// Its number within the run, from 1.
    pub number: u16,
    /// Delivered per time over the steady window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_bits_per_second: Option<u64>,
    /// Segments sent again over the whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u64>,
}
