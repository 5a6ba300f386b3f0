//! A link: policer, queue, sender, wire.

use netpath::LinkSpec;
use units::{Bytes, Time};

use crate::accounts::{Accounts, Entry};
use crate::faults::{Corruption, Cuts};
use crate::occupancy::Occupancy;
use crate::policer::Policer;
use crate::queue::Queue;
use crate::send_times::Sender;
use crate::wire::Wire;
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
    policer: Option<Policer>,
    sender: Sender,
    queue: Queue<P>,
    /// When the sender has finished the packet it took last.
    sender_free: Time,
    loss: WireLoss,
    cuts: Cuts,
    corruption: Corruption,
    wire: Wire<P>,
    occupancy: Occupancy,
    accounts: Accounts<P>,
}

impl<P: Packet> Link<P> {
    /// An idle link; `seed` decides which packets the wire loses, corrupts or delays and RED drops,
    /// and how a rate varies, each by a sequence of its own.
    pub fn new(spec: &LinkSpec, seed: u64) -> Self {
        Link {
            policer: spec.policer.map(Policer::new),
            sender: Sender::new(spec, seed),
            queue: Queue::new(spec, seed),
            sender_free: Time::ZERO,
            loss: WireLoss::new(spec.loss, seed),
            cuts: Cuts::new(spec),
            corruption: Corruption::new(spec, seed),
            wire: Wire::new(spec.delay, spec.reorder, seed),
            occupancy: Occupancy::default(),
            accounts: Accounts::new(),
        }
    }

    /// The accounts so far, without others' [load](Packet::is_load).
    pub fn counters(&self) -> &Counters {
        &self.accounts.counters
    }

    /// The accounts of others' load. It counts as delivered when it has been put on the wire.
    pub fn load_counters(&self) -> &Counters {
        &self.accounts.load
    }

    /// From now on keeps packets that are lost inside, on the wire or by CoDel, for
    /// [`take_lost`](Link::take_lost). Who switches this on has to take them, or they pile up.
    /// Packets refused on arrival are not among them: [`Admission`] has told of those.
    pub fn report_losses(&mut self) {
        self.accounts.keep_lost();
    }

    /// The next packet that was lost inside, in the order of loss, and when: CoDel drops a packet
    /// when it would have been sent, the wire loses it when its last bit has left, which may be
    /// after the time for which this link was [settled](Link::settle). Always `None` unless
    /// [`report_losses`](Link::report_losses) was called.
    pub fn take_lost(&mut self) -> Option<(Time, P, DropCause)> {
        self.accounts.take_lost()
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

    /// The packet that comes out after `ahead` others, when it is on the wire already and nothing
    /// overtakes it.
    #[inline]
    pub fn upcoming(&self, ahead: usize) -> Option<&P> {
        self.wire.upcoming(ahead)
    }

    /// Does all sending that begins by `now`. [`offer`](Element::offer) and [`poll`](Element::poll)
    /// do this by themselves; it is for who reads the queue or the counters in between.
    #[inline]
    pub fn settle(&mut self, now: Time) {
        while self.sender_free <= now {
            let Some(packet) = self.queue.poll(self.sender_free, &mut self.accounts) else {
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
        let (arrival, packet) = self.wire.take(now)?;
        self.accounts.deliver(Entry::of(&packet));
        debug_assert!(self.accounts.are_conserved(), "{:?}", self.counters());
        Some((arrival, packet))
    }

    #[inline]
    fn send(&mut self, mut packet: P) {
        let entry = Entry::of(&packet);
        self.sender_free = self.sender.finish(self.sender_free, entry.size);
        self.accounts.send(entry);
        let sent = self.sender_free;
        // A cut link draws as well, so that it loses the same packets afterwards.
        let is_lost = self.loss.strikes();
        match is_lost || self.cuts.strike(sent) {
            true => self.accounts.lose(packet, sent, DropCause::WireLoss),
            false if packet.is_load() => self.accounts.deliver(entry),
            false => {
                self.corruption.pass(&mut packet);
                self.wire.put(packet, sent);
            }
        }
    }

    /// Whether the policer lets a packet pass that arrives at `now`.
    #[inline]
    fn is_within_rate(&mut self, size: Bytes, now: Time) -> bool {
        let policer = self.policer.as_mut();
        policer.is_none_or(|policer| policer.passes(size, now))
    }

    #[inline]
    fn admit(&mut self, packet: P, now: Time) -> Admission {
        let entry = Entry::of(&packet);
        let admission = self.queue.offer(packet, now, &mut self.accounts);
        match admission {
            Admission::Accepted => {
                self.occupancy.change(self.queue.packets(), now);
                self.accounts.admit(entry);
            }
            Admission::Dropped(cause) => self.accounts.refuse(entry, cause),
        }
        admission
    }
}

impl<P: Packet> Element<P> for Link<P> {
    #[inline]
    fn offer(&mut self, packet: P, now: Time) -> Admission {
        self.settle(now);
        if !self.is_within_rate(packet.size(), now) {
            self.accounts.refuse(Entry::of(&packet), DropCause::Policed);
            return Admission::Dropped(DropCause::Policed);
        }
        let admission = if self.sender_free <= now {
            // Idle: the packet goes straight to the sender.
            self.sender_free = now;
            if self.queue.passes_by(packet.size()) {
                self.accounts.admit(Entry::of(&packet));
                self.send(packet);
                return Admission::Accepted;
            }
            let admission = self.admit(packet, now);
            self.settle(now);
            admission
        } else {
            let admission = self.admit(packet, now);
            let peak = &mut self.accounts.counters.queue_peak;
            *peak = self.queue.bytes().max(*peak);
            admission
        };
        debug_assert!(self.accounts.are_conserved(), "{:?}", self.counters());
        admission
    }

    #[inline]
    fn poll(&mut self, now: Time) -> Option<P> {
        self.poll_timed(now).map(|(_, packet)| packet)
    }

    #[inline]
    fn next_wakeup(&self) -> Option<Time> {
        if let Some(arrival) = self.wire.sure_arrival() {
            return Some(arrival);
        }
        let waits = self.queue.packets() > 0;
        self.wire.next_arrival(waits.then_some(self.sender_free))
    }
}

#[cfg(test)]
mod tests;
