//! A path as its file describes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A path between two hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Path {
    /// The preset's name, or the file's without its ending.
    pub name: String,
    /// What it is, in one line.
    pub description: String,
    /// From sender to receiver.
    pub forward: Link,
    /// From receiver to sender.
    pub reverse: Link,
    /// Links between the near host and this one, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Duplex>,
    /// Links between this one and the far host, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beyond: Vec<Duplex>,
    /// The two end hosts.
    pub hosts: Hosts,
    /// The traffic that shares the forward link.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cross: Vec<Cross>,
}

/// Characters of a digest: 64 bits tell a user's paths apart.
const DIGEST_CHARACTERS: usize = 16;

impl Path {
    /// The beginning of the BLAKE3 digest of the whole description, in hexadecimal digits.
    pub fn digest(&self) -> String {
        let text = serde_json::to_string(self);
        let text = text.expect("string keys and finite or null numbers always serialise");
        let mut digest = blake3::hash(text.as_bytes()).to_hex().to_string();
        digest.truncate(DIGEST_CHARACTERS);
        digest
    }
}

/// Both directions between two neighbours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Duplex {
    /// The way of the data.
    pub forward: Link,
    /// The way back.
    pub reverse: Link,
}

/// One direction of a path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// How fast bits leave, of whole IP packets.
    pub rate_bits_per_second: u64,
    /// Propagation delay, one way.
    pub delay_seconds: f64,
    /// Where packets wait.
    pub queue: Queue,
    /// Loss on the wire; absent when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<Loss>,
    /// When nothing passes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<Cut>,
    /// Probability per packet that its payload is damaged unnoticed by TCP; absent for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrupted_ratio: Option<f64>,
    /// Others' datagrams that share it and do not give way; absent when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
    /// Largest IP packet that fits; absent for that of the hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu_bytes: Option<u64>,
}

/// A span of time during which nothing passes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cut {
    /// Since the path came up.
    pub at_seconds: f64,
    /// How long.
    pub length_seconds: f64,
}

/// Datagrams of others on one link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// Rate on average, of whole IP packets.
    pub rate_bits_per_second: u64,
    /// When they come: `poisson` or `constant`.
    pub arrivals: String,
    /// How large they are.
    pub packets: Vec<PacketShare>,
}

/// A size and how many of the packets have it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PacketShare {
    /// Size of the whole IP packet.
    pub size_bytes: u64,
    /// Share of the packets.
    pub packets_ratio: f64,
}

/// A queue discipline and its settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Queue {
    /// First in, first out; what does not fit is dropped on arrival.
    DropTail {
        /// The most that waits.
        #[serde(flatten)]
        limit: QueueLimit,
    },
    /// Random early detection.
    Red {
        /// The most that waits.
        #[serde(flatten)]
        limit: QueueLimit,
        /// Average queue at which dropping begins.
        min_packets: u32,
        /// Average queue at which `drop_ratio` is reached.
        max_packets: u32,
        /// Probability of a drop at `max_packets`.
        drop_ratio: f64,
        /// Weight of one arrival in the average.
        weight_ratio: f64,
        /// Whether packets that understand it are marked instead.
        ecn: bool,
    },
    /// Controlled delay.
    #[serde(rename = "codel")]
    CoDel {
        /// The most that waits.
        #[serde(flatten)]
        limit: QueueLimit,
        /// The wait that is acceptable for ever.
        target_seconds: f64,
        /// How long the wait has to stay above it.
        interval_seconds: f64,
        /// Whether packets that understand it are marked instead.
        ecn: bool,
    },
    /// Three classes, the better one always first.
    Strict {
        /// The most that waits in each class.
        #[serde(flatten)]
        limit: QueueLimit,
    },
    /// Three classes with shares of the rate.
    Weighted {
        /// The most that waits in each class.
        #[serde(flatten)]
        limit: QueueLimit,
        /// Share of the scavenger class.
        scavenger_ratio: f64,
        /// Share of the priority class.
        priority_ratio: f64,
    },
}

/// The most that waits in a queue: one of the two is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueLimit {
    /// In bytes of whole packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_bytes: Option<u64>,
    /// In packets of any size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_packets: Option<u32>,
}

