//! One stream: how its bytes arrived and what the kernel said of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Span};

/// One stream of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stream {
    /// Its number within the run, from 1.
    pub number: u16,
    /// Which way it flowed, seen from the client.
    pub direction: StreamDirection,
    /// Bytes delivered over the whole run, by the best count there is.
    pub delivered_bytes: u64,
    /// Goodput over the steady window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_bits_per_second: Option<u64>,
    /// Segments that the sender retransmitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u64>,
    /// Processor time of the thread that served it at this end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_cpu_seconds: Option<f64>,
    /// This end's socket buffers.
    pub buffers: Buffers,
    /// The far end's, when it told them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffers_far: Option<Buffers>,
    /// How its bytes arrived.
    pub delivery: Delivery,
    /// The sender's `TCP_INFO`, reading by reading; empty when the sender is a foreign peer.
    pub tcp: Vec<TcpSample>,
}

/// Which way the bytes of one stream flowed, seen from the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StreamDirection {
    /// The client sent.
    Sending,
    /// The client received.
    Receiving,
}

/// The socket buffers of one end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Buffers {
    /// `SO_SNDBUF`.
    pub send: Buffer,
    /// `SO_RCVBUF`.
    pub receive: Buffer,
}

/// One socket buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Buffer {
    /// What was asked for; absent when left to the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_bytes: Option<u64>,
    /// What the kernel answered, doubled by Linux for its bookkeeping.
    pub granted_bytes: u64,
}

/// How the bytes of a stream arrived over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Delivery {
    /// Who counted.
    pub counted: Counted,
    /// The receiver's own total at the end, when it gave one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver_total_bytes: Option<u64>,
    /// Cumulative readings, in order.
    pub progress: Vec<Progress>,
}

/// Who counted the bytes that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// The receiving program.
    ByReceiver,
    /// The sending kernel, as the bytes were acknowledged.
    ByAcknowledgement,
    /// The sending program, as it wrote them: ahead of what arrived by up to a send buffer.
    BySender,
}

/// Bytes that had arrived by a point in time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    /// When, from the start of the streams.
    pub at_seconds: f64,
    /// How much, in all.
    pub bytes: u64,
}

/// One reading of `TCP_INFO`; what the kernel does not have is absent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TcpSample {
    /// When it was read, from the start of the streams.
    pub at_seconds: f64,
    /// Smoothed round-trip time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_seconds: Option<f64>,
    /// Smallest round-trip time seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_min_seconds: Option<f64>,
    /// Congestion window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_window_segments: Option<u32>,
    /// Slow-start threshold; absent while unset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start_threshold_segments: Option<u32>,
    /// Payload of a segment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mss_bytes: Option<u64>,
    /// Sent and not yet acknowledged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unacknowledged_segments: Option<u32>,
    /// The window that the peer offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer_window_bytes: Option<u64>,
    /// Acknowledged by the peer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acknowledged_bytes: Option<u64>,
    /// Reached the peer, in order or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrived_bytes: Option<u64>,
    /// Received in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received_bytes: Option<u64>,
    /// Sent, retransmissions included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_bytes: Option<u64>,
    /// Retransmitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmitted_bytes: Option<u64>,
    /// Segments retransmitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u32>,
    /// Written by the program but not yet sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_sent_bytes: Option<u64>,
    /// The kernel's own estimate of the delivery rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_rate_bits_per_second: Option<u64>,
    /// Time with data outstanding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_seconds: Option<f64>,
    /// Of that, held back by the peer's window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_window_limited_seconds: Option<f64>,
    /// Of that, held back by the send buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_buffer_limited_seconds: Option<f64>,
    /// Reordering events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorderings: Option<u32>,
    /// Duplicates that the peer reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicates_reported: Option<u32>,
}

