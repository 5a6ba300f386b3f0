//! Drop-tail.

use std::collections::VecDeque;

use netpath::QueueLimit;
use units::Bytes;

use crate::{Admission, DropCause, Packet};

/// First in, first out; what does not fit is dropped on arrival.
#[derive(Debug)]
pub(crate) struct DropTail<P> {
    limit: QueueLimit,
    waiting: VecDeque<P>,
    bytes: Bytes,
}

impl<P: Packet> DropTail<P> {
    /// An empty queue that holds up to `limit`.
    pub(crate) fn new(limit: QueueLimit) -> Self {
        DropTail {
            limit,
            waiting: VecDeque::new(),
            bytes: Bytes::ZERO,
        }
    }

    /// How much waits.
    #[inline]
    pub(crate) fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// How many packets wait.
    #[inline]
    pub(crate) fn packets(&self) -> usize {
        self.waiting.len()
    }

    /// The packet that leaves next.
    #[inline]
    pub(crate) fn head(&self) -> Option<&P> {
        self.waiting.front()
    }

    #[inline]
    pub(crate) fn has_room_for(&self, size: Bytes) -> bool {
        match self.limit {
            QueueLimit::Bytes(limit) => self.bytes + size <= limit,
            QueueLimit::Packets(limit) => self.waiting.len() < limit as usize,
        }
    }

    #[inline]
    pub(crate) fn offer(&mut self, packet: P) -> Admission {
        let size = packet.size();
        if !self.has_room_for(size) {
            return Admission::Dropped(DropCause::QueueFull);
        }
        self.bytes += size;
        self.waiting.push_back(packet);
        Admission::Accepted
    }

    #[inline]
    pub(crate) fn poll(&mut self) -> Option<P> {
        let packet = self.waiting.pop_front()?;
        self.bytes = self.bytes - packet.size();
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Sized(u64);

    impl Packet for Sized {
        fn size(&self) -> Bytes {
            Bytes::new(self.0)
        }
    }

    fn filled(limit: QueueLimit, sizes: &[u64]) -> (DropTail<Sized>, Vec<Admission>) {
        let mut queue = DropTail::new(limit);
        let offers = sizes.iter().map(|size| queue.offer(Sized(*size)));
        let admissions = offers.collect();
        (queue, admissions)
    }

    #[test]
    fn a_byte_limit_is_filled_to_the_brim_and_not_beyond() {
        let full = Admission::Dropped(DropCause::QueueFull);
        let (queue, admissions) = filled(QueueLimit::Bytes(Bytes::new(3000)), &[1500, 1500, 40]);
        assert_eq!(admissions, [Admission::Accepted, Admission::Accepted, full]);
        assert_eq!(queue.bytes(), Bytes::new(3000));
    }

    #[test]
    fn a_small_packet_passes_where_a_large_one_does_not() {
        let full = Admission::Dropped(DropCause::QueueFull);
        let (_, admissions) = filled(QueueLimit::Bytes(Bytes::new(1600)), &[1500, 1500, 40]);
        assert_eq!(admissions, [Admission::Accepted, full, Admission::Accepted]);
    }

    #[test]
    fn a_packet_limit_does_not_look_at_sizes() {
        let full = Admission::Dropped(DropCause::QueueFull);
        let (queue, admissions) = filled(QueueLimit::Packets(2), &[9000, 40, 40]);
        assert_eq!(admissions, [Admission::Accepted, Admission::Accepted, full]);
        assert_eq!(queue.packets(), 2);
    }

    #[test]
    fn packets_leave_in_the_order_of_arrival() {
        let (mut queue, _) = filled(QueueLimit::Packets(3), &[1, 2, 3]);
        let sizes = std::iter::from_fn(|| queue.poll()).map(|packet| packet.0);
        assert_eq!(sizes.collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(queue.bytes(), Bytes::ZERO);
        assert!(queue.head().is_none());
    }
}
