//! What trains of packets told.

use ::probing::characterise as seen;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Rate;

/// One direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// From here to the far end.
    Forward,
    /// From the far end to here.
    Reverse,
}

/// Loss and delay of one direction, from packets far apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Variation {
    /// Which direction.
    pub way: Way,
    /// Share of the packets that never arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_ratio: Option<f64>,
    /// Median of the one-way delays above the smallest; absent like the next one where none arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above_smallest_median_seconds: Option<f64>,
    /// Their 95th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above_smallest_95th_seconds: Option<f64>,
    /// Who stamped the arrivals.
    pub stamped: Stamped,
    /// Each packet, in the order of leaving.
    pub packets: Vec<Packet>,
}

/// Who stamped the arrivals of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stamped {
    /// The kernel.
    ByKernel,
    /// The program.
    ByProgram,
    /// A simulation.
    Exactly,
}

/// One packet of a train.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Packet {
    /// When it left, by the sender's clock.
    pub left_seconds: f64,
    /// When it arrived, by the receiver's clock, whose zero is arbitrary; absent where it never did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrived_seconds: Option<f64>,
}

/// Rate of the narrowest link of one direction, at the IP layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capacity {
    /// Which direction.
    pub way: Way,
    /// The estimate.
    pub bits_per_second: u64,
    /// What it comes from.
    pub method: CapacityMethod,
    /// Why it may not be trusted; absent where it passed its own test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// What was sent, headers included.
    pub sent_bytes: u64,
    /// Trains sent.
    pub trains: u32,
    /// What each pair or bulk says by itself, in order.
    pub estimates_bits_per_second: Vec<u64>,
}

/// What a capacity comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityMethod {
    /// Pairs of packets.
    Pairs,
    /// Bulks of more packets.
    Bulks,
}

/// What others leave of the tightest link of one direction, at the IP layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AvailableBandwidth {
    /// Which direction.
    pub way: Way,
    /// Trains of this rate made no queue grow; absent like the next one where it is unmeasurable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low_bits_per_second: Option<u64>,
    /// Trains of this rate did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high_bits_per_second: Option<u64>,
    /// Why there is no range; absent where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmeasurable_because: Option<String>,
    /// A second opinion from chirps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chirps: Option<Chirps>,
    /// What was sent, headers included.
    pub sent_bytes: u64,
    /// Trains sent.
    pub trains: u32,
    /// What was tried, in order.
    pub fleets: Vec<Fleet>,
}

/// What streams of one rate did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fleet {
    /// The rate at which they left.
    pub bits_per_second: u64,
    /// How many were judged.
    pub streams: u32,
    /// How many of them found a growing queue.
    pub increasing: u32,
    /// What they decided.
    pub trend: Trend,
}

/// Whether delays grew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Trend {
    /// They did: the rate is more than what is left.
    Increasing,
    /// They did not.
    NotIncreasing,
    /// Now and then.
    Grey,
}

impl From<&::probing::available::Fleet> for Fleet {
    fn from(fleet: &::probing::available::Fleet) -> Self {
        Fleet {
            bits_per_second: fleet.rate.bits_per_second(),
            streams: fleet.streams,
            increasing: fleet.increasing,
            trend: match fleet.trend {
                ::probing::trend::Trend::Increasing => Trend::Increasing,
                ::probing::trend::Trend::NotIncreasing => Trend::NotIncreasing,
                ::probing::trend::Trend::Grey => Trend::Grey,
            },
        }
    }
}

/// The mean of a few chirps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Chirps {
    /// The estimate.
    pub bits_per_second: u64,
}

impl From<observe::Way> for Way {
    fn from(way: observe::Way) -> Self {
        match way {
            observe::Way::Forward => Way::Forward,
            observe::Way::Reverse => Way::Reverse,
        }
    }
}

impl Way {
    /// Its name in the document.
    pub const fn name(self) -> &'static str {
        match self {
            Way::Forward => "forward",
            Way::Reverse => "reverse",
        }
    }
}

impl From<observe::Stamped> for Stamped {
    fn from(stamped: observe::Stamped) -> Self {
        match stamped {
            observe::Stamped::ByKernel => Stamped::ByKernel,
            observe::Stamped::ByProgram => Stamped::ByProgram,
            observe::Stamped::Exactly => Stamped::Exactly,
        }
    }
}

impl From<&seen::Variation> for Variation {
    fn from(variation: &seen::Variation) -> Self {
        let above = variation.above_smallest_seconds();
        let packet = |packet: &observe::Passage| Packet {
            left_seconds: packet.left.as_secs_f64(),
            arrived_seconds: packet.arrived.map(units::Span::as_secs_f64),
        };
        Variation {
            way: variation.way.into(),
            loss_ratio: variation.loss_ratio(),
            above_smallest_median_seconds: stats::median(&above),
            above_smallest_95th_seconds: stats::quantile(&above, 0.95),
            stamped: variation.passages.stamped.into(),
            packets: variation.passages.packets.iter().map(packet).collect(),
        }
    }
}

impl From<&::probing::Capacity> for Capacity {
    fn from(capacity: &::probing::Capacity) -> Self {
        let estimates = capacity.estimates.iter().map(|rate| rate.bits_per_second());
        Capacity {
            way: capacity.way.into(),
            bits_per_second: capacity.rate.bits_per_second(),
            method: match capacity.method {
                ::probing::CapacityMethod::Pairs => CapacityMethod::Pairs,
                ::probing::CapacityMethod::Bulks => CapacityMethod::Bulks,
            },
            doubt: capacity.doubt.clone(),
            sent_bytes: capacity.cost.bytes.get(),
            trains: capacity.cost.trains,
            estimates_bits_per_second: estimates.collect(),
        }
    }
}

impl From<&::probing::Available> for AvailableBandwidth {
    fn from(available: &::probing::Available) -> Self {
        let range = available.range.as_ref();
        let chirps = |rate: Rate| Chirps {
            bits_per_second: rate.bits_per_second(),
        };
        AvailableBandwidth {
            way: available.way.into(),
            low_bits_per_second: range.ok().map(|range| range.low.bits_per_second()),
            high_bits_per_second: range.ok().map(|range| range.high.bits_per_second()),
            unmeasurable_because: range.err().cloned(),
            chirps: available.chirps.map(chirps),
            sent_bytes: available.cost.bytes.get(),
            trains: available.cost.trains,
            fleets: available.fleets.iter().map(Fleet::from).collect(),
        }
    }
}
