//! Small packets through a path: what is sent, and what is seen of it.
//!
//! A [`crate::Target`] that can send them hands out [`Probes`]. Round trips work against anybody
//! whose kernel answers; trains need a trunkline server at the far end, which stamps their packets;
//! hops need routers that answer. What a path or a user's rights do not allow is
//! [`ProbesError::Unsupported`], with the reason.

use std::cmp::Reverse;
use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use units::{Bytes, Span, Way};

use crate::{ProbeSeries, RunObserver, TargetError};

/// Datagrams of one size, sent at planned times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Train {
    /// Size of each at the IP layer, headers included.
    pub packet: Bytes,
    /// When each leaves, from the first; never earlier than the one before.
    pub departures: Vec<Span>,
}

/// What became of one packet of a train.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Passage {
    /// When it left, by the sender's clock, from when the first was to leave.
    #[serde(rename = "left_seconds")]
    pub left: Span,
    /// When it arrived, by the receiver's clock, from a zero that all packets of its train share
    /// and that is otherwise arbitrary; `None` of a packet that was lost.
    #[serde(rename = "arrived_seconds", skip_serializing_if = "Option::is_none")]
    pub arrived: Option<Span>,
}

/// What became of a train: its packets in the order in which they were to leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passages {
    /// One for each departure of the train.
    pub packets: Vec<Passage>,
    /// Who stamped the arrivals.
    pub stamped: Stamped,
    /// How the clocks of both ends stand to each other; `None` where an end does not tell.
    pub clocks: Option<Clocks>,
}

/// How the clocks of both ends stood to each other during a train, by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clocks {
    /// By how much the receiver's zero is after the sender's.
    pub ahead_nanos: i64,
    /// The most by which the clock of this host is off; `None` where nothing keeps it right.
    pub error_near: Option<Span>,
    /// The same of the far host.
    pub error_far: Option<Span>,
}

impl Passages {
    /// The delay of each packet that arrived in seconds, by the clocks of both ends; below zero
    /// where those are further off than the path is long. `None` where an end does not tell.
    pub fn delays(&self) -> Option<Vec<f64>> {
        let ahead = self.clocks?.ahead_nanos as f64 / 1e9;
        let delay = |packet: &Passage| {
            Some(packet.arrived?.as_secs_f64() - packet.left.as_secs_f64() + ahead)
        };
        Some(self.packets.iter().filter_map(delay).collect())
    }
}

/// Who stamped the arrival of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stamped {
    /// The kernel, as they came from the device.
    ByKernel,
    /// The program, when it got to run.
    ByProgram,
    /// A simulation: exactly.
    Exactly,
}

/// What a traceroute sends.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum TraceProtocol {
    /// Datagrams to a port that the flow keeps.
    Udp,
    /// Beginnings of TCP connections.
    Tcp,
    /// ICMP echo requests.
    Icmp,
}

impl TraceProtocol {
    /// All of them.
    pub const ALL: [TraceProtocol; 3] =
        [TraceProtocol::Udp, TraceProtocol::Tcp, TraceProtocol::Icmp];

    /// As people write it.
    pub const fn name(self) -> &'static str {
        match self {
            TraceProtocol::Udp => "UDP",
            TraceProtocol::Tcp => "TCP",
            TraceProtocol::Icmp => "ICMP",
        }
    }
}

/// How hops are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TracePlan {
    /// What is sent.
    pub protocol: TraceProtocol,
    /// Probes to each hop.
    pub rounds: u16,
    /// Hops after which the far end is given up.
    pub hops_max: u8,
    /// How long an answer is waited for.
    pub patience: Span,
}

/// The hops between here and the far end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// What was sent.
    pub protocol: TraceProtocol,
    /// Whether all probes were of one flow, as routers that share load tell flows apart (Paris
    /// traceroute).
    pub one_flow: bool,
    /// From the first router on; the last is the far end where it was reached.
    pub hops: Vec<Hop>,
    /// Whether the far end answered.
    pub reached: bool,
}

/// One hop, by its distance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    /// Routers up to and including this one.
    pub distance: u8,
    /// Each probe: who answered, and after what time.
    pub probes: Vec<HopProbe>,
}

impl Hop {
    /// Who answered: the most frequent first, then in the order of answering.
    pub fn addresses(&self) -> Vec<IpAddr> {
        let mut counts: Vec<(IpAddr, usize)> = Vec::new();
        for answer in self.probes.iter().flatten() {
            let known = counts.iter_mut().find(|(from, _)| *from == answer.from);
            match known {
                Some((_, count)) => *count += 1,
                None => counts.push((answer.from, 1)),
            }
        }
        counts.sort_by_key(|(_, count)| Reverse(*count));
        counts.into_iter().map(|(from, _)| from).collect()
    }

