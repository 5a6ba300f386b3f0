//! Datagrams at a steady rate, and the highest rate that a path carries.

use observe::{DatagramPlan, Datagrams as Seen, Way};
use probing::datagram_rate::RateFound;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Span};

pub use observe::DatagramStream;
pub use probing::datagram_rate::{Ceiling, Try, TryPurpose, is_filling};

use crate::{Direction, Peer, Target};

/// The body of a `trunkline/datagrams` document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Datagrams {
    /// What they passed through.
    pub target: Target,
    /// What the far end was.
    pub peer: Peer,
    /// Which ends sent.
    pub direction: Direction,
    /// Streams of each direction.
    pub streams: u16,
    /// How fast they were to send together in each direction, counting the data of datagrams
    /// alone; absent where they sent as fast as they could.
    #[serde(
        rename = "asked_bits_per_second",
        skip_serializing_if = "Option::is_none"
    )]
    pub asked: Option<Rate>,
    /// Data of each datagram.
    #[serde(rename = "datagram_bytes")]
    pub size: Bytes,
    /// How long they were to send.
    #[serde(rename = "duration_seconds")]
    pub duration: Span,
    /// Each direction in which some were sent.
    pub ways: Vec<DatagramWay>,
    /// The search for the highest rate, whose last run the rest is of; absent where the rate was
    /// given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<RateSearch>,
}

/// One direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DatagramWay {
    /// Which.
    pub way: Way,
    /// At what rate they were really sent.
    pub sent_bits_per_second: u64,
    /// At what rate they arrived.
    pub goodput_bits_per_second: u64,
    /// Datagrams that were sent.
    pub sent: u64,
    /// Those that arrived.
    pub arrived: u64,
    /// Those that did not.
    pub lost: u64,
    /// The same as a share of those that were sent.
    pub loss_ratio: f64,
    /// Of those lost, the ones that the receiving host is not known to have dropped.
    pub lost_on_path: u64,
    /// The same as a share of those that were sent.
    pub path_loss_ratio: f64,
    /// Arrived behind one that was sent later; absent where the receiver does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reordered: Option<u64>,
    /// Arrived once more; absent where the receiver does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<u64>,
    /// How much the delay varied from one to the next (RFC 3550, section 6.4.1), the mean over the
    /// streams.
    pub jitter_seconds: f64,
    /// Each stream.
    pub streams: Vec<DatagramStream>,
}

/// A search for the highest rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RateSearch {
    /// The share that may be lost.
    pub loss_max_ratio: f64,
    /// The rate that was found and confirmed; absent where none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_bits_per_second: Option<u64>,
    /// What bounds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Ceiling>,
    /// Whether the receiver told how delays grew. Where it did not, as an iperf3 server does not,
    /// losses alone counted, and a queue that was filling was not seen.
    #[serde(default)]
    pub delays_seen: bool,
    /// Every run, in order.
    pub tries: Vec<Try>,
}

impl Datagrams {
    /// The shape of one run.
    pub fn new(target: Target, plan: &DatagramPlan, seen: &Seen) -> Self {
        Datagrams {
            target,
            peer: seen.peer,
            direction: plan.direction,
            streams: plan.streams.get(),
            asked: plan.rate,
            size: plan.size,
            duration: plan.duration,
            ways: Way::BOTH.iter().filter_map(|way| one(*way, seen)).collect(),
            search: None,
        }
    }

    /// The shape of a search: that of its last run, with all the others; `None` where nothing ran.
    ///
    /// * `loss_max`: the share that may be lost.
    pub fn searched(target: Target, loss_max: f64, found: &RateFound) -> Option<Self> {
        let (plan, seen, ceiling) = match (&found.confirmed, &found.last) {
            (Some((plan, seen, ceiling)), _) => (plan, seen, Some(*ceiling)),
            (None, last) => {
                let (plan, seen) = last.as_ref()?;
                (plan, seen, None)
            }
        };
        let body = Datagrams::new(target, plan, seen);
        let last = found.tries.last();
        let search = RateSearch {
            loss_max_ratio: loss_max,
            found_bits_per_second: ceiling.and(last).map(|last| last.sent.bits_per_second()),
            ceiling,
            delays_seen: found.tries.iter().any(|one| one.delay_growth.is_some()),
            tries: found.tries.clone(),
        };
        Some(Datagrams {
            search: Some(search),
            ..body
        })
    }
}

fn one(way: Way, seen: &Seen) -> Option<DatagramWay> {
    let totals = seen.totals(way)?;
    Some(DatagramWay {
        way,
        sent_bits_per_second: totals.rate_sent.bits_per_second(),
        goodput_bits_per_second: totals.goodput.bits_per_second(),
        sent: totals.sent,
        arrived: totals.arrived,
        lost: totals.lost,
        loss_ratio: totals.loss_ratio(),
        lost_on_path: totals.lost_on_path(),
        path_loss_ratio: totals.path_loss_ratio(),
        reordered: totals.reordered,
        duplicates: totals.duplicates,
        jitter_seconds: totals.jitter.as_secs_f64(),
        streams: seen.of(way).cloned().collect(),
    })
}
