//! A path as a checked value.

mod class;
mod cross;
mod cut;
mod links;
mod load;
mod loss;
mod policer;
mod queue;
mod reorder;
mod variation;

pub use class::{Class, UnknownClass};
pub use cross::{Cross, CrossTraffic};
pub use cut::Cut;
pub use links::{Duplex, Extra};
pub use load::{Arrivals, Load, PacketShare, UnknownArrivals};
pub use loss::Loss;
pub use policer::Policer;
pub use queue::{CoDelSpec, QueueLimit, QueueSpec, RedSpec, Thresholds, WredSpec};
pub use reorder::Reorder;
pub use units::Way;
pub use variation::{DrawnRate, Trace, Variation};

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Span};

/// A path between two hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct PathSpec {
    /// Its name: the preset's, or the file's without its ending.
    pub name: String,
    /// From sender to receiver: the main link, which [`cross`](PathSpec::cross) shares.
    pub forward: LinkSpec,
    /// From receiver to sender.
    pub reverse: LinkSpec,
    /// Links between the near host and the main one, in this order.
    pub before: Vec<Duplex>,
    /// Links between the main one and the far host, in this order.
    pub beyond: Vec<Duplex>,
    /// The two end hosts.
    pub hosts: Hosts,
    /// Traffic that shares the forward link.
    pub cross: Vec<Cross>,
}

/// One direction of a path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkSpec {
    /// How fast bits leave, on average where the rate varies; counts whole IP packets, headers
    /// included.
    #[serde(rename = "rate_bits_per_second")]
    pub rate: Rate,
    /// How the rate varies; `None` for a constant one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variation: Option<Variation>,
    /// What drops packets beyond a rate before they reach the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policer: Option<Policer>,
    /// Propagation delay, one way.
    #[serde(rename = "delay_seconds")]
    pub delay: Span,
    /// Where packets wait while the link is busy.
    pub queue: QueueSpec,
    /// Packets lost on the wire for reasons other than a full queue.
    #[serde(default, skip_serializing_if = "Loss::is_none")]
    pub loss: Loss,
    /// Packets that are overtaken on the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Reorder>,
    /// When nothing passes, in order and without overlap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<Cut>,
    /// Probability per packet that two words of its TCP payload change places, which TCP's checksum
    /// does not see.
    #[serde(rename = "corrupted_ratio", default, skip_serializing_if = "never")]
    pub corruption: f64,
    /// Others' datagrams that share this link and do not give way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
    /// Largest IP packet that fits; `None` for that of the hosts.
    #[serde(rename = "mtu_bytes", skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u16>,
}

/// Whether a probability is zero.
fn never(probability: &f64) -> bool {
    *probability == 0.0
}

/// The end hosts of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hosts {
    /// Largest IP packet.
    #[serde(rename = "mtu_bytes")]
    pub mtu: u16,
    /// Congestion control by its kernel name.
    pub congestion: String,
    /// How far the kernel grows a send buffer: `tcp_wmem[2]`.
    #[serde(rename = "send_buffer_max_bytes")]
    pub send_buffer_max: Bytes,
    /// How far the kernel grows a receive buffer: `tcp_rmem[2]`.
    #[serde(rename = "receive_buffer_max_bytes")]
    pub receive_buffer_max: Bytes,
    /// Those of the far host, where they are others: an untuned host at one end makes a path slow
    /// one way and fast the other. The two above are the near host's then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub far: Option<BufferMaxima>,
    /// Whether their TCP asks for Explicit Congestion Notification (RFC 3168), so that queues mark
    /// its packets instead of dropping them: `tcp_ecn` is 1.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ecn: bool,
    /// Whether they talk to each other over IPv6.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ipv6: bool,
}

/// How far the kernel of one host grows socket buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BufferMaxima {
    /// `tcp_wmem[2]`.
    #[serde(rename = "send_buffer_max_bytes")]
    pub send: Bytes,
    /// `tcp_rmem[2]`.
    #[serde(rename = "receive_buffer_max_bytes")]
    pub receive: Bytes,
}

