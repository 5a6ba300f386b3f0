//! What went in and what became of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

use crate::DropCause;

/// A number of packets and their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Count {
    /// How many.
    pub packets: u64,
    /// How large together.
    pub bytes: Bytes,
}

impl Count {
    /// Whether nothing was counted.
    pub fn is_zero(&self) -> bool {
        self.packets == 0
    }

    /// Counts one more packet.
    #[inline]
    pub fn add(&mut self, size: Bytes) {
        self.packets += 1;
        self.bytes += size;
    }

    /// Counts one packet less.
    #[inline]
    pub(crate) fn remove(&mut self, size: Bytes) {
        self.packets -= 1;
        self.bytes = self.bytes - size;
    }
}

/// The accounts of one link; offered is always delivered + dropped by cause + in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Handed to the link.
    pub offered: Count,
    /// Came out at the far end.
    pub delivered: Count,
    /// Dropped because the queue was full.
    pub dropped_queue_full: Count,
    /// Dropped by RED before the queue was full.
    pub dropped_early: Count,
    /// Dropped by CoDel because they had waited too long.
    pub dropped_sojourn: Count,
    /// Dropped by a policer in front of the queue.
    pub dropped_policed: Count,
    /// Lost on the wire.
    pub dropped_wire_loss: Count,
    /// Inside: waiting, being sent, or on the way.
    pub in_flight: Count,
    /// Put on the wire, also those that the wire lost; the last may still be being sent. With the
    /// link's rate this gives its utilisation.
    pub sent: Count,
    /// Marked by the queue instead of dropped.
    pub marked: Count,
    /// The most that ever waited in the queue.
    pub queue_peak: Bytes,
}

impl Counters {
    /// The count of what was dropped for this cause.
    pub fn dropped(&self, cause: DropCause) -> Count {
        match cause {
            DropCause::QueueFull => self.dropped_queue_full,
            DropCause::Early => self.dropped_early,
            DropCause::Sojourn => self.dropped_sojourn,
            DropCause::Policed => self.dropped_policed,
            DropCause::WireLoss => self.dropped_wire_loss,
        }
    }

    pub(crate) fn dropped_mut(&mut self, cause: DropCause) -> &mut Count {
        match cause {
            DropCause::QueueFull => &mut self.dropped_queue_full,
            DropCause::Early => &mut self.dropped_early,
            DropCause::Sojourn => &mut self.dropped_sojourn,
            DropCause::Policed => &mut self.dropped_policed,
            DropCause::WireLoss => &mut self.dropped_wire_loss,
        }
    }

    /// Whether every packet and byte is accounted for.
    pub fn are_conserved(&self) -> bool {
        let parts = [
            self.delivered,
            self.dropped_queue_full,
            self.dropped_early,
            self.dropped_sojourn,
            self.dropped_policed,
            self.dropped_wire_loss,
            self.in_flight,
        ];
        let mut all = Count::default();
        for part in parts {
            all.packets += part.packets;
            all.bytes += part.bytes;
        }
        all == self.offered
    }
}
