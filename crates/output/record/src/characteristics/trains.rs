//! What trains of packets told.

use ::probing::available::Fleet;
use ::probing::characterise as seen;
use observe::{LossPattern, Passage, Stamped, Way};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Rate;

/// Loss and delay of one direction, from packets far apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Variation {
    /// Which direction.
    pub way: Way,
    /// Share of the packets that never arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_ratio: Option<f64>,
    /// How losses lie among the packets; absent where none was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub losses: Option<LossPattern>,
    /// Median of the one-way delays above the smallest; absent like the next one where none
    /// arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above_smallest_median_seconds: Option<f64>,
    /// Their 95th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above_smallest_95th_seconds: Option<f64>,
    /// Who stamped the arrivals.
    pub stamped: Stamped,
    /// Each packet, in the order of leaving.
    pub packets: Vec<Passage>,
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

/// The mean of a few chirps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Chirps {
    /// The estimate.
    pub bits_per_second: u64,
}

impl From<&seen::Variation> for Variation {
    fn from(variation: &seen::Variation) -> Self {
        let packets = &variation.passages.packets;
        Variation {
            way: variation.way,
            loss_ratio: variation.loss_ratio(),
            losses: LossPattern::of(packets.iter().map(|packet| packet.arrived.is_none())),
            above_smallest_median_seconds: variation.above_smallest_quantile(0.5),
            above_smallest_95th_seconds: variation.above_smallest_quantile(0.95),
            stamped: variation.passages.stamped,
            packets: packets.clone(),
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
            way: available.way,
            low_bits_per_second: range.ok().map(|range| range.low.bits_per_second()),
            high_bits_per_second: range.ok().map(|range| range.high.bits_per_second()),
            unmeasurable_because: range.err().cloned(),
            chirps: available.chirps.map(chirps),
            sent_bytes: available.cost.bytes.get(),
            trains: available.cost.trains,
            fleets: available.fleets.clone(),
        }
    }
}
