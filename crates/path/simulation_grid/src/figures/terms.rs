//! What all cells of a document share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim::{Access, Growth, Starts};

/// What was run, apart from the path and from what tells cells apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Terms {
    /// The seeds, one run each.
    pub seeds: Vec<u64>,
    /// When a run ends at the latest.
    pub duration_seconds: f64,
    /// What is not counted at its beginning.
    pub warmup_seconds: f64,
    /// Data in all, in equal shares of the streams; absent when they send for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Data on each stream; absent when they send for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_stream_bytes: Option<u64>,
    /// How often the state was recorded; absent when it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series_interval_seconds: Option<f64>,
    /// The class of service that the streams' packets ask for.
    pub class: String,
    /// How the hosts' TCP is set up.
    pub tcp: SimulatedTcp,
}

/// How the hosts' TCP is set up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SimulatedTcp {
    /// Segments sent before the first acknowledgement.
    pub initial_window_segments: u32,
    /// IP and TCP headers with options.
    pub header_bytes: u64,
    /// Whether every acknowledgement measures a round trip.
    pub timestamps: bool,
    /// The least retransmission timeout, or the least that is added to the round trip.
    pub timeout_min_seconds: f64,
    /// Which of the two.
    pub timeout_min_of: TimeoutPart,
    /// How long an acknowledgement may wait; absent when none waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack_seconds: Option<f64>,
    /// What makes a window grow.
    pub growth: Growth,
    /// Whether packets ask to be marked instead of dropped.
    pub ecn: bool,
    /// The upper bound of a random delay before sending.
    pub send_jitter_seconds: f64,
    /// Links between each group of hosts and the bottleneck; absent without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// Within what the streams start.
    pub start_within_seconds: f64,
    /// Whose generator draws the start times.
    pub starts: Starts,
    /// Whether a timeout forgets what was selectively acknowledged.
    pub timeout_forgets: bool,
    /// What arrives later tells that a repeated segment was lost again.
    pub watches_repairs: bool,
    /// Whether hosts reduce windows, judge losses and acknowledge as Linux does; absent where they
    /// do not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kernel_hosts: bool,
}

/// What a least timeout bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeoutPart {
    /// The timeout as a whole.
    Whole,
    /// What is added to the smoothed round trip.
    Margin,
}

impl Terms {
    /// The terms of `scenario`, run with `seeds`.
    pub fn new(scenario: &sim::Scenario, seeds: Vec<u64>) -> Self {
        let (bytes, per_stream) = match scenario.work {
            sim::Work::Endless => (None, None),
            sim::Work::PerStream(bytes) => (None, Some(bytes.get())),
            sim::Work::Striped(bytes) => (Some(bytes.get()), None),
        };
        Terms {
            seeds,
            duration_seconds: scenario.duration.as_secs_f64(),
            warmup_seconds: scenario.warmup.as_secs_f64(),
            bytes,
            per_stream_bytes: per_stream,
            series_interval_seconds: scenario.series_interval.map(units::Span::as_secs_f64),
            class: scenario.class.to_string(),
            tcp: (&scenario.tcp).into(),
        }
    }

    /// The data that `streams` streams carry together; `None` when they send for ever.
    pub fn data_bytes(&self, streams: u32) -> Option<u64> {
        let each = |bytes: u64| bytes.saturating_mul(u64::from(streams));
        self.bytes.or_else(|| self.per_stream_bytes.map(each))
    }
}

impl From<&sim::TcpSettings> for SimulatedTcp {
    fn from(tcp: &sim::TcpSettings) -> Self {
        let (part, least) = match tcp.timeout_floor {
            sim::TimeoutFloor::Whole(least) => (TimeoutPart::Whole, least),
            sim::TimeoutFloor::Margin(least) => (TimeoutPart::Margin, least),
        };
        SimulatedTcp {
            initial_window_segments: tcp.initial_window,
            header_bytes: tcp.header.get(),
            timestamps: tcp.timestamps,
            timeout_min_seconds: least.as_secs_f64(),
            timeout_min_of: part,
            delayed_ack_seconds: tcp.delayed_ack.map(units::Span::as_secs_f64),
            growth: tcp.growth,
            ecn: tcp.ecn,
            send_jitter_seconds: tcp.send_jitter.as_secs_f64(),
            access: tcp.access,
            start_within_seconds: tcp.start_within.as_secs_f64(),
            starts: tcp.starts,
            timeout_forgets: tcp.timeout_forgets,
            watches_repairs: tcp.watches_repairs,
            kernel_hosts: tcp.kernel_hosts,
        }
    }
}
