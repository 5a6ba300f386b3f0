//! A link: queue, sender, wire.

use std::collections::VecDeque;

use path::{LinkSpec, QueueSpec};
use units::{Bytes, Rate, Span, Time};

use crate::wire_loss::WireLoss;
use crate::{Admission, Counters, DropCause, DropTail, Element, Packet};

/// One direction of a path.
///
/// Sending times follow from the packets before, not from when the link was polled: a driver that
/// wakes late hands packets over late, but the rate stays exact.
///
/// ```
/// use link::{Element, Link, Packet};
/// use units::{Bytes, Time};
///
/// struct Ip(u64);
/// impl Packet for Ip {
///     fn size(&self) -> Bytes { Bytes::new(self.0) }
/// }
///
/// let path = path::PathSpec::load("slac-cern").unwrap();
/// let mut link = Link::new(&path.forward, 1);
/// let _ = link.offer(Ip(1500), Time::ZERO);
/// // 12,000 bits at 45 Mbit/s take 0.267 ms; the far end sees them 82.5 ms later.
/// assert_eq!(link.next_wakeup(), Some(Time::from_nanos(82_766_667)));
/// ```
#[derive(Debug)]
pub struct Link<P> {
    rate: Rate,
    delay: Span,
    queue: DropTail<P>,
    /// When the sender has finished the packet it took last.
    sender_free: Time,
    loss: WireLoss,
    /// Packets on the way and when they arrive; arrivals never overtake.
    wire: VecDeque<(Time, P)>,
    counters: Counters,
}

impl<P: Packet> Link<P> {
    /// An idle link; `seed` decides which packets the wire loses.
    pub fn new(spec: &LinkSpec, seed: u64) -> Self {
        let QueueSpec::DropTail(limit) = spec.queue;
        Link {
            rate: spec.rate,
            delay: spec.delay,
            queue: DropTail::new(limit),
            sender_free: Time::ZERO,
            loss: WireLoss::new(spec.loss, seed),
            wire: VecDeque::new(),
            counters: Counters::default(),
        }
    }

    /// The books so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Sends what the sender could begin by `now`.
    fn send_until(&mut self, now: Time) {
        while self.sender_free <= now {
            let Some(packet) = self.queue.poll(self.sender_free) else {
                break;
            };
            self.sender_free += self.rate.time_to_send(packet.size());
            match self.loss.strikes() {
                true => self.drop_inside(packet.size()),
                false => self.wire.push_back((self.sender_free + self.delay, packet)),
            }
        }
    }

    fn drop_inside(&mut self, size: Bytes) {
        self.counters.in_flight.remove(size);
        self.counters.dropped_wire_loss.add(size);
    }

    fn admit(&mut self, packet: P, now: Time) -> Admission {
        let size = packet.size();
        let admission = self.queue.offer(packet, now);
        match admission {
            Admission::Accepted => self.counters.in_flight.add(size),
            Admission::Dropped(DropCause::QueueFull) => {
                self.counters.dropped_queue_full.add(size);
            }
            Admission::Dropped(DropCause::WireLoss) => self.counters.dropped_wire_loss.add(size),
        }
        admission
    }
}

impl<P: Packet> Element<P> for Link<P> {
    fn offer(&mut self, packet: P, now: Time) -> Admission {
        self.counters.offered.add(packet.size());
        self.send_until(now);
        let admission = if self.sender_free <= now {
            // Idle: the packet goes straight to the sender.
            self.sender_free = now;
            let admission = self.admit(packet, now);
            self.send_until(now);
            admission
        } else {
            let admission = self.admit(packet, now);
            self.counters.queue_peak = self.counters.queue_peak.max(self.queue.bytes());
            admission
        };
        debug_assert!(self.counters.are_conserved(), "{:?}", self.counters);
        admission
    }

    fn poll(&mut self, now: Time) -> Option<P> {
        self.send_until(now);
        let (arrival, _) = self.wire.front()?;
        if *arrival > now {
            return None;
        }
        let (_, packet) = self.wire.pop_front()?;
        self.counters.in_flight.remove(packet.size());
        self.counters.delivered.add(packet.size());
        debug_assert!(self.counters.are_conserved(), "{:?}", self.counters);
        Some(packet)
    }

    fn next_wakeup(&self) -> Option<Time> {
        // What waits arrives after what is on the way, so it needs no waking of its own, unless
        // everything before it was lost.
        let arrival = self.wire.front().map(|(arrival, _)| *arrival);
        arrival.or_else(|| self.queue.next_wakeup().map(|_| self.sender_free))
    }
}

#[cfg(test)]
mod tests;