/// Loss on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Loss {
    /// Each packet alone.
    Random {
        /// Probability that a packet is lost.
        lost_ratio: f64,
    },
    /// Bursts: a good and a bad state.
    GilbertElliott {
        /// Probability of going from good to bad, per packet.
        enter_ratio: f64,
        /// Probability of going from bad to good, per packet.
        leave_ratio: f64,
        /// Probability that a packet is lost in the bad state.
        lost_bad_ratio: f64,
        /// Probability that a packet is lost in the good state.
        lost_good_ratio: f64,
    },
}

/// The end hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hosts {
    /// Largest IP packet.
    pub mtu_bytes: u64,
    /// Congestion control by its kernel name.
    pub congestion: String,
    /// How far a send buffer grows.
    pub send_buffer_max_bytes: u64,
    /// How far a receive buffer grows.
    pub receive_buffer_max_bytes: u64,
    /// How far those of the far host grow; absent where both hosts are alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub far: Option<BufferMaxima>,
}

/// How far the kernel of one host grows socket buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BufferMaxima {
    /// How far a send buffer grows.
    pub send_buffer_max_bytes: u64,
    /// How far a receive buffer grows.
    pub receive_buffer_max_bytes: u64,
}

/// A group of others on the forward link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cross {
    /// What they send.
    #[serde(flatten)]
    pub traffic: CrossTraffic,
    /// Congestion control of its TCP streams; absent for that of the hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// The class of service that its packets ask for.
    pub class: String,
    /// Added to the path's delay for this group, once in each direction.
    pub extra_delay_seconds: f64,
}

/// What a group of others sends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum CrossTraffic {
    /// TCP streams that send for ever.
    Streams {
        /// How many.
        streams: u16,
        /// Socket buffer of each.
        window_bytes: u64,
    },
    /// Datagrams at a constant rate while a source is on.
    OnOff {
        /// How many sources.
        sources: u16,
        /// Rate of each while it is on, of whole IP packets.
        rate_bits_per_second: u64,
        /// Mean length of the periods in which a source sends.
        on_seconds: f64,
        /// Mean length of the periods in which it is silent.
        off_seconds: f64,
    },
    /// TCP transfers that begin at random, with sizes from a Pareto distribution.
    Transfers {
        /// How many begin in a second, on average.
        transfers_per_second: f64,
        /// Mean size.
        mean_size_bytes: u64,
        /// Shape of the distribution of sizes.
        shape: f64,
        /// Socket buffer of each.
        window_bytes: u64,
    },
}

impl From<&netpath::PathSpec> for Path {
    fn from(path: &netpath::PathSpec) -> Self {
        Path {
            name: path.name.clone(),
            description: path.to_string(),
            forward: (&path.forward).into(),
            reverse: (&path.reverse).into(),
            before: path.before.iter().map(Duplex::from).collect(),
            beyond: path.beyond.iter().map(Duplex::from).collect(),
            hosts: (&path.hosts).into(),
            cross: path.cross.iter().map(Cross::from).collect(),
        }
    }
}

impl From<&netpath::LinkSpec> for Link {
    fn from(link: &netpath::LinkSpec) -> Self {
        Link {
            rate_bits_per_second: link.rate.bits_per_second(),
            delay_seconds: link.delay.as_secs_f64(),
            queue: link.queue.into(),
            loss: loss(link.loss),
            cuts: link.cuts.iter().map(Cut::from).collect(),
            corrupted_ratio: (link.corruption > 0.0).then_some(link.corruption),
            load: link.load.as_ref().map(Load::from),
            mtu_bytes: link.mtu.map(u64::from),
        }
    }
}

impl From<&netpath::Cut> for Cut {
    fn from(cut: &netpath::Cut) -> Self {
        Cut {
            at_seconds: cut.at.as_secs_f64(),
            length_seconds: cut.length.as_secs_f64(),
        }
    }
}

impl From<&netpath::Duplex> for Duplex {
    fn from(duplex: &netpath::Duplex) -> Self {
        Duplex {
            forward: (&duplex.forward).into(),
            reverse: (&duplex.reverse).into(),
        }
    }
}

