//! The dumbbell: hosts in groups, the two links between them, and when the next packet arrives
//! somewhere.

use std::collections::VecDeque;

use link::{Admission, Counters, DropCause, Element, Link};
use netpath::{LinkSpec, PathSpec};
use units::{Bytes, Rate, Span, Time, Way};

use crate::packet::Packet;
use crate::scenario::Access;
use crate::seeds::{Purpose, derive};

/// Where something happens next: the two links first, then the entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place(usize);

/// What lies between a group of hosts and a link.
#[derive(Debug)]
struct Entry {
    way: Way,
    rate: Option<Rate>,
    delay: Span,
    /// When the host has sent the packet before.
    free: Time,
    /// The size of the packet before, and how long it took.
    latest: (u32, Span),
    on_way: VecDeque<(Time, Packet)>,
}

/// Links, and the ways into them.
#[derive(Debug)]
pub(crate) struct Network {
    links: [Link<Packet>; 2],
    /// Two for each group of hosts, forward and backward.
    entries: Vec<Entry>,
    /// When something happens at each place.
    wake: Vec<Time>,
    /// Whether each link is fed through one entry. Then it takes packets as soon as they are sent,
    /// with the time at which they will arrive: what happens in a link depends on the order and the
    /// times of arrival alone, and half of a run's events are saved. The queue then holds packets
    /// that have not arrived yet, so this is not done where it is read on the way.
    has_one_group: bool,
    /// Packets that the links refused or lost, in the order of time; `None` unless asked for.
    lost: Option<VecDeque<Lost>>,
}

const LINKS: usize = 2;

/// A packet that a link refused or lost, and when.
type Lost = (Time, Packet, DropCause);

impl Network {
    /// `sizes` are those of most packets on either way; they decide how long the access links at
    /// the far ends take. `extra_delays` has one for each group of hosts, on each way.
    pub(crate) fn new(
        path: &PathSpec,
        access: Option<Access>,
        sizes: [Bytes; 2],
        extra_delays: &[Span],
        is_watched: bool,
        seed: u64,
    ) -> Self {
        let link = |spec: &LinkSpec, size, seed| Link::new(&behind(spec, access, size), seed);
        let entry = |extra: Span, way| Entry {
            way,
            rate: access.map(|access| access.rate),
            delay: access.map_or(Span::ZERO, |access| access.delay) + extra,
            free: Time::ZERO,
            latest: (0, Span::ZERO),
            on_way: VecDeque::new(),
        };
        let pairs = extra_delays
            .iter()
            .map(|extra| Way::BOTH.map(|way| entry(*extra, way)));
        let entries: Vec<Entry> = pairs.flatten().collect();
        Network {
            links: [
                link(&path.forward, sizes[0], derive(seed, Purpose::Forward, 0)),
                link(&path.reverse, sizes[1], derive(seed, Purpose::Backward, 0)),
            ],
            wake: vec![Time::MAX; LINKS + entries.len()],
            has_one_group: extra_delays.len() == 1 && !is_watched,
            entries,
            lost: None,
        }
    }

    /// Where something happens first, and when; at one time, the first place counts.
    #[inline]
    pub(crate) fn next(&self) -> (Time, Place) {
        let mut first = (Time::MAX, 0);
        for (place, at) in self.wake.iter().enumerate() {
            if *at < first.0 {
                first = (*at, place);
            }
        }
        (first.0, Place(first.1))
    }

    /// A host sends.
    #[inline]
    pub(crate) fn send(&mut self, packet: Packet, now: Time) {
        let way = if packet.is_forward() {
            Way::Forward
        } else {
            Way::Reverse
        };
        let index = usize::from(packet.group) * 2 + way as usize;
        let entry = &mut self.entries[index];
        if entry.is_open() {
            return self.offer(way, packet, now);
        }
        let begin = entry.free.max(now);
        entry.free = begin + entry.time_to_send(packet.size);
        let arrival = entry.free + entry.delay;
        if self.has_one_group {
            return self.offer(way, packet, arrival);
        }
        if entry.on_way.is_empty() {
            self.wake[LINKS + index] = arrival;
        }
        entry.on_way.push_back((arrival, packet));
    }

    #[inline]
    fn offer(&mut self, way: Way, packet: Packet, arrival: Time) {
        let link = &mut self.links[way as usize];
        let kept = self.lost.is_some().then_some(packet);
        let admission = link.offer(packet, arrival);
        self.wake[way as usize] = link.next_wakeup().unwrap_or(Time::MAX);
        if let (Admission::Dropped(cause), Some(packet), Some(lost)) =
            (admission, kept, &mut self.lost)
        {
            insert(lost, (arrival, packet, cause));
        }
    }

    /// The packet that comes out of the link at `place` after `ahead` others.
    #[inline]
    pub(crate) fn upcoming(&self, place: Place, ahead: usize) -> Option<&Packet> {
        self.links.get(place.0)?.upcoming(ahead)
    }

    /// Moves on the packet that is due at `place`, into a link or out of it: then it reaches its
    /// host.
    #[inline]
    pub(crate) fn advance(&mut self, place: Place, now: Time) -> Option<Packet> {
        let Place(index) = place;
        if index < LINKS {
            let link = &mut self.links[index];
            let packet = link.poll(now);
            self.wake[index] = link.next_wakeup().unwrap_or(Time::MAX);
            return packet;
        }
        let entry = &mut self.entries[index - LINKS];
        let way = entry.way;
        let (_, packet) = entry.on_way.pop_front()?;
        self.wake[index] = entry.on_way.front().map_or(Time::MAX, |(at, _)| *at);
        self.offer(way, packet, now);
        None
    }