impl Hosts {
    /// Bytes of the IP header of their packets, without options.
    pub const fn ip_header(&self) -> u16 {
        match self.ipv6 {
            true => 40,
            false => 20,
        }
    }

    /// The near host's buffers.
    pub fn near(&self) -> BufferMaxima {
        BufferMaxima {
            send: self.send_buffer_max,
            receive: self.receive_buffer_max,
        }
    }

    /// The far host's buffers.
    pub fn far(&self) -> BufferMaxima {
        self.far.unwrap_or_else(|| self.near())
    }

    /// The buffers that data from near to far pass: the sender's one and the receiver's one.
    ///
    /// ```
    /// use netpath::{BufferMaxima, Hosts};
    /// use units::Bytes;
    /// let far = BufferMaxima { send: Bytes::from_kib(128), receive: Bytes::from_kib(256) };
    /// let hosts = Hosts { far: Some(far), ..Hosts::default() };
    /// assert_eq!(hosts.forward().receive, Bytes::from_kib(256));
    /// assert_eq!(hosts.exchanged().forward().send, Bytes::from_kib(128));
    /// ```
    pub fn forward(&self) -> BufferMaxima {
        BufferMaxima {
            send: self.near().send,
            receive: self.far().receive,
        }
    }

    /// The same hosts seen from the other end.
    pub fn exchanged(&self) -> Self {
        Hosts {
            send_buffer_max: self.far().send,
            receive_buffer_max: self.far().receive,
            far: self.far.map(|_| self.near()),
            ..self.clone()
        }
    }
}

impl Default for Hosts {
    /// A Linux host as it is installed.
    fn default() -> Self {
        Hosts {
            mtu: 1500,
            congestion: "cubic".to_owned(),
            send_buffer_max: Bytes::from_mib(4),
            receive_buffer_max: Bytes::from_mib(6),
            far: None,
            ecn: false,
            ipv6: false,
        }
    }
}

impl PathSpec {
    /// Round-trip time of the idle path, without the time that packets take to send.
    pub fn base_rtt(&self) -> Span {
        self.delay(Way::Forward) + self.delay(Way::Reverse)
    }

    /// What fits into the pipe: the lowest forward rate times the idle round-trip time.
    pub fn bandwidth_delay_product(&self) -> Bytes {
        self.narrowest(Way::Forward).rate.bytes_in(self.base_rtt())
    }
}

impl fmt::Display for PathSpec {
    /// One line for people: `45Mbit/s, RTT 165ms, queue 128KiB, loss 0.002 %, cubic`. Of several
    /// links rate, queue and load are those of the narrowest.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let link = self.narrowest(Way::Forward);
        match &link.variation {
            Some(Variation::Drawn(drawn)) => write!(f, "{} to {}", drawn.low, drawn.high)?,
            Some(Variation::Recorded(trace)) => {
                write!(f, "{} in the mean of {}", link.rate.human(), trace.file)?;
            }
            None => write!(f, "{}", link.rate)?,
        }
        if self.hops() > 1 {
            write!(f, " as the narrowest of {} links", self.hops())?;
        }
        write!(f, ", RTT {}, queue {}", self.base_rtt(), link.queue)?;
        if self.has_loss(Way::Forward) {
            let percent = self.loss_rate(Way::Forward) * 100.0;
            write!(f, ", loss {} %", significant(percent))?;
        }
        if let Some(policer) = &link.policer {
            write!(f, ", policed to {}", policer.rate)?;
        }
        if let Some(load) = &link.load {
            write!(f, ", load {}", load.rate)?;
        }
        write!(f, ", {}", self.hosts.congestion)
    }
}

/// Two significant digits without an exponent.
fn significant(value: f64) -> String {
    let decimals = (1.0 - value.abs().log10().floor()).clamp(0.0, 9.0) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}
