//! The one shape of everything that moves packets.

use units::{Bytes, Time};

/// Something with a size on the wire.
pub trait Packet {
    /// Size of the whole IP packet, headers included.
    fn size(&self) -> Bytes;
}

/// What became of a packet that was offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Admission {
    /// It is inside and will come out or be dropped later.
    Accepted,
    /// It is gone.
    Dropped(DropCause),
}

/// Why a packet was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropCause {
    /// The queue had no room.
    QueueFull,
    /// It was lost on the wire.
    WireLoss,
}

/// Takes packets in, holds them, and gives them out again as time passes.
///
/// `now` must never go back from one call to the next.
pub trait Element<P> {
    /// Hands over a packet that arrives at `now`.
    fn offer(&mut self, packet: P, now: Time) -> Admission;

    /// The next packet that has come out by `now`; call until `None`.
    fn poll(&mut self, now: Time) -> Option<P>;

    /// When [`poll`](Element::poll) is worth calling again; `None` while nothing is inside.
    fn next_wakeup(&self) -> Option<Time>;
}
