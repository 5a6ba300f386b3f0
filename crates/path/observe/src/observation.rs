//! What one run showed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Span, Time};

use crate::{Multipath, RoundTrips, Setting, TcpSample};

/// Bytes that had reached the far application (or kernel) by a point in time, from the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    /// When, from the start of the streams.
    #[serde(rename = "at_seconds")]
    pub at: Time,
    /// How much, in all.
    pub bytes: Bytes,
}

/// Who counted the bytes that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// The receiving program, as it read them.
    ByReceiver,
    /// The sending kernel, as they were acknowledged: all that a foreign receiver lets us see.
    ByAcknowledgement,
    /// The sending program, as it wrote them: ahead of what arrived by up to a send buffer. Of
    /// results that other programs recorded.
    BySender,
}

/// How the bytes of a stream arrived over time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Delivery {
    /// Who counted.
    pub counted: Counted,
    /// The receiver's own total at the end, when it gave one.
    #[serde(
        rename = "receiver_total_bytes",
        skip_serializing_if = "Option::is_none"
    )]
    pub receiver_total: Option<Bytes>,
    /// Cumulative readings every [`crate::SamplePlan::INTERVAL`], in order.
    pub progress: Vec<Progress>,
}

/// A socket buffer: what was asked of the kernel and what it answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Buffer {
    /// What was asked for; `None` leaves the size to the kernel.
    #[serde(rename = "asked_bytes", skip_serializing_if = "Option::is_none")]
    pub asked: Option<Bytes>,
    /// What `getsockopt` says, doubled by Linux for its bookkeeping.
    #[serde(rename = "granted_bytes")]
    pub granted: Bytes,
}

impl Buffer {
    /// Whether the kernel gave less than was asked for: a host limit (`wmem_max`, `rmem_max`)
    /// binds.
    ///
    /// ```
    /// # use observe::Buffer;
    /// # use units::Bytes;
    /// // 1 MiB asked where the limit is 208 KiB: Linux answers twice the limit.
    /// let buffer = Buffer { asked: Some(Bytes::from_mib(1)), granted: Bytes::from_kib(416) };
    /// assert!(buffer.is_clamped());
    /// ```
    pub fn is_clamped(&self) -> bool {
        self.asked
            .is_some_and(|asked| self.granted < asked.times(2))
    }
}

/// The two buffers of one end's socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Buffers {
    /// `SO_SNDBUF`.
    pub send: Buffer,
    /// `SO_RCVBUF`.
    pub receive: Buffer,
}

/// Which way the bytes of one stream flow, seen from the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StreamDirection {
    /// The client sends.
    Sending,
    /// The client receives.
    Receiving,
}

/// One stream of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Stream {
    /// Its number within the run, from 1.
    pub number: u16,
    /// Which way it flows.
    pub direction: StreamDirection,
    /// This end's socket buffers once the stream was connected; `None` over UDP, where one socket
    /// may serve several streams and no buffer of it holds one back.
    pub buffers: Option<Buffers>,
    /// The far end's, when it told them.
    pub buffers_far: Option<Buffers>,
    /// How its bytes arrived.
    pub delivery: Delivery,
    /// The sender's `TCP_INFO` every interval; empty when the sender is a foreign peer.
    pub tcp: Vec<TcpSample>,
    /// Retransmitted segments as the sender gave them at the end.
    pub retransmits: Option<u64>,
    /// Processor time of the thread that served it at this end.
    pub thread_cpu: Option<Span>,
}

/// Processor time that a process had used by a point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuSample {
    /// When, from the start of the streams.
    #[serde(rename = "at_seconds")]
    pub at: Time,
    /// Time in the program.
    #[serde(rename = "user_seconds")]
    pub user: Span,
    /// Time in the kernel on the program's behalf.
    #[serde(rename = "kernel_seconds")]
    pub kernel: Span,
}

/// Processor use of one end's process over a run.
///
/// Where both ends run in one process, as on an emulated path, both show that one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalCpu {
    /// Readings in order, at least the first and the last.
    pub samples: Vec<CpuSample>,
}

impl TerminalCpu {
    /// Time used in the program and in the kernel over the run, as shares of one processor.
    pub fn shares(&self) -> Option<(f64, f64)> {
        let (first, last) = (self.samples.first()?, self.samples.last()?);
        let wall = last.at.since(first.at).as_secs_f64();
        let share = |from: Span, to: Span| (to - from).as_secs_f64() / wall;
        (wall > 0.0).then(|| {
            (
                share(first.user, last.user),
                share(first.kernel, last.kernel),
            )
        })
    }
}

/// What the far end is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Peer {
    /// A trunkline server: both ends' telemetry is there.
    Trunkline,
    /// An iperf3 server: totals at the end, and what this end sees for itself.
    Iperf3,
    /// The server of another program, whose own client ran here: what this host's kernel says of
    /// its connections.
    Mover,
}

/// One run: everything that was seen, nothing derived.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// What was asked for.
    pub setting: Setting,
    /// How many of the streams were sending already when this run began, see
    /// [`crate::Then::KeepRunning`]; everything below counts from when the others had joined.
    /// `None` for a run that started them all.
    pub grown_from: Option<crate::StreamCount>,
    /// What the far end is.
    pub peer: Peer,
    /// How long the streams ran.
    pub duration: Span,
    /// How long the whole run took, with connecting, idle probes and the exchange of results.
    pub elapsed: Span,
    /// The streams, by number.
    pub streams: Vec<Stream>,
    /// Round trips before and beside the streams.
    pub round_trips: RoundTrips,
    /// The congestion control the sender really used, when it said so.
    pub congestion_used: Option<String>,
    /// Whether the far end takes streams over UDP, and datagrams reach it and come back: false also
    /// where that is not known.
    pub takes_udp: bool,
    /// What the streams went over, where multipath TCP was asked for.
    pub multipath: Option<Multipath>,
    /// This end's processor use.
    pub cpu_near: Option<TerminalCpu>,
    /// The far end's, in percent of one processor over the run as iperf3 counts it: (user, system).
    pub cpu_far_percent: Option<(f64, f64)>,
}

impl Observation {
    /// Bytes delivered in all, by the best count there is of each stream.
    pub fn bytes_delivered(&self) -> Bytes {
        self.streams
            .iter()
            .map(|stream| stream.delivery.total())
            .sum()
    }
}

impl Delivery {
    /// The receiver's own total, or the last reading where it gave none.
    pub fn total(&self) -> Bytes {
        let last = self.progress.last().map(|reading| reading.bytes);
        self.receiver_total.or(last).unwrap_or(Bytes::ZERO)
    }
}
