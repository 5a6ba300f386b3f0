//! The dumbbell: hosts in groups, the two links between them, and when the next packet arrives
//! somewhere.

use std::collections::VecDeque;

use link::{Admission, Counters, DropCause, Element, Link};
use path::{LinkSpec, PathSpec};
use units::{Bytes, Rate, Span, Time};

use crate::packet::Packet;
use crate::scenario::Access;
use crate::seeds::{Purpose, derive};

/// Which way a packet goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// From senders to receivers.
    Forward = 0,
    /// Back.
    Backward = 1,
}

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
    /// Whether each link is fed through one entry. Then it takes packets as soon as they are sent, with
    /// the time at which they will arrive: what happens in a link depends on the order and the times
    /// of arrival alone, and half of a run's events are saved. Whoever looks into the queue on the way
    /// would see what has not arrived yet, so this is not done then.
    has_one_group: bool,
    /// Packets that a link refused, when somebody wants to know.
    refused: Option<VecDeque<(Time, Packet, DropCause)>>,
}

const LINKS: usize = 2;

impl Network {
    /// `sizes` are those of most packets on either way; they decide how long the access links at the
    /// far ends take. `extra_delays` has one for each group of hosts, on each way.
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
        let ways = [Way::Forward, Way::Backward];
        let pairs = extra_delays
            .iter()
            .map(|extra| ways.map(|way| entry(*extra, way)));
        let entries: Vec<Entry> = pairs.flatten().collect();
        Network {
            links: [
                link(&path.forward, sizes[0], derive(seed, Purpose::Forward, 0)),
                link(&path.reverse, sizes[1], derive(seed, Purpose::Backward, 0)),
            ],
            wake: vec![Time::MAX; LINKS + entries.len()],
            has_one_group: extra_delays.len() == 1 && !is_watched,
            entries,
            refused: None,
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
            Way::Backward
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
        let kept = self.refused.is_some().then_some(packet);
        let admission = link.offer(packet, arrival);
        self.wake[way as usize] = link.next_wakeup().unwrap_or(Time::MAX);
        if let (Admission::Dropped(cause), Some(packet), Some(refused)) =
            (admission, kept, &mut self.refused)
        {
            refused.push_back((arrival, packet, cause));
        }
    }

    /// The packet that comes out of the link at `place` after `ahead` others.
    #[inline]
    pub(crate) fn upcoming(&self, place: Place, ahead: usize) -> Option<&Packet> {
        self.links.get(place.0)?.upcoming(ahead)
    }

    /// Moves on the packet that is due at `place`, into a link or out of it: then it reaches its host.
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
        self.refused = Some(VecDeque::new());
    }

    /// A packet that a link had refused or lost by `now`, and when.
    pub(crate) fn take_lost(&mut self, now: Time) -> Option<(Time, Packet, DropCause)> {
        let lost = self.links.iter_mut().find_map(Link::take_lost);
        if let Some((packet, cause)) = lost {
            return Some((now, packet, cause));
        }
        let refused = self.refused.as_mut()?;
        let times = refused.iter().map(|(at, ..)| *at).enumerate();
        let due = times.filter(|(_, at)| *at <= now);
        let (first, _) = due.min_by_key(|(_, at)| *at)?;
        refused.remove(first)
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
