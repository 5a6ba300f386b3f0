//! One stream: how its bytes arrived and what the kernel said of it.

use observe::{Buffers, Delivery, StreamDirection, TcpSample};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Rate, Span};

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
    /// This end's socket buffers; absent over UDP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffers: Option<Buffers>,
    /// The far end's, when it told them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffers_far: Option<Buffers>,
    /// How its bytes arrived.
    pub delivery: Delivery,
    /// The sender's `TCP_INFO`, reading by reading; empty when the sender is a foreign peer.
    pub tcp: Vec<TcpSample>,
}

impl Stream {
    /// The shape of an observed stream; `goodput` is that of its steady window.
    pub fn new(stream: &observe::Stream, goodput: Option<Rate>) -> Self {
        Stream {
            number: stream.number,
            direction: stream.direction,
            delivered_bytes: stream.delivery.total().get(),
            goodput_bits_per_second: goodput.map(Rate::bits_per_second),
            retransmits: stream.retransmits,
            thread_cpu_seconds: stream.thread_cpu.map(Span::as_secs_f64),
            buffers: stream.buffers,
            buffers_far: stream.buffers_far,
            delivery: stream.delivery.clone(),
            tcp: stream.tcp.clone(),
        }
    }

    /// The stream as it was observed.
    pub(crate) fn observed(&self) -> observe::Stream {
        observe::Stream {
            number: self.number,
            direction: self.direction,
            buffers: self.buffers,
            buffers_far: self.buffers_far,
            delivery: self.delivery.clone(),
            tcp: self.tcp.clone(),
            retransmits: self.retransmits,
            thread_cpu: self.thread_cpu_seconds.map(Span::from_secs_f64),
        }
    }
}
