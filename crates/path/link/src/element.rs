//! The one shape of everything that moves packets.

use netpath::Class;
use units::{Bytes, Time};

/// What a link has to know of a packet. Only the size matters to every link.
pub trait Packet {
    /// Size of the whole IP packet, headers included.
    fn size(&self) -> Bytes;

    /// Whether the ends understand a mark in place of a drop (ECN, RFC 3168).
    fn ecn_capable(&self) -> bool {
        false
    }

    /// Marks that the packet met congestion; called only on what is
    /// [`ecn_capable`](Packet::ecn_capable).
    fn mark_congestion(&mut self) {}

    /// Damages what it carries so that no checksum on the way notices; `draw` decides where. A
    /// packet without content stays as it is.
    fn corrupt(&mut self, _draw: u64) {}

    /// The class of service that it asks for.
    fn class(&self) -> Class {
        Class::BestEffort
    }

    /// Whether it belongs to others' load on this link: it has accounts of its own, and is gone
    /// when it has been sent.
    fn is_load(&self) -> bool {
        false
    }
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
    /// RED dropped it before the queue was full.
    Early,
    /// A policer dropped it: it was beyond the rate and the burst that pass.
    Policed,
    /// CoDel dropped it because it had waited too long.
    Sojourn,
    /// It was lost on the wire, by chance or because the link was cut.
    WireLoss,
}

/// Takes packets in, holds them, and gives them out again as time passes.
///
/// `now` must never go back from one offer to the next, nor from one poll to the next. Offers may
/// be ahead: an element may be told of packets that arrive later than what is polled for.
pub trait Element<P> {
    /// Hands over a packet that arrives at `now`.
    fn offer(&mut self, packet: P, now: Time) -> Admission;

    /// The next packet that has come out by `now`; call until `None`.
    fn poll(&mut self, now: Time) -> Option<P>;

    /// When [`poll`](Element::poll) is worth calling again; `None` while nothing is inside.
    fn next_wakeup(&self) -> Option<Time>;
}