impl From<&netpath::Load> for Load {
    fn from(load: &netpath::Load) -> Self {
        let packets = load.packets.iter().map(|packet| PacketShare {
            size_bytes: packet.size.get(),
            packets_ratio: packet.share,
        });
        Load {
            rate_bits_per_second: load.rate.bits_per_second(),
            arrivals: load.arrivals.to_string(),
            packets: packets.collect(),
        }
    }
}

impl From<netpath::QueueSpec> for Queue {
    fn from(queue: netpath::QueueSpec) -> Self {
        match queue {
            netpath::QueueSpec::DropTail(limit) => Queue::DropTail {
                limit: limit.into(),
            },
            netpath::QueueSpec::Red(red) => Queue::Red {
                limit: red.limit.into(),
                min_packets: red.min,
                max_packets: red.max,
                drop_ratio: red.probability,
                weight_ratio: red.weight,
                ecn: red.ecn,
            },
            netpath::QueueSpec::CoDel(codel) => Queue::CoDel {
                limit: codel.limit.into(),
                target_seconds: codel.target.as_secs_f64(),
                interval_seconds: codel.interval.as_secs_f64(),
                ecn: codel.ecn,
            },
            netpath::QueueSpec::Strict { limit } => Queue::Strict {
                limit: limit.into(),
            },
            netpath::QueueSpec::Weighted {
                limit,
                scavenger,
                priority,
            } => Queue::Weighted {
                limit: limit.into(),
                scavenger_ratio: scavenger,
                priority_ratio: priority,
            },
        }
    }
}

impl From<netpath::QueueLimit> for QueueLimit {
    fn from(limit: netpath::QueueLimit) -> Self {
        let (bytes, packets) = match limit {
            netpath::QueueLimit::Bytes(bytes) => (Some(bytes.get()), None),
            netpath::QueueLimit::Packets(packets) => (None, Some(packets)),
        };
        QueueLimit {
            limit_bytes: bytes,
            limit_packets: packets,
        }
    }
}

fn loss(loss: netpath::Loss) -> Option<Loss> {
    match loss {
        netpath::Loss::None => None,
        netpath::Loss::Random { rate } => Some(Loss::Random { lost_ratio: rate }),
        netpath::Loss::GilbertElliott {
            enter,
            leave,
            loss_bad,
            loss_good,
        } => Some(Loss::GilbertElliott {
            enter_ratio: enter,
            leave_ratio: leave,
            lost_bad_ratio: loss_bad,
            lost_good_ratio: loss_good,
        }),
    }
}

impl From<&netpath::Hosts> for Hosts {
    fn from(hosts: &netpath::Hosts) -> Self {
        Hosts {
            mtu_bytes: u64::from(hosts.mtu),
            congestion: hosts.congestion.clone(),
            send_buffer_max_bytes: hosts.send_buffer_max.get(),
            receive_buffer_max_bytes: hosts.receive_buffer_max.get(),
            far: hosts.far.map(|far| BufferMaxima {
                send_buffer_max_bytes: far.send.get(),
                receive_buffer_max_bytes: far.receive.get(),
            }),
        }
    }
}

impl From<&netpath::Cross> for Cross {
    fn from(cross: &netpath::Cross) -> Self {
        Cross {
            traffic: cross.traffic.into(),
            congestion: cross.congestion.clone(),
            class: cross.class.to_string(),
            extra_delay_seconds: cross.extra_delay.as_secs_f64(),
        }
    }
}

impl From<netpath::CrossTraffic> for CrossTraffic {
    fn from(traffic: netpath::CrossTraffic) -> Self {
        match traffic {
            netpath::CrossTraffic::Streams { streams, window } => CrossTraffic::Streams {
                streams,
                window_bytes: window.get(),
            },
            netpath::CrossTraffic::OnOff {
                sources,
                rate,
                on,
                off,
            } => CrossTraffic::OnOff {
                sources,
                rate_bits_per_second: rate.bits_per_second(),
                on_seconds: on.as_secs_f64(),
                off_seconds: off.as_secs_f64(),
            },
            netpath::CrossTraffic::Transfers {
                per_second,
                mean_size,
                shape,
                window,
            } => CrossTraffic::Transfers {
                transfers_per_second: per_second,
                mean_size_bytes: mean_size.get(),
                shape,
                window_bytes: window.get(),
            },
        }
    }
}
