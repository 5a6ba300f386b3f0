//! What formulas say about a path.

pub use predict::{
    AcceptableLoss, BufferAdvice, Fluid, FluidClass, OneStream, Predicted, StreamBuffer, StreamsAt,
    Transfer, TransferTime,
};

use predict::Prediction;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Path, Window};

/// The body of a `trunkline/predict` document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Predict {
    /// About what.
    pub path: Path,
    /// The congestion control of the streams.
    pub congestion: String,
    /// The most that each stream keeps outstanding: bytes, or `"auto"` for the hosts' buffers.
    pub window: Window,
    /// The same in bytes.
    pub window_bytes: u64,
    /// The path's link, as the formulas see it.
    pub link: PredictedLink,
    /// The fewest streams that reach a share of the highest throughput.
    pub knee: PredictedKnee,
    /// The fewest streams with the highest throughput.
    pub highest: StreamsAt,
    /// One stream by each formula.
    pub one_stream: Vec<OneStream>,
    /// Several streams by each formula.
    pub points: Vec<Predicted>,
    /// Rules for the buffers.
    pub buffers: Vec<BufferAdvice>,
    /// How long data take; absent unless asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer: Option<Transfer>,
    /// The loss that one stream bears, by rate and round trip; empty unless asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acceptable_losses: Vec<AcceptableLoss>,
    /// What the fluid model says of many flows by classes; absent unless asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fluid: Option<Fluid>,
}

/// A link in payload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedLink {
    /// Payload that it carries beside traffic that does not react.
    pub payload_bits_per_second: u64,
    /// Round trip of the empty path.
    pub rtt_seconds: f64,
    /// What a full queue adds to it.
    pub queue_seconds: f64,
    /// Loss events for each packet that come of no queue.
    pub lost_ratio: f64,
    /// Payload of a full segment.
    pub segment_bytes: u64,
    /// Mean load of cross traffic that does not react.
    pub background_bits_per_second: u64,
    /// Streams of others that do.
    pub other_streams: u32,
}

/// A knee.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedKnee {
    /// The share of the highest throughput that was asked for.
    pub share_ratio: f64,
    /// Where it lies.
    #[serde(flatten)]
    pub at: StreamsAt,
}

impl From<&Prediction> for Predict {
    fn from(prediction: &Prediction) -> Self {
        let window = prediction.question.window;
        Predict {
            path: (&prediction.question.path).into(),
            congestion: prediction.congestion.clone(),
            window: window.into(),
            window_bytes: prediction.window.get(),
            link: link(prediction),
            knee: PredictedKnee {
                share_ratio: prediction.question.knee,
                at: prediction.knee,
            },
            highest: prediction.highest,
            one_stream: prediction.one_stream.clone(),
            points: prediction.points.clone(),
            buffers: prediction.buffers.clone(),
            transfer: None,
            acceptable_losses: Vec::new(),
            fluid: None,
        }
    }
}

fn link(prediction: &Prediction) -> PredictedLink {
    let link = &prediction.bottleneck;
    PredictedLink {
        payload_bits_per_second: link.capacity.bits_per_second(),
        rtt_seconds: link.rtt.as_secs_f64(),
        queue_seconds: link.capacity.time_to_send(link.queue).as_secs_f64(),
        lost_ratio: link.loss,
        segment_bytes: link.segment.get(),
        background_bits_per_second: prediction.background.bits_per_second(),
        other_streams: prediction.others,
    }
}
