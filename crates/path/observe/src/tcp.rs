//! What the kernel says of one TCP connection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Span, Time};

/// One reading of `TCP_INFO`, of multipath TCP of all its subflows together. Counters run from the
/// start of the connection.
///
/// A field is `None` where the kernel that was asked does not have it. Names follow
/// `struct tcp_info` in Linux's `include/uapi/linux/tcp.h`; the sense is the sender's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TcpSample {
    /// When it was read, from the start of the streams.
    #[serde(rename = "at_seconds")]
    pub at: Time,
    /// Smoothed round-trip time (`tcpi_rtt`).
    #[serde(rename = "rtt_seconds", skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Span>,
    /// Smallest round-trip time seen (`tcpi_min_rtt`).
    #[serde(rename = "rtt_min_seconds", skip_serializing_if = "Option::is_none")]
    pub rtt_min: Option<Span>,
    /// Congestion window, in segments (`tcpi_snd_cwnd`).
    #[serde(
        rename = "congestion_window_segments",
        skip_serializing_if = "Option::is_none"
    )]
    pub cwnd_segments: Option<u32>,
    /// Slow-start threshold, in segments; `None` also while it is still unset.
    #[serde(
        rename = "slow_start_threshold_segments",
        skip_serializing_if = "Option::is_none"
    )]
    pub ssthresh_segments: Option<u32>,
    /// Payload of a segment (`tcpi_snd_mss`).
    #[serde(rename = "mss_bytes", skip_serializing_if = "Option::is_none")]
    pub mss: Option<Bytes>,
    /// Segments sent and not yet acknowledged (`tcpi_unacked`).
    #[serde(
        rename = "unacknowledged_segments",
        skip_serializing_if = "Option::is_none"
    )]
    pub unacked_segments: Option<u32>,
    /// The window that the peer offers (`tcpi_snd_wnd`).
    #[serde(rename = "peer_window_bytes", skip_serializing_if = "Option::is_none")]
    pub peer_window: Option<Bytes>,
    /// Bytes the peer acknowledged (`tcpi_bytes_acked`).
    #[serde(rename = "acknowledged_bytes", skip_serializing_if = "Option::is_none")]
    pub bytes_acked: Option<Bytes>,
    /// Bytes that reached the peer, in order or not, each counted once (`tcpi_delivered`, whole
    /// segments).
    #[serde(rename = "arrived_bytes", skip_serializing_if = "Option::is_none")]
    pub bytes_arrived: Option<Bytes>,
    /// Bytes received in order (`tcpi_bytes_received`).
    #[serde(rename = "received_bytes", skip_serializing_if = "Option::is_none")]
    pub bytes_received: Option<Bytes>,
    /// Bytes sent, retransmissions included (`tcpi_bytes_sent`).
    #[serde(rename = "sent_bytes", skip_serializing_if = "Option::is_none")]
    pub bytes_sent: Option<Bytes>,
    /// Bytes retransmitted (`tcpi_bytes_retrans`).
    #[serde(
        rename = "retransmitted_bytes",
        skip_serializing_if = "Option::is_none"
    )]
    pub bytes_retransmitted: Option<Bytes>,
    /// Segments retransmitted (`tcpi_total_retrans`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u32>,
    /// Written by the application but not yet sent (`tcpi_notsent_bytes`). Over UDP zero where
    /// nothing is left to send, and absent otherwise.
    #[serde(rename = "not_sent_bytes", skip_serializing_if = "Option::is_none")]
    pub not_sent: Option<Bytes>,
    /// The kernel's own estimate of the delivery rate (`tcpi_delivery_rate`).
    #[serde(
        rename = "delivery_rate_bits_per_second",
        skip_serializing_if = "Option::is_none"
    )]
    pub delivery_rate: Option<Rate>,
    /// Time with data outstanding (`tcpi_busy_time`); includes the two below.
    #[serde(rename = "busy_seconds", skip_serializing_if = "Option::is_none")]
    pub busy: Option<Span>,
    /// Busy time held back by the peer's window (`tcpi_rwnd_limited`).
    #[serde(
        rename = "receive_window_limited_seconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub receive_window_limited: Option<Span>,
    /// Busy time held back by the send buffer (`tcpi_sndbuf_limited`).
    #[serde(
        rename = "send_buffer_limited_seconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub send_buffer_limited: Option<Span>,
    /// Reordering events (`tcpi_reord_seen`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorderings: Option<u32>,
    /// Duplicates that the peer reported (`tcpi_dsack_dups`): retransmissions sent in vain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicates_reported: Option<u32>,
    /// Segments of which an acknowledgement echoed a congestion mark (`tcpi_delivered_ce`); absent
    /// where a TCP connection has no ECN. Its receiver echoes a mark until the sender says that it
    /// has slowed down (RFC 3168, section 6.1.3), so one mark counts the segments of a round trip.
    /// Over UDP the segments of which an acknowledgement told of further marks.
    #[serde(
        rename = "mark_echoed_segments",
        skip_serializing_if = "Option::is_none"
    )]
    pub mark_echoed: Option<u32>,
    /// Whether both ends agreed on ECN (RFC 3168; `tcpi_options`), so that queues may mark packets
    /// in place of drops; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// `false` where both ends did not agree on window scaling (`tcpi_options`), so that no window
    /// is beyond 65,535 bytes; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_scaling: Option<bool>,
}
