//! What a simulation showed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Span, Time};

/// One run, counted from the end of its warm-up unless a field says otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// The seed.
    pub seed: u64,
    /// From the end of the warm-up to the end of the run.
    pub measured: Span,
    /// The streams, in the order of their numbers.
    pub streams: Vec<StreamResult>,
    /// The cross traffic, in the order of the path file.
    pub cross: Vec<CrossResult>,
    /// Packets that were dropped, of the streams and the cross traffic alike.
    pub drops: Drops,
    /// Packets that were marked instead of being dropped.
    pub marks: u64,
    /// The queue of the forward link.
    pub queue: QueueUse,
    /// Share of the time in which the forward link was sending, 0 to 1.
    pub utilisation: f64,
    /// Round trips as the streams saw them; `None` when nothing was acknowledged.
    pub round_trips: Option<RoundTrips>,
    /// When the last stream finished, from the beginning of the run; `None` when data was left.
    pub completion: Option<Span>,
    /// What was recorded over time, from the beginning of the run; empty unless asked for.
    pub series: Vec<Sample>,
    /// What the run took.
    pub work: WorkDone,
}

/// One stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StreamResult {
    /// Acknowledged payload over the measured time.
    #[serde(rename = "goodput_bits_per_second")]
    pub goodput: Rate,
    /// Acknowledged payload.
    #[serde(rename = "acknowledged_bytes")]
    pub acknowledged: Bytes,
    /// Segments that were sent again.
    pub retransmitted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// When its last byte was acknowledged, from the beginning of the run.
    #[serde(rename = "completion_seconds", skip_serializing_if = "Option::is_none")]
    pub completed: Option<Span>,
}

/// One group of cross traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CrossResult {
    /// Delivered payload over the measured time.
    #[serde(rename = "goodput_bits_per_second")]
    pub goodput: Rate,
    /// Short transfers that were completed.
    pub transfers: u64,
    /// Short transfers that were not let in because too many were under way.
    pub turned_away: u64,
}

/// Packets that were dropped, by cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Drops {
    /// The queue had no room.
    pub queue_full: u64,
    /// Random early detection.
    pub early: u64,
    /// They had waited too long (CoDel).
    pub sojourn: u64,
    /// Beyond the rate of a policer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub policed: u64,
    /// Lost on the wire.
    pub wire_loss: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Drops {
    /// Those that came after `before` was counted.
    pub(crate) fn since(&self, before: &Drops) -> Drops {
        Drops {
            queue_full: self.queue_full - before.queue_full,
            early: self.early - before.early,
            sojourn: self.sojourn - before.sojourn,
            policed: self.policed - before.policed,
            wire_loss: self.wire_loss - before.wire_loss,
        }
    }

    /// All of them.
    pub const fn total(&self) -> u64 {
        self.queue_full + self.early + self.sojourn + self.policed + self.wire_loss
    }
}

/// The queue of the forward link, of several that of the narrowest, over the measured time, in
/// packets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct QueueUse {
    /// The mean over time.
    pub mean_packets: f64,
    /// The most, since the beginning of the run.
    pub peak_bytes: Bytes,
}

/// The distribution of round-trip times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTrips {
    /// How many acknowledgements gave one.
    pub samples: u64,
    /// The smallest.
    pub min: Span,
    /// The mean.
    pub mean: Span,
    /// Half are below this.
    pub median: Span,
    /// 95 in 100 are below this.
    pub p95: Span,
    /// 99 in 100 are below this.
    pub p99: Span,
    /// The largest.
    pub max: Span,
}

/// The state at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// When.
    #[serde(rename = "at_seconds")]
    pub at: Time,
    /// Packets that waited in the forward queue, of several links that of the narrowest.
    pub queue_packets: u64,
    /// What each stream might have outstanding, in segments: its congestion window.
    #[serde(rename = "windows_segments")]
    pub windows: Vec<f64>,
    /// Payload that all streams together had seen acknowledged.
    #[serde(rename = "acknowledged_bytes")]
    pub acknowledged: Bytes,
    /// Payload that the cross traffic had seen delivered.
    #[serde(rename = "cross_delivered_bytes")]
    pub cross_delivered: Bytes,
}

/// What a run took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WorkDone {
    /// Data packets offered to the main link forward, from the beginning of the run.
    pub data_packets: u64,
    /// Events that were handled.
    pub events: u64,
}
