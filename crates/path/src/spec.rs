//! A path as a checked value.

use std::fmt;

use units::{Bytes, Rate, Span};

/// A path between two hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct PathSpec {
    /// Its name: the preset's, or the file's without its ending.
    pub name: String,
    /// From sender to receiver.
    pub forward: LinkSpec,
    /// From receiver to sender.
    pub reverse: LinkSpec,
    /// The two end hosts.
    pub hosts: Hosts,
    /// Traffic that shares the forward link.
    pub cross: Vec<Cross>,
}

/// One direction of a path.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkSpec {
    /// How fast bits leave; counts whole IP packets, headers included.
    pub rate: Rate,
    /// Propagation delay, one way.
    pub delay: Span,
    /// Where packets wait while the link is busy.
    pub queue: QueueSpec,
    /// Packets lost on the wire for reasons other than a full queue.
    pub loss: Loss,
}

/// A queue discipline and its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueSpec {
    /// First in, first out; what does not fit is dropped on arrival.
    DropTail(QueueLimit),
}

/// How much waits at the most, not counting the packet that is being sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueLimit {
    /// This many bytes of whole packets.
    Bytes(Bytes),
    /// This many packets of any size.
    Packets(u32),
}

/// Loss on the wire.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Loss {
    /// None.
    None,
    /// Each packet alone, with this probability.
    Random {
        /// Probability that a packet is lost.
        rate: f64,
    },
    /// Bursts: a good and a bad state, changed before each packet (Gilbert 1960, Elliott 1963).
    ///
    /// With `loss_bad` 1 and `loss_good` 0 the loss rate is `enter / (enter + leave)` and a burst
    /// lasts `1 / leave` packets on average.
    GilbertElliott {
        /// Probability of going from good to bad.
        enter: f64,
        /// Probability of going from bad to good.
        leave: f64,
        /// Probability that a packet is lost in the bad state.
        loss_bad: f64,
        /// Probability that a packet is lost in the good state.
        loss_good: f64,
    },
}

impl Loss {
    /// The long-run share of packets that are lost.
    ///
    /// ```
    /// # use path::Loss;
    /// let bursty = Loss::GilbertElliott { enter: 0.01, leave: 0.24, loss_bad: 1.0, loss_good: 0.0 };
    /// // 0.01 / (0.01 + 0.24) = 4 % of the time in the bad state.
    /// assert!((bursty.mean_rate() - 0.04).abs() < 1e-12);
    /// ```
    pub fn mean_rate(&self) -> f64 {
        match *self {
            Loss::None => 0.0,
            Loss::Random { rate } => rate,
            Loss::GilbertElliott {
                enter,
                leave,
                loss_bad,
                loss_good,
            } => {
                let bad = enter / (enter + leave);
                bad * loss_bad + (1.0 - bad) * loss_good
            }
        }
    }
}

/// The end hosts of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts {
    /// Largest IP packet.
    pub mtu: u16,
    /// Congestion control by its kernel name.
    pub congestion: String,
    /// How far the kernel grows a send buffer: `tcp_wmem[2]`.
    pub send_buffer_max: Bytes,
    /// How far the kernel grows a receive buffer: `tcp_rmem[2]`.
    pub receive_buffer_max: Bytes,
}

impl Default for Hosts {
    /// A Linux host as it is installed.
    fn default() -> Self {
        Hosts {
            mtu: 1500,
            congestion: "cubic".to_owned(),
            send_buffer_max: Bytes::from_mib(4),
            receive_buffer_max: Bytes::from_mib(6),
        }
    }
}

/// Long-lived TCP streams of others over the same forward link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cross {
    /// How many.
    pub streams: u16,
    /// Socket buffer of each.
    pub window: Bytes,
}

impl PathSpec {
    /// Round-trip time of the idle path, without the time that packets take to send.
    pub fn base_rtt(&self) -> Span {
        self.forward.delay + self.reverse.delay
    }

    /// What fits into the pipe: the forward rate times the idle round-trip time.
    pub fn bandwidth_delay_product(&self) -> Bytes {
        self.forward.rate.bytes_in(self.base_rtt())
    }
}

impl fmt::Display for QueueLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueLimit::Bytes(bytes) => bytes.fmt(f),
            QueueLimit::Packets(packets) => write!(f, "{packets} packets"),
        }
    }
}

impl fmt::Display for PathSpec {
    /// One line for people: `45Mbit/s, RTT 165ms, queue 128KiB, loss 0.002 %, cubic`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let QueueSpec::DropTail(limit) = self.forward.queue;
        write!(
            f,
            "{}, RTT {}, queue {limit}",
            self.forward.rate,
            self.base_rtt()
        )?;
        if self.forward.loss != Loss::None {
            let percent = self.forward.loss.mean_rate() * 100.0;
            write!(f, ", loss {} %", significant(percent))?;
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