    /// Who answered most often; `None` without an answer.
    pub fn usual(&self) -> Option<IpAddr> {
        self.addresses().first().copied()
    }

    /// The smallest round trip; `None` without an answer.
    pub fn min(&self) -> Option<Span> {
        self.probes.iter().flatten().map(|answer| answer.rtt).min()
    }

    /// The median round trip in seconds; `None` without an answer.
    pub fn median_seconds(&self) -> Option<f64> {
        let answered = self.probes.iter().flatten();
        let seconds = answered.map(|answer| answer.rtt.as_secs_f64());
        stats::median(&seconds.collect::<Vec<_>>())
    }

    /// The share of probes without an answer; `None` when none was sent.
    pub fn loss_ratio(&self) -> Option<f64> {
        let lost = self.probes.iter().filter(|probe| probe.is_none()).count();
        let sent = self.probes.len();
        (sent > 0).then(|| lost as f64 / sent as f64)
    }
}

/// One probe to a hop; `None` without an answer.
pub type HopProbe = Option<HopAnswer>;

/// Who answered a probe to a hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HopAnswer {
    /// The address that the answer came from.
    pub from: IpAddr,
    /// After what time.
    pub rtt: Span,
}

/// How hops are looked for with flows of different ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowPlan {
    /// How many flows.
    pub flows: u8,
    /// What each does; they use UDP, whatever it says.
    pub trace: TracePlan,
    /// Echoes of each flow to the far end, by turns.
    pub echoes: u16,
    /// From one echo to the next.
    pub spacing: Span,
}

/// One flow and the way that it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// Its port here.
    pub port: u16,
    /// Its hops.
    pub trace: Trace,
    /// The round trip of each of its echoes, `None` of one without an answer; empty where the far
    /// end answers too few to count.
    pub echoes: Vec<Option<Span>>,
}

/// How datagrams of several sizes are sent to die at each hop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizedPlan {
    /// Which hops, by their distance.
    pub distances: Vec<u8>,
    /// Sizes at the IP layer, headers included.
    pub sizes: Vec<u16>,
    /// Probes of each size to each hop.
    pub rounds: u16,
    /// Least time between two probes to any hop, so that they do not queue behind each other.
    pub spacing: Span,
    /// Nothing is sent after this time.
    pub lasting: Span,
    /// How long an answer is waited for.
    pub patience: Span,
}

/// One hop, and what came back from it for packets of several sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizedHop {
    /// Routers up to and including this one.
    pub distance: u8,
    /// Each probe, in the order of sending.
    pub probes: Vec<SizedProbe>,
}

/// One probe of a chosen size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizedProbe {
    /// Its size at the IP layer.
    pub size: u16,
    /// Who answered, and after what time; the answer is as long for all sizes.
    pub answer: HopProbe,
}

/// One echo of a chosen size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizedEcho {
    /// Its size at the IP layer, which its answer has, too.
    pub size: u16,
    /// After what time the answer came; `None` without one.
    pub rtt: Option<Span>,
}

/// The largest packet that passes unfragmented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathMtu {
    /// Its size at the IP layer.
    pub bytes: Bytes,
    /// Whether a packet of that size was answered, or only the kernel's own belief is known.
    pub confirmed: bool,
    /// The largest packet that this host sends there, where those above `bytes` vanish without a
    /// router's word (a black hole, RFC 2923); `None` where none vanish, or it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vanishing: Option<Bytes>,
}

impl PathMtu {
    /// The largest TCP segment whose packet passes: without options, to this address (RFC 6691).
    ///
    /// ```
    /// use observe::PathMtu;
    /// use units::Bytes;
    /// let mtu = PathMtu {
    ///     bytes: Bytes::new(1_400),
    ///     confirmed: true,
    ///     vanishing: Some(Bytes::new(1_500)),
    /// };
    /// assert_eq!(mtu.segment_max("192.0.2.7".parse().unwrap()).get(), 1_360);
    /// assert_eq!(mtu.segment_max("2001:db8::7".parse().unwrap()).get(), 1_340);
    /// ```
    pub fn segment_max(&self, far: IpAddr) -> Bytes {
        let headers = match far {
            IpAddr::V4(_) => 40,
            IpAddr::V6(_) => 60,
        };
        Bytes::new(self.bytes.get().saturating_sub(headers))
    }
}