impl Stream {
    /// The shape of an observed stream; `goodput` is that of its steady window.
    pub fn new(stream: &observe::Stream, goodput: Option<Rate>) -> Self {
        Stream {
            number: stream.number,
            direction: stream.direction.into(),
            delivered_bytes: stream.delivery.total().get(),
            goodput_bits_per_second: goodput.map(Rate::bits_per_second),
            retransmits: stream.retransmits,
            thread_cpu_seconds: stream.thread_cpu.map(Span::as_secs_f64),
            buffers: Buffers::from(&stream.buffers),
            buffers_far: stream.buffers_far.as_ref().map(Buffers::from),
            delivery: Delivery::from(&stream.delivery),
            tcp: stream.tcp.iter().map(TcpSample::from).collect(),
        }
    }
}

impl From<observe::StreamDirection> for StreamDirection {
    fn from(direction: observe::StreamDirection) -> Self {
        match direction {
            observe::StreamDirection::Sending => StreamDirection::Sending,
            observe::StreamDirection::Receiving => StreamDirection::Receiving,
        }
    }
}

impl From<&observe::Buffers> for Buffers {
    fn from(buffers: &observe::Buffers) -> Self {
        Buffers {
            send: Buffer::from(&buffers.send),
            receive: Buffer::from(&buffers.receive),
        }
    }
}

impl From<&observe::Buffer> for Buffer {
    fn from(buffer: &observe::Buffer) -> Self {
        Buffer {
            asked_bytes: buffer.asked.map(Bytes::get),
            granted_bytes: buffer.granted.get(),
        }
    }
}

impl Buffer {
    /// Whether the kernel gave less than was asked for, doubled as it does for its bookkeeping.
    pub fn is_clamped(&self) -> bool {
        let asked = self.asked_bytes.map(Bytes::new);
        observe::Buffer {
            asked,
            granted: Bytes::new(self.granted_bytes),
        }
        .is_clamped()
    }
}

impl From<&observe::Delivery> for Delivery {
    fn from(delivery: &observe::Delivery) -> Self {
        Delivery {
            counted: delivery.counted.into(),
            receiver_total_bytes: delivery.receiver_total.map(Bytes::get),
            progress: delivery.progress.iter().map(Progress::from).collect(),
        }
    }
}

impl From<observe::Counted> for Counted {
    fn from(counted: observe::Counted) -> Self {
        match counted {
            observe::Counted::ByReceiver => Counted::ByReceiver,
            observe::Counted::ByAcknowledgement => Counted::ByAcknowledgement,
            observe::Counted::BySender => Counted::BySender,
        }
    }
}

impl From<&observe::Progress> for Progress {
    fn from(progress: &observe::Progress) -> Self {
        Progress {
            at_seconds: progress.at.as_secs_f64(),
            bytes: progress.bytes.get(),
        }
    }
}

impl From<&observe::TcpSample> for TcpSample {
    fn from(tcp: &observe::TcpSample) -> Self {
        TcpSample {
            at_seconds: tcp.at.as_secs_f64(),
            rtt_seconds: tcp.rtt.map(Span::as_secs_f64),
            rtt_min_seconds: tcp.rtt_min.map(Span::as_secs_f64),
            congestion_window_segments: tcp.cwnd_segments,
            slow_start_threshold_segments: tcp.ssthresh_segments,
            mss_bytes: tcp.mss.map(Bytes::get),
            unacknowledged_segments: tcp.unacked_segments,
            peer_window_bytes: tcp.peer_window.map(Bytes::get),
            acknowledged_bytes: tcp.bytes_acked.map(Bytes::get),
            arrived_bytes: tcp.bytes_arrived.map(Bytes::get),
            received_bytes: tcp.bytes_received.map(Bytes::get),
            sent_bytes: tcp.bytes_sent.map(Bytes::get),
            retransmitted_bytes: tcp.bytes_retransmitted.map(Bytes::get),
            retransmits: tcp.retransmits,
            not_sent_bytes: tcp.not_sent.map(Bytes::get),
            delivery_rate_bits_per_second: tcp.delivery_rate.map(Rate::bits_per_second),
            busy_seconds: tcp.busy.map(Span::as_secs_f64),
            receive_window_limited_seconds: tcp.receive_window_limited.map(Span::as_secs_f64),
            send_buffer_limited_seconds: tcp.send_buffer_limited.map(Span::as_secs_f64),
            reorderings: tcp.reorderings,
            duplicates_reported: tcp.duplicates_reported,
        }
    }
}
