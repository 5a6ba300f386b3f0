//! What one visit of one setting showed.

use observe::{Limit, Setting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// What a measured visit came down to.
#[derive(Debug, Clone, PartialEq)]
pub struct CellFigures {
    /// Delivered to the receiver per time over the steady window, all streams and directions
    /// together.
    pub goodput: f64,
    /// 95 % interval of the goodput; absent when the run was too short for one.
    pub goodput_interval: Option<(f64, f64)>,
    /// How long the streams ran.
    pub duration: f64,
    /// Round trips of the idle path.
    pub unloaded: Option<RoundTripFigures>,
    /// Round trips beside the streams.
    pub loaded: Option<RoundTripFigures>,
    /// Share of the bytes that were sent again.
    pub retransmitted: Option<f64>,
    /// This end's process in the program, as a share of one processor.
    pub cpu_user: Option<f64>,
    /// The same in the kernel on its behalf.
    pub cpu_kernel: Option<f64>,
    /// What kept it from being faster.
    pub limit: Option<Limit>,
    /// Each stream.
    pub streams: Vec<StreamFigures>,
    /// Share of the moments with losses in which at least half of the streams lost, see `sharing`;
    /// absent with one stream, without losses, and when senders do not tell.
    pub losses_together: Option<f64>,
    /// The same share if streams lost independently of each other, as often as they did.
    pub losses_together_by_chance: Option<f64>,
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
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StreamFigures {
    /// Its number within the run, from 1.
    pub number: u16,
    /// Delivered per time over the steady window.
    pub goodput: Option<f64>,
    /// Segments sent again over the whole run.
    pub retransmits: Option<u64>,
}
