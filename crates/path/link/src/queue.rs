//! Queue disciplines: which packet waits, which leaves next, which is dropped.

mod classes;
mod codel;
mod drop_tail;
mod red;

use netpath::{LinkSpec, QueueSpec};
use units::{Bytes, Time};

use crate::accounts::Accounts;
use crate::{Admission, Packet};
use classes::Classes;
use codel::CoDel;
use drop_tail::DropTail;
use red::Red;

/// The queue of a link.
#[derive(Debug)]
pub(crate) enum Queue<P> {
    DropTail(DropTail<P>),
    Red(Red<P>),
    CoDel(CoDel<P>),
    Classes(Classes<P>),
}

impl<P: Packet> Queue<P> {
    pub(crate) fn new(spec: &LinkSpec, seed: u64) -> Self {
        match spec.queue {
            QueueSpec::DropTail(limit) => Queue::DropTail(DropTail::new(limit)),
            QueueSpec::Red(red) => Queue::Red(Red::new(red, spec.rate, seed)),
            QueueSpec::Wred(wred) => Queue::Red(Red::weighted(wred, spec.rate, seed)),
            QueueSpec::CoDel(codel) => Queue::CoDel(CoDel::new(codel)),
            QueueSpec::Strict { limit } => Queue::Classes(Classes::strict(limit)),
            QueueSpec::Weighted {
                limit,
                scavenger,
                priority,
            } => Queue::Classes(Classes::weighted(limit, scavenger, priority)),
        }
    }

    /// A packet arrives at `now`.
    #[inline]
    pub(crate) fn offer(&mut self, packet: P, now: Time, accounts: &mut Accounts<P>) -> Admission {
        match self {
            Queue::DropTail(queue) => queue.offer(packet),
            Queue::Red(queue) => queue.offer(packet, now, accounts),
            Queue::CoDel(queue) => queue.offer(packet, now),
            Queue::Classes(queue) => queue.offer(packet),
        }
    }

    /// Whether a packet that finds the link idle goes by without a trace.
    #[inline]
    pub(crate) fn passes_by(&self, size: Bytes) -> bool {
        match self {
            Queue::DropTail(queue) => queue.has_room_for(size),
            _ => false,
        }
    }

    /// The packet that is sent next, at `now`.
    #[inline]
    pub(crate) fn poll(&mut self, now: Time, accounts: &mut Accounts<P>) -> Option<P> {
        if let Queue::DropTail(queue) = self {
            return queue.poll();
        }
        match self {
            Queue::DropTail(queue) => queue.poll(),
            Queue::Red(queue) => queue.poll(now),
            Queue::CoDel(queue) => queue.poll(now, accounts),
            Queue::Classes(queue) => queue.poll(),
        }
    }

    /// How many packets wait.
    #[inline]
    pub(crate) fn packets(&self) -> usize {
        // The usual kind first, by a comparison: a jump by a table costs more, here and in `poll`.
        if let Queue::DropTail(queue) = self {
            return queue.packets();
        }
        match self {
            Queue::DropTail(queue) => queue.packets(),
            Queue::Red(queue) => queue.packets(),
            Queue::CoDel(queue) => queue.packets(),
            Queue::Classes(queue) => queue.packets(),
        }
    }

    /// How much waits.
    #[inline]
    pub(crate) fn bytes(&self) -> Bytes {
        match self {
            Queue::DropTail(queue) => queue.bytes(),
            Queue::Red(queue) => queue.bytes(),
            Queue::CoDel(queue) => queue.bytes(),
            Queue::Classes(queue) => queue.bytes(),
        }
    }
}
