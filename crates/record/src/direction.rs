//! The figures of one direction of a run.

use observe::{DirectionSummary, TcpSummary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Span};

use crate::{Counted, Interval, Steady, StreamDirection};

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
    pub tcp: TcpFigures,
}

/// What the senders' kernels said over the steady window, over the streams of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TcpFigures {
    /// Time with data outstanding, as a share of the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_ratio: Option<f64>,
    /// Held back by the receiver's window, as a share of busy time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_window_limited_ratio: Option<f64>,
    /// Held back by the send buffer, as a share of busy time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_buffer_limited_ratio: Option<f64>,
    /// Readings with nothing left to send, as a share of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_sent_empty_ratio: Option<f64>,
    /// Readings with the peer's window nearly full, as a share of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_full_ratio: Option<f64>,
    /// Mean window that the peer offered to one stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer_window_bytes: Option<u64>,
    /// Mean bytes in flight of one stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flight_bytes: Option<u64>,
    /// Mean congestion window of one stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_window_bytes: Option<u64>,
    /// Growth of a congestion window from the first to the last third of the steady window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_window_growth_ratio: Option<f64>,
    /// Payload of a segment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mss_bytes: Option<u64>,
    /// Retransmitted bytes as a share of the bytes sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmitted_ratio: Option<f64>,
    /// Retransmitted segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u64>,
    /// Retransmissions in vain, as a share of retransmissions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate_ratio: Option<f64>,
    /// Reordering events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorderings: Option<u64>,
    /// Mean smoothed round-trip time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_seconds: Option<f64>,
    /// Smallest round-trip time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_min_seconds: Option<f64>,
}

impl From<&DirectionSummary> for DirectionFigures {
    fn from(summary: &DirectionSummary) -> Self {
        DirectionFigures {
            direction: summary.direction.into(),
            goodput_bits_per_second: summary.goodput.mean.bits_per_second(),
            interval: summary.goodput.interval.map(Interval::from),
            steady: summary.into(),
            counted: summary.counted.into(),
            fairness: summary.fairness,
            retransmits: summary.retransmits_total,
            thread_cpu_ratio: summary.thread_cpu_share,
            tcp: (&summary.tcp).into(),
        }
    }
}

impl From<&TcpSummary> for TcpFigures {
    fn from(tcp: &TcpSummary) -> Self {
        TcpFigures {
            busy_ratio: tcp.busy_share,
            receive_window_limited_ratio: tcp.receive_window_share,
            send_buffer_limited_ratio: tcp.send_buffer_share,
            not_sent_empty_ratio: tcp.not_sent_empty_share,
            window_full_ratio: tcp.window_full_share,
            peer_window_bytes: tcp.peer_window.map(Bytes::get),
            flight_bytes: tcp.flight.map(Bytes::get),
            congestion_window_bytes: tcp.congestion_window.map(Bytes::get),
            congestion_window_growth_ratio: tcp.congestion_window_growth,
            mss_bytes: tcp.mss.map(Bytes::get),
            retransmitted_ratio: tcp.retransmitted_share,
            retransmits: tcp.retransmits,
            duplicate_ratio: tcp.duplicate_share,
            reorderings: tcp.reorderings,
            rtt_seconds: tcp.rtt.map(Span::as_secs_f64),
            rtt_min_seconds: tcp.rtt_min.map(Span::as_secs_f64),
        }
    }
}
