//! What small, well-timed packets tell of a path: its capacity, the bandwidth that others leave,
//! how round trips grow under load, and how fast it carries datagrams.
//!
//! Everything drives [`observe::Probes`] or [`observe::Target`] and calculates; nothing here opens
//! a socket or reads a clock, so each method runs the same over a live path, an emulated one and in
//! virtual time.
//!
//! Reading order: [`capacity`], [`trend`], [`available`], [`chirp`], [`hops`], [`size_slope`],
//! [`hop_capacity`], [`branches`], [`way_back`], [`characterise`](mod@characterise),
//! [`responsiveness`], [`datagram_rate`].

pub mod available;
pub mod branches;
pub mod capacity;
pub mod characterise;
pub mod chirp;
pub mod datagram_rate;
pub mod hop_capacity;
pub mod hops;
mod part;
mod passage;
pub mod responsiveness;
pub mod size_slope;
pub mod trend;
pub mod way_back;

pub use available::{Available, AvailableRange};
pub use branches::{Branch, Branches, HopBranches};
pub use capacity::{Capacity, CapacityMethod};
pub use characterise::{Characteristics, Examined, characterise};
pub use hop_capacity::{HopCapacity, SizeTrip};
pub use hops::{Comparison, HopChange, HopSummary, QueueAt};
pub use part::{LeftOut, PartObserver};
pub use responsiveness::Responsiveness;
pub use size_slope::{NoSlope, SizeSlope, SlowestLink};
pub use way_back::WayBack;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What probing sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Bytes sent, headers included.
    #[serde(rename = "sent_bytes")]
    pub bytes: units::Bytes,
    /// Trains sent.
    pub trains: u32,
}

impl Cost {
    fn add(&mut self, train: &observe::Train) {
        self.bytes += train.bytes();
        self.trains += 1;
    }
}
