//! What the kernel says of one TCP connection.

use units::{Bytes, Rate, Span, Time};

/// One reading of `TCP_INFO`. Counters run from the start of the connection.
///
/// A field is `None` where the kernel that was asked does not have it. Names follow
/// `struct tcp_info` in Linux's `include/uapi/linux/tcp.h`; the sense is the sender's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TcpSample {
    /// When it was read, from the start of the streams.
    pub at: Time,
    /// Smoothed round-trip time (`tcpi_rtt`).
    pub rtt: Option<Span>,
    /// Smallest round-trip time seen (`tcpi_min_rtt`).
    pub rtt_min: Option<Span>,
    /// Congestion window, in segments (`tcpi_snd_cwnd`).
    pub cwnd_segments: Option<u32>,
    /// Slow-start threshold, in segments; `None` also while it is still unset.
    pub ssthresh_segments: Option<u32>,
    /// Payload of a segment (`tcpi_snd_mss`).
    pub mss: Option<Bytes>,
    /// Segments sent and not yet acknowledged (`tcpi_unacked`).
    pub unacked_segments: Option<u32>,
    /// The window that the peer offers (`tcpi_snd_wnd`).
    pub peer_window: Option<Bytes>,
    /// Bytes the peer acknowledged (`tcpi_bytes_acked`).
    pub bytes_acked: Option<Bytes>,
    /// Bytes that reached the peer, in order or not, each counted once (`tcpi_delivered`, whole
    /// segments).
    pub bytes_arrived: Option<Bytes>,
    /// Bytes received in order (`tcpi_bytes_received`).
    pub bytes_received: Option<Bytes>,
    /// Bytes sent, retransmissions included (`tcpi_bytes_sent`).
    pub bytes_sent: Option<Bytes>,
    /// Bytes retransmitted (`tcpi_bytes_retrans`).
    pub bytes_retransmitted: Option<Bytes>,
    /// Segments retransmitted (`tcpi_total_retrans`).
    pub retransmits: Option<u32>,
    /// Written by the application but not yet sent (`tcpi_notsent_bytes`).
    pub not_sent: Option<Bytes>,
    /// The kernel's own estimate of the delivery rate (`tcpi_delivery_rate`).
    pub delivery_rate: Option<Rate>,
    /// Time with data outstanding (`tcpi_busy_time`); includes the two below.
    pub busy: Option<Span>,
    /// Busy time held back by the peer's window (`tcpi_rwnd_limited`).
    pub receive_window_limited: Option<Span>,
    /// Busy time held back by the send buffer (`tcpi_sndbuf_limited`).
    pub send_buffer_limited: Option<Span>,
    /// Reordering events (`tcpi_reord_seen`).
    pub reorderings: Option<u32>,
    /// Duplicates that the peer reported (`tcpi_dsack_dups`): retransmissions sent in vain.
    pub duplicates_reported: Option<u32>,
}
