//! Round trips while a path is saturated.

use probing::responsiveness::{self as seen, Measured};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Span;

use crate::characteristics::{LeftOut, Way};
use crate::{Peer, Series, Target};
pub use probing::responsiveness::{
    Confidence, Growth, Interval as ResponsivenessInterval, Trimmed,
};

/// The body of a `trunkline/responsiveness` document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Responsiveness {
    /// What was saturated.
    pub target: Target,
    /// The longest that the streams of one direction were to run.
    pub duration_max_seconds: f64,
    /// Each direction that could be loaded.
    pub ways: Vec<ResponsivenessWay>,
    /// What could not be measured; absent when all could.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

/// One direction under load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResponsivenessWay {
    /// Which end sent the load.
    pub way: Way,
    /// Round trips a minute: the mean of `60 / mean_seconds` of `foreign` and of `loaded`, or that
    /// of the one that is there; absent where neither is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trips_per_minute: Option<f64>,
    /// Probes beside the streams over the last intervals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign: Option<Trimmed>,
    /// Round trips of the streams themselves over the same intervals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loaded: Option<Trimmed>,
    /// How many of the last intervals the two are over.
    pub intervals_averaged: usize,
    /// How far the figure can be trusted.
    pub confidence: Confidence,
    /// After so many intervals goodput had stopped growing; absent where it never did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saturated_after_intervals: Option<usize>,
    /// Whether responsiveness had stopped changing too.
    pub stable: bool,
    /// How streams were added.
    pub growth: Growth,
    /// Streams in the end.
    pub streams: u16,
    /// Mean goodput over the same intervals.
    pub goodput_bits_per_second: u64,
    /// What the far end was.
    pub peer: Peer,
    /// Round trips before there was any load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<Series>,
    /// What the streams delivered in all.
    pub delivered_bytes: u64,
    /// How long it all took.
    pub elapsed_seconds: f64,
    /// Why it ended before it should have; absent where it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_because: Option<String>,
    /// Every interval of a second, in order.
    pub intervals: Vec<ResponsivenessInterval>,
}

impl Responsiveness {
    /// The shape of what `measured` found of `target`.
    pub fn new(target: Target, duration_max: Span, measured: &Measured) -> Self {
        Responsiveness {
            target,
            duration_max_seconds: duration_max.as_secs_f64(),
            ways: measured.ways.iter().map(ResponsivenessWay::from).collect(),
            left_out: measured.left_out.clone(),
        }
    }
}

impl From<&seen::Responsiveness> for ResponsivenessWay {
    fn from(seen: &seen::Responsiveness) -> Self {
        let formula = seen.formula.as_ref();
        let last = seen.intervals.last();
        ResponsivenessWay {
            way: seen.way,
            round_trips_per_minute: formula.map(seen::Formula::per_minute),
            foreign: formula.and_then(|formula| formula.foreign),
            loaded: formula.and_then(|formula| formula.loaded),
            intervals_averaged: seen.intervals.len().min(seen::INTERVALS_AVERAGED),
            confidence: seen.confidence,
            saturated_after_intervals: seen.saturated_after,
            stable: seen.stable,
            growth: seen.growth,
            streams: last.map_or(1, |last| last.streams.get()),
            goodput_bits_per_second: seen.goodput.bits_per_second(),
            peer: seen.peer,
            idle: seen.idle.as_ref().map(Series::from),
            delivered_bytes: seen.delivered.get(),
            elapsed_seconds: seen.elapsed.as_secs_f64(),
            cut_because: seen.cut_because.clone(),
            intervals: seen.intervals.clone(),
        }
    }
}
