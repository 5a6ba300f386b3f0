//! What went in and what became of it.

use units::Bytes;

/// A number of packets and their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// How many.
    pub packets: u64,
    /// How large together.
    pub bytes: Bytes,
}

impl Count {
    /// Counts one more packet.
    pub fn add(&mut self, size: Bytes) {
        self.packets += 1;
        self.bytes += size;
    }

    /// Counts one packet less.
    pub(crate) fn remove(&mut self, size: Bytes) {
        self.packets -= 1;
        self.bytes = self.bytes - size;
    }
}

/// The books of one link; offered is always delivered + dropped by cause + in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Handed to the link.
    pub offered: Count,
    /// Came out at the far end.
    pub delivered: Count,
    /// Dropped because the queue was full.
    pub dropped_queue_full: Count,
    /// Lost on the wire.
    pub dropped_wire_loss: Count,
    /// Inside: waiting, being sent, or on the way.
    pub in_flight: Count,
    /// The most that ever waited in the queue.
    pub queue_peak: Bytes,
}

impl Counters {
    /// Whether every packet and byte is accounted for.
    pub fn are_conserved(&self) -> bool {
        let parts = [
            self.delivered,
            self.dropped_queue_full,
            self.dropped_wire_loss,
            self.in_flight,
        ];
        let packets: u64 = parts.iter().map(|part| part.packets).sum();
        let bytes: Bytes = parts.iter().map(|part| part.bytes).sum();
        (packets, bytes) == (self.offered.packets, self.offered.bytes)
    }
}
