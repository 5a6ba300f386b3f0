//! Hosts in groups, the links between them, and when the next packet arrives somewhere.
//!
//! The streams' hosts are at the ends of a row of links, mostly one, each way. The hosts of cross
//! traffic stand around the main link, which makes it the middle of a dumbbell.

use std::collections::VecDeque;

use link::{Admission, Counters, DropCause, Element, Link, LoadSource};
use netpath::{LinkSpec, PathSpec};
use units::{Bytes, Rate, Span, Time, Way};

use crate::flow::STREAMS;
use crate::packet::{Flags, Packet};
use crate::scenario::Access;
use crate::seeds::{Purpose, derive};

/// Where something happens next: the links first, then the entries.
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
    /// Those of the way forward in their order, then those of the way back.
    links: Vec<Link<Packet>>,
    /// The load on each link.
    loads: Vec<Option<LoadSource>>,
    /// Whether there is any.
    is_loaded: bool,
    /// How many links each way has.
    hops: usize,
    /// The main link of each way.
    main: [usize; 2],
    /// The link forward with the lowest rate.
    narrowest: usize,
    /// Packets that went from one link to the next.
    passed_on: u64,
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
        let hops = path.hops();
        let mut links = Vec::new();
        let mut loads = Vec::new();
        for (way, size) in Way::BOTH.into_iter().zip(sizes) {
            for (at, spec) in path.links(way).into_iter().enumerate() {
                let is_main = at == path.main_link(way);
                // The main link keeps its seed, so that others around it do not change what it
                // loses.
                let number = if is_main { 0 } else { at as u64 + 1 };
                let seed = derive(seed, purpose(way), number);
                let load = spec.load.as_ref();
                loads.push(load.map(|load| LoadSource::new(load, seed)));
                links.push(match access {
                    Some(access) if is_main => Link::new(&behind(spec, access, size), seed),
                    _ => Link::new(spec, seed),
                });
            }
        }
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
        let forward = path.links(Way::Forward).into_iter().enumerate();
        let narrowest = forward.min_by_key(|(_, link)| link.rate);
        Network {
            wake: vec![Time::MAX; links.len() + entries.len()],
            links,
            is_loaded: loads.iter().any(Option::is_some),
            loads,
            hops,
            main: Way::BOTH.map(|way| way as usize * hops + path.main_link(way)),
            narrowest: narrowest.map_or(0, |(at, _)| at),
            passed_on: 0,
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
        let link = self.first_link(way, packet.group);
        let entry = &mut self.entries[index];
        if entry.is_open() {
            return self.offer(link, packet, now);
        }
        let begin = entry.free.max(now);
        entry.free = begin + entry.time_to_send(packet.size);
        let arrival = entry.free + entry.delay;
        if self.has_one_group {
            return self.offer(link, packet, arrival);
        }
        if entry.on_way.is_empty() {
            self.wake[self.links.len() + index] = arrival;
        }
        entry.on_way.push_back((arrival, packet));
    }

    /// The link that packets of a group enter: others' hosts stand around the main link.
    #[inline]
    fn first_link(&self, way: Way, group: u16) -> usize {
        match group {
            STREAMS => way as usize * self.hops,
            _ => self.main[way as usize],
        }
    }

    /// The link that follows the one with number `at` for a packet of `group`; `None` where it
    /// reaches its host.
    #[inline]
    fn next_link(&self, at: usize, group: u16) -> Option<usize> {
        // Without a division, which every packet would pay for.
        let is_last = at + 1 == self.hops || at + 1 == self.links.len();
        let leaves = group != STREAMS && self.main.contains(&at);
        (!is_last && !leaves).then_some(at + 1)
    }

    #[inline]
    fn offer(&mut self, at: usize, packet: Packet, arrival: Time) {
        self.load_up_to(at, arrival);
        let link = &mut self.links[at];
        let kept = self.lost.is_some().then_some(packet);
        let admission = link.offer(packet, arrival);
        self.plan(at);
        if let (Admission::Dropped(cause), Some(packet), Some(lost)) =
            (admission, kept, &mut self.lost)
        {
            insert(lost, (arrival, packet, cause));
        }
    }

    /// Plans when a link is looked at next; load alone needs no looking.
    #[inline]
    fn plan(&mut self, at: usize) {
        let link = &self.links[at];
        let is_idle =
            self.is_loaded && self.loads[at].is_some() && link.counters().in_flight.is_zero();
        let wakeup = link.next_wakeup().filter(|_| !is_idle);
        self.wake[at] = wakeup.unwrap_or(Time::MAX);
    }

    /// Offers the load that has come to a link by `now`, at its own times.
    #[inline]
    fn load_up_to(&mut self, at: usize, now: Time) {
        if self.is_loaded {
            self.offer_load(at, now);
        }
    }

    fn offer_load(&mut self, at: usize, now: Time) {
        let Some(source) = &mut self.loads[at] else {
            return;
        };
        while source.next_time() <= now {
            if let Some((time, size)) = source.next() {
                let load = Packet {
                    flags: Flags::LOAD,
                    size: size.get() as u32,
                    ..Packet::empty(time)
                };
                let _ = self.links[at].offer(load, time);
            }
        }
    }

    /// Does all that happens in a link by `now`.
    fn settle(&mut self, at: usize, now: Time) -> &mut Link<Packet> {
        self.load_up_to(at, now);
        let link = &mut self.links[at];
        link.settle(now);
        link
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
        if index < self.links.len() {
            self.load_up_to(index, now);
            let packet = self.links[index].poll(now);
            self.plan(index);
            let packet = packet?;
            let Some(next) = self.next_link(index, packet.group) else {
                return Some(packet);
            };
            self.passed_on += 1;
            self.offer(next, packet, now);
            return None;
        }
        let entry = &mut self.entries[index - self.links.len()];
        let way = entry.way;
        let (_, packet) = entry.on_way.pop_front()?;
        self.wake[index] = entry.on_way.front().map_or(Time::MAX, |(at, _)| *at);
        self.offer(self.first_link(way, packet.group), packet, now);
        None
    }

    /// Does all that happens in the links by `now`, for who reads their books.
    pub(crate) fn settle_all(&mut self, now: Time) {
        for at in 0..self.links.len() {
            self.settle(at, now);
        }
    }

    /// Packets that wait in the narrowest queue forward.
    pub(crate) fn queue_packets(&mut self, now: Time) -> u64 {
        self.settle(self.narrowest, now).queue_packets() as u64
    }

    /// Packets that waited in the narrowest queue forward, summed over nanoseconds.
    pub(crate) fn queue_packet_nanoseconds(&mut self, now: Time) -> u128 {
        self.settle(self.narrowest, now)
            .queue_packet_nanoseconds(now)
    }

    /// From now on keeps what the links refuse or lose.
    pub(crate) fn report_losses(&mut self) {
        self.links.iter_mut().for_each(Link::report_losses);
        self.lost = Some(VecDeque::new());
    }

    /// The first of the packets that the links had refused or lost by `now`, and when.
    pub(crate) fn take_lost(&mut self, now: Time) -> Option<Lost> {
        self.lost.as_ref()?;
        for at in 0..self.links.len() {
            self.settle(at, now);
            let lost = self.lost.as_mut()?;
            while let Some(packet) = self.links[at].take_lost() {
                insert(lost, packet);
            }
        }
        let lost = self.lost.as_mut()?;
        match lost.front()? {
            (at, ..) if *at <= now => lost.pop_front(),
            _ => None,
        }
    }

    /// The books of all links, without load: those of the way forward in their order, then those
    /// of the way back.
    pub(crate) fn counters(&self) -> impl Iterator<Item = &Counters> {
        self.links.iter().map(Link::counters)
    }

    /// The books of the main link forward.
    pub(crate) fn main(&self) -> &Counters {
        self.links[self.main[Way::Forward as usize]].counters()
    }

    /// Packets that the links forward have marked.
    pub(crate) fn marks(&self) -> u64 {
        self.counters()
            .take(self.hops)
            .map(|link| link.marked.packets)
            .sum()
    }

    /// What the narrowest link forward has put on its wire, load included.
    pub(crate) fn sent(&self) -> Bytes {
        let link = &self.links[self.narrowest];
        link.counters().sent.bytes + link.load_counters().sent.bytes
    }

    /// The most that ever waited in the narrowest queue forward.
    pub(crate) fn queue_peak(&self) -> Bytes {
        self.links[self.narrowest].counters().queue_peak
    }

    /// Packets that the links were offered by hosts.
    pub(crate) fn offered(&self) -> u64 {
        let offered = self.counters().map(|link| link.offered.packets);
        offered.sum::<u64>() - self.passed_on
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

fn purpose(way: Way) -> Purpose {
    match way {
        Way::Forward => Purpose::Forward,
        Way::Reverse => Purpose::Backward,
    }
}

/// The main link as it looks when access links stand at both its ends: they take their share of
/// the path's delay, and the one behind it, being faster, only delays.
fn behind(spec: &LinkSpec, access: Access, size: Bytes) -> LinkSpec {
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