/// Why something was not probed.
#[derive(Debug, Error)]
pub enum ProbesError {
    /// This path, peer or user does not allow it; other probes may work.
    #[error("{why}")]
    Unsupported {
        /// The reason: a sentence without a full stop.
        why: String,
        /// What would make it possible.
        hint: Option<String>,
    },
    /// It went wrong.
    #[error(transparent)]
    Failed(#[from] TargetError),
}

/// Small packets through a path. Every call ends early when `watch` cancels, with
/// [`crate::Fault::Cancelled`].
pub trait Probes: Send {
    /// Echoes for as long as `lasting`, one every [`ProbeSeries::INTERVAL`].
    ///
    /// # Errors
    /// When there is no answer.
    fn round_trips(
        &mut self,
        lasting: Span,
        watch: &mut dyn RunObserver,
    ) -> Result<ProbeSeries, ProbesError>;

    /// Sends a train and tells what became of it.
    ///
    /// # Errors
    /// When the far end cannot stamp packets, or is gone.
    fn train(
        &mut self,
        way: Way,
        train: &Train,
        watch: &mut dyn RunObserver,
    ) -> Result<Passages, ProbesError>;

    /// Nothing is sent for so long.
    fn pause(&mut self, span: Span);

    /// Looks for the hops between here and the far end.
    ///
    /// # Errors
    /// When this user may not, or the path has none to look for.
    fn trace(
        &mut self,
        plan: &TracePlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Trace, ProbesError>;

    /// Sends datagrams of several sizes to each hop.
    ///
    /// # Errors
    /// When this user may not, or the path has no hops that answer, which is so unless told
    /// otherwise.
    fn sized_hops(
        &mut self,
        plan: &SizedPlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Vec<SizedHop>, ProbesError> {
        let _ = (plan, watch);
        Err(ProbesError::Unsupported {
            why: "this path has no routers that answer".to_owned(),
            hint: None,
        })
    }

    /// Sends echoes of these sizes in this order, one every [`ProbeSeries::INTERVAL`]. Sizes are
    /// those at the IP layer, headers included.
    ///
    /// # Errors
    /// When the far end answers none, or this user may send none, which is so unless told
    /// otherwise.
    fn sized_echoes(
        &mut self,
        sizes: &[u16],
        watch: &mut dyn RunObserver,
    ) -> Result<Vec<SizedEcho>, ProbesError> {
        let _ = (sizes, watch);
        Err(ProbesError::Unsupported {
            why: "this path answers no echoes of chosen sizes".to_owned(),
            hint: None,
        })
    }

    /// Looks for the hops with several flows, and has each send echoes.
    ///
    /// # Errors
    /// As [`Probes::trace`]; where the path has no hops that answer, which is so unless told
    /// otherwise.
    fn flows(
        &mut self,
        plan: &FlowPlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Vec<Flow>, ProbesError> {
        let _ = (plan, watch);
        Err(ProbesError::Unsupported {
            why: "this path has no routers that answer".to_owned(),
            hint: None,
        })
    }

    /// Has the far end look for the hops from there to here.
    ///
    /// # Errors
    /// When the far end does not, which is so unless told otherwise.
    fn trace_back(&mut self, watch: &mut dyn RunObserver) -> Result<Trace, ProbesError> {
        let _ = watch;
        Err(ProbesError::Unsupported {
            why: "the far end of this path looks for no way back".to_owned(),
            hint: None,
        })
    }

    /// Looks for the largest packet that passes.
    ///
    /// # Errors
    /// When it cannot be told.
    fn path_mtu(&mut self, watch: &mut dyn RunObserver) -> Result<PathMtu, ProbesError>;
}

impl Train {
    /// `packets` of size `packet` as fast as the sender can.
    ///
    /// ```
    /// # use observe::Train;
    /// # use units::Bytes;
    /// let pair = Train::back_to_back(2, Bytes::new(1500));
    /// assert_eq!(pair.bytes(), Bytes::new(3000));
    /// ```
    pub fn back_to_back(packets: usize, packet: Bytes) -> Self {
        Train {
            packet,
            departures: vec![Span::ZERO; packets],
        }
    }

    /// `packets` of size `packet`, each `gap` after the one before.
    pub fn spaced(packets: usize, packet: Bytes, gap: Span) -> Self {
        let at = |number| gap.times(number);
        Train {
            packet,
            departures: (0..packets as u64).map(at).collect(),
        }
    }

    /// Everything that it sends, headers included.
    pub fn bytes(&self) -> Bytes {
        self.packet.times(self.departures.len() as u64)
    }

    /// How long sending it takes.
    pub fn length(&self) -> Span {
        self.departures.last().copied().unwrap_or(Span::ZERO)
    }
}
