//! What a train is to be.

use units::{Bytes, Span, Way};

/// One train.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrainPlan {
    /// Which end sends it.
    pub way: Way,
    /// Size of each packet at the IP layer, headers included.
    pub packet: Bytes,
    /// When each packet leaves, from the first.
    pub departures: Vec<Span>,
}

impl TrainPlan {
    /// Packets.
    pub fn packets(&self) -> usize {
        self.departures.len()
    }

    /// Everything that is sent, headers included.
    pub fn bytes(&self) -> Bytes {
        self.packet.times(self.departures.len() as u64)
    }

    /// Time from the first packet to the last.
    pub fn length(&self) -> Span {
        self.departures.last().copied().unwrap_or(Span::ZERO)
    }
}