    /// Packets that wait in the forward queue.
    pub(crate) fn queue_packets(&mut self, now: Time) -> u64 {
        let link = &mut self.links[Way::Forward as usize];
        link.settle(now);
        link.queue_packets() as u64
    }

    /// Packets that waited in the forward queue, summed over nanoseconds.
    pub(crate) fn queue_packet_nanoseconds(&mut self, now: Time) -> u128 {
        let link = &mut self.links[Way::Forward as usize];
        link.settle(now);
        link.queue_packet_nanoseconds(now)
    }

    /// From now on keeps what the links refuse or lose.
    pub(crate) fn report_losses(&mut self) {
        self.links.iter_mut().for_each(Link::report_losses);
        self.lost = Some(VecDeque::new());
    }

    /// The first of the packets that the links had refused or lost by `now`, and when.
    pub(crate) fn take_lost(&mut self, now: Time) -> Option<Lost> {
        let lost = self.lost.as_mut()?;
        for link in &mut self.links {
            link.settle(now);
            while let Some(packet) = link.take_lost() {
                insert(lost, packet);
            }
        }
        match lost.front()? {
            (at, ..) if *at <= now => lost.pop_front(),
            _ => None,
        }
    }

    /// The books of the link on one way.
    pub(crate) fn counters(&self, way: Way) -> &Counters {
        self.links[way as usize].counters()
    }

    /// Packets between hosts and links.
    pub(crate) fn entering(&self) -> u64 {
        let waiting = self.entries.iter().map(|entry| entry.on_way.len());
        waiting.sum::<usize>() as u64
    }
}

impl Entry {
    /// Whether it neither delays nor spaces packets.
    #[inline]
    fn is_open(&self) -> bool {
        self.rate.is_none() && self.delay == Span::ZERO
    }

    #[inline]
    fn time_to_send(&mut self, size: u32) -> Span {
        if self.latest.0 != size {
            let span = |rate: Rate| rate.time_to_send(Bytes::new(u64::from(size)));
            self.latest = (size, self.rate.map_or(Span::ZERO, span));
        }
        self.latest.1
    }
}

/// Puts a packet behind those that were lost before it or at the same time.
fn insert(lost: &mut VecDeque<Lost>, packet: Lost) {
    let place = lost.partition_point(|(at, ..)| *at <= packet.0);
    lost.insert(place, packet);
}

/// The link as it looks when access links stand at both its ends: they take their share of the
/// path's delay, and the one behind it, being faster, only delays.
fn behind(spec: &LinkSpec, access: Option<Access>, size: Bytes) -> LinkSpec {
    let Some(access) = access else {
        return spec.clone();
    };
    let own = Span::from_nanos(
        spec.delay
            .as_nanos()
            .saturating_sub(access.delay.as_nanos() * 2),
    );
    LinkSpec {
        delay: own + access.delay + access.rate.time_to_send(size),
        ..spec.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;

    /// Links of 12 Mbit/s, 1 ms for 1500 B; the wires lose all but a few, and one packet may wait.
    fn lossy(access: Option<Access>) -> Network {
        let link = "rate = \"12Mbit/s\"\ndelay = \"10ms\"\n\
                    queue = { kind = \"drop-tail\", limit = \"1packets\" }\n\
                    loss = { kind = \"random\", rate = 0.999 }\n";
        let text = format!("[forward]\n{link}[reverse]\n{link}");
        let path = PathSpec::from_toml("lossy", &text).unwrap();
        let sizes = [Bytes::new(1500), Bytes::new(1500)];
        let mut network = Network::new(&path, access, sizes, &[Span::ZERO], false, 1);
        network.report_losses();
        network
    }

    fn packet(number: u32, kind: Kind) -> Packet {
        Packet {
            kind,
            number,
            size: 1500,
            ..Packet::empty(Time::ZERO)
        }
    }

    fn micros(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// What was lost by `now`: microseconds, number and cause.
    fn lost(network: &mut Network, now: Time) -> Vec<(u64, u32, DropCause)> {
        let lost = std::iter::from_fn(|| network.take_lost(now));
        lost.map(|(at, packet, cause)| (at.as_nanos() / 1000, packet.number, cause))
            .collect()
    }

    #[test]
    fn losses_of_both_ways_come_in_the_order_of_time_when_they_are_due() {
        use DropCause::{QueueFull, WireLoss};
        let mut network = lossy(None);
        for number in 0..3 {
            network.send(packet(number, Kind::Data), Time::ZERO);
        }
        network.send(packet(3, Kind::Ack), micros(500));
        // One is being sent, one waits, the third finds no room.
        assert_eq!(lost(&mut network, micros(500)), [(0, 2, QueueFull)]);
        assert_eq!(lost(&mut network, micros(999)), []);
        assert_eq!(lost(&mut network, micros(1400)), [(1000, 0, WireLoss)]);
        // Each when its last bit has left, though the network was not polled in between.
        let later = [(1500, 3, WireLoss), (2000, 1, WireLoss)];
        assert_eq!(lost(&mut network, micros(9000)), later);
    }

    #[test]
    fn what_a_link_was_told_ahead_of_time_is_lost_when_it_arrives() {
        use DropCause::{QueueFull, WireLoss};
        // 0.1 ms for a packet, 1 ms on the way.
        let access = Access {
            rate: "120Mbit/s".parse().unwrap(),
            delay: Span::from_millis(1),
        };
        let mut network = lossy(Some(access));
        for number in 0..3 {
            network.send(packet(number, Kind::Data), Time::ZERO);
        }
        assert_eq!(lost(&mut network, micros(1299)), []);
        let all = [
            (1300, 2, QueueFull),
            (2100, 0, WireLoss),
            (3100, 1, WireLoss),
        ];
        assert_eq!(lost(&mut network, micros(9000)), all);
    }
}
