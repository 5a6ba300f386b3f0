//! What formulas say about a path.

use predict::{BufferAdvice, OneStream, Predicted, Prediction, StreamsAt, binds_name};
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
    pub highest: PredictedStreams,
    /// One stream by each formula.
    pub one_stream: Vec<PredictedStream>,
    /// Several streams by each formula.
    pub points: Vec<PredictedPoint>,
    /// Rules for the buffers.
    pub buffers: Vec<PredictedBuffer>,
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

/// A number of streams and what they carry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedStreams {
    /// How many.
    pub streams: u32,
    /// Payload of all of them.
    pub goodput_bits_per_second: u64,
}

/// A knee.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedKnee {
    /// The share of the highest throughput that was asked for.
    pub share_ratio: f64,
    /// Where it lies.
    #[serde(flatten)]
    pub at: PredictedStreams,
}

/// One stream by one formula.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedStream {
    /// Which formula.
    pub model: String,
    /// Its rate; absent where the formula has none, as without loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bits_per_second: Option<u64>,
}

/// Several streams by each formula.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedPoint {
    /// How many, and their throughput by the equilibrium.
    #[serde(flatten)]
    pub at: PredictedStreams,
    /// What streams of others get beside them.
    pub others_bits_per_second: u64,
    /// Loss events for each packet; absent where it is not predicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_ratio: Option<f64>,
    /// Mean round trip, queue included.
    pub rtt_seconds: f64,
    /// What keeps them from more: `window`, `loss` or `link`.
    pub limit: String,
    /// By Hacker's sum, up to the capacity; absent without loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hacker_bits_per_second: Option<u64>,
    /// By Altman's utilisation; absent for congestion controls that it does not describe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub altman_bits_per_second: Option<u64>,
    /// All windows once a round trip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_cap_bits_per_second: Option<u64>,
}

/// One rule for the buffers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedBuffer {
    /// `BDP1` to `BDP6`.
    pub rule: String,
    /// Its formula in words.
    pub formula: String,
    /// What it gives each of so many streams.
    pub per_stream: Vec<StreamBuffer>,
}

/// A buffer of each of several streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StreamBuffer {
    /// How many streams.
    pub streams: u32,
    /// The buffer of each.
    pub bytes: u64,
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
                at: prediction.knee.into(),
            },
            highest: prediction.highest.into(),
            one_stream: prediction.one_stream.iter().map(Into::into).collect(),
            points: prediction.points.iter().map(Into::into).collect(),
            buffers: prediction.buffers.iter().map(Into::into).collect(),
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

impl From<StreamsAt> for PredictedStreams {
    fn from(at: StreamsAt) -> Self {
        PredictedStreams {
            streams: at.streams,
            goodput_bits_per_second: at.throughput.bits_per_second(),
        }
    }
}

impl From<&OneStream> for PredictedStream {
    fn from(one: &OneStream) -> Self {
        PredictedStream {
            model: one.model.to_owned(),
            rate_bits_per_second: one.rate.map(|rate| rate.bits_per_second()),
        }
    }
}

impl From<&Predicted> for PredictedPoint {
    fn from(point: &Predicted) -> Self {
        let bits = |rate: units::Rate| rate.bits_per_second();
        let equilibrium = &point.equilibrium;
        PredictedPoint {
            at: PredictedStreams {
                streams: point.streams,
                goodput_bits_per_second: bits(equilibrium.throughput),
            },
            others_bits_per_second: bits(equilibrium.others),
            lost_ratio: equilibrium.loss,
            rtt_seconds: equilibrium.rtt.as_secs_f64(),
            limit: binds_name(equilibrium.binds).to_owned(),
            hacker_bits_per_second: point.hacker.map(bits),
            altman_bits_per_second: point.altman.map(bits),
            window_cap_bits_per_second: point.window_cap.map(bits),
        }
    }
}

impl From<&BufferAdvice> for PredictedBuffer {
    fn from(advice: &BufferAdvice) -> Self {
        let each = |&(streams, bytes): &(u32, units::Bytes)| StreamBuffer {
            streams,
            bytes: bytes.get(),
        };
        PredictedBuffer {
            rule: advice.rule.name().to_owned(),
            formula: advice.rule.formula().to_owned(),
            per_stream: advice.per_stream.iter().map(each).collect(),
        }
    }
}
