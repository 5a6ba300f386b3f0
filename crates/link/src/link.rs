//! A link: queue, sender, wire.

use std::collections::VecDeque;

use netpath::LinkSpec;
use units::{Bytes, Span, Time};

use crate::books::{Books, Entry};
use crate::faults::{Corruption, Cuts};
use crate::occupancy::Occupancy;
use crate::queue::Queue;
use crate::send_times::SendTimes;
use crate::wire_loss::WireLoss;
use crate::{Admission, Counters, DropCause, Element, Packet};

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
/// let path = netpath::PathSpec::load("slac-cern").unwrap();
/// let mut link = Link::new(&path.forward, 1);
/// let _ = link.offer(Ip(1500), Time::ZERO);
/// // 12,000 bits at 45 Mbit/s take 0.267 ms; the far end sees them 82.5 ms later.
/// assert_eq!(link.next_wakeup(), Some(Time::from_nanos(82_766_667)));
/// ```
#[derive(Debug)]
pub struct Link<P> {
    send_times: SendTimes,
    delay: Span,
    queue: Queue<P>,
    /// When the sender has finished the packet it took last.
    sender_free: Time,
    loss: WireLoss,
    cuts: Cuts,
    corruption: Corruption,
    /// Packets on the way and when they arrive; arrivals never overtake.
    wire: VecDeque<(Time, P)>,
    occupancy: Occupancy,
    books: Books<P>,
}

impl<P: Packet> Link<P> {
    /// An idle link; `seed` decides which packets the wire loses or corrupts and RED drops, each by
    /// a sequence of its own.
    pub fn new(spec: &LinkSpec, seed: u64) -> Self {
        Link {
            send_times: SendTimes::new(spec.rate),
            delay: spec.delay,
            queue: Queue::new(spec, seed),
            sender_free: Time::ZERO,
            loss: WireLoss::new(spec.loss, seed),
            cuts: Cuts::new(spec),
            corruption: Corruption::new(spec, seed),
            wire: VecDeque::new(),
            occupancy: Occupancy::default(),
            books: Books::new(),
        }
    }

    /// The books so far, without others' [load](Packet::is_load).
    pub fn counters(&self) -> &Counters {
        &self.books.counters
    }

    /// The books of others' load. It counts as delivered when it has been put on the wire.
    pub fn load_counters(&self) -> &Counters {
        &self.books.load
    }

    /// From now on keeps packets that are lost inside, on the wire or by CoDel, for
    /// [`take_lost`](Link::take_lost). Who switches this on has to take them, or they pile up.
    /// Packets refused on arrival are not among them: [`Admission`] has told of those.
    pub fn report_losses(&mut self) {
        self.books.keep_lost();
    }

    /// The next packet that was lost inside, in the order of loss, and when: CoDel drops a packet
    /// when it would have been sent, the wire loses it when its last bit has left, which may be
    /// after the time for which this link was [settled](Link::settle). Always `None` unless
    /// [`report_losses`](Link::report_losses) was called.
    pub fn take_lost(&mut self) -> Option<(Time, P, DropCause)> {
        self.books.take_lost()
    }

    /// How many packets wait, the one that is being sent not counted; true of `now` right after
    /// [`settle`](Link::settle).
    pub fn queue_packets(&self) -> usize {
        self.queue.packets()
    }

    /// How many bytes wait; like [`queue_packets`](Link::queue_packets).
    pub fn queue_bytes(&self) -> Bytes {
        self.queue.bytes()
    }

    /// How many packets waited, summed over time: the mean over a span is the difference between
    /// its ends, divided by its length. True of `now` right after [`settle`](Link::settle).
    pub fn queue_packet_nanoseconds(&self, now: Time) -> u128 {
        self.occupancy.until(now)
    }

    /// The packet that comes out after `ahead` others, when it is on the wire already.
    #[inline]
    pub fn upcoming(&self, ahead: usize) -> Option<&P> {
        self.wire.get(ahead).map(|(_, packet)| packet)
    }

    /// Does all sending that begins by `now`. [`offer`](Element::offer) and [`poll`](Element::poll)
    /// do this by themselves; it is for who reads the queue or the counters in between.
    #[inline]
    pub fn settle(&mut self, now: Time) {
        while self.sender_free <= now {
            let Some(packet) = self.queue.poll(self.sender_free, &mut self.books) else {
                break;
            };
            let packets = self.queue.packets();
            self.occupancy.change(packets, self.sender_free);
            self.send(packet);
        }
    }

    /// Like [`poll`](Element::poll), with the time at which the packet came out, which is `now` or
    /// before.
    #[inline]
    pub fn poll_timed(&mut self, now: Time) -> Option<(Time, P)> {
        self.settle(now);
        let (arrival, _) = self.wire.front()?;
        if *arrival > now {
            return None;
        }
        let (arrival, packet) = self.wire.pop_front()?;
        self.books.deliver(Entry::of(&packet));
        debug_assert!(self.books.are_conserved(), "{:?}", self.counters());
        Some((arrival, packet))
    }

    #[inline]
    fn send(&mut self, mut packet: P) {
        let entry = Entry::of(&packet);
        self.sender_free += self.send_times.of(entry.size);
        self.books.send(entry);
        let sent = self.sender_free;
        // A cut link draws as well, so that it loses the same packets afterwards.
        let is_lost = self.loss.strikes();
        match is_lost || self.cuts.strike(sent) {
            true => self.books.lose(packet, sent, DropCause::WireLoss),
            false if packet.is_load() => self.books.deliver(entry),
            false => {
                self.corruption.pass(&mut packet);
                self.wire.push_back((sent + self.delay, packet));
            }
        }
    }

    #[inline]
    fn admit(&mut self, packet: P, now: Time) -> Admission {
        let entry = Entry::of(&packet);
        let admission = self.queue.offer(packet, now, &mut self.books);
        match admission {
            Admission::Accepted => {
                self.occupancy.change(self.queue.packets(), now);
                self.books.admit(entry);
            }
            Admission::Dropped(cause) => self.books.refuse(entry, cause),
        }
        admission
    }
}

impl<P: Packet> Element<P> for Link<P> {
    #[inline]
    fn offer(&mut self, packet: P, now: Time) -> Admission {
        self.settle(now);
        let admission = if self.sender_free <= now {
            // Idle: the packet goes straight to the sender.
            self.sender_free = now;
            if self.queue.passes_by(packet.size()) {
                self.books.admit(Entry::of(&packet));
                self.send(packet);
                return Admission::Accepted;
            }
            let admission = self.admit(packet, now);
            self.settle(now);
            admission
        } else {
            let admission = self.admit(packet, now);
            let peak = &mut self.books.counters.queue_peak;
            *peak = self.queue.bytes().max(*peak);
            admission
        };
        debug_assert!(self.books.are_conserved(), "{:?}", self.counters());
        admission
    }

    #[inline]
    fn poll(&mut self, now: Time) -> Option<P> {
        self.poll_timed(now).map(|(_, packet)| packet)
    }

    #[inline]
    fn next_wakeup(&self) -> Option<Time> {
        // What waits arrives after what is on the way, so it needs no waking of its own, unless
        // everything before it was lost.
        let arrival = self.wire.front().map(|(arrival, _)| *arrival);
        arrival.or_else(|| (self.queue.packets() > 0).then_some(self.sender_free))
    }
}

#[cfg(test)]
mod tests;
