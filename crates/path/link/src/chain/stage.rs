//! One link of a chain and the load on it.

use netpath::{Class, LinkSpec};
use units::{Bytes, Time};

use crate::cross::CrossDatagrams;
use crate::{Admission, Counters, Element, Link, LoadSource, Packet};

/// What a link of a chain carries.
#[derive(Debug)]
enum Carried<P> {
    Packet(P),
    /// A datagram of others.
    Others(Bytes, Class),
}

impl<P: Packet> Packet for Carried<P> {
    #[inline]
    fn size(&self) -> Bytes {
        match self {
            Carried::Packet(packet) => packet.size(),
            Carried::Others(size, _) => *size,
        }
    }

    #[inline]
    fn ecn_capable(&self) -> bool {
        match self {
            Carried::Packet(packet) => packet.ecn_capable(),
            Carried::Others(..) => false,
        }
    }

    fn mark_congestion(&mut self) {
        if let Carried::Packet(packet) = self {
            packet.mark_congestion();
        }
    }

    fn corrupt(&mut self, draw: u64) {
        if let Carried::Packet(packet) = self {
            packet.corrupt(draw);
        }
    }

    #[inline]
    fn class(&self) -> Class {
        match self {
            Carried::Packet(packet) => packet.class(),
            Carried::Others(_, class) => *class,
        }
    }

    #[inline]
    fn is_load(&self) -> bool {
        matches!(self, Carried::Others(..))
    }
}

/// A link, the load on it, and others' datagrams that are on and off.
#[derive(Debug)]
pub(super) struct Stage<P> {
    link: Link<Carried<P>>,
    load: Option<LoadSource>,
    cross: Option<Box<CrossDatagrams>>,
}

impl<P: Packet> Stage<P> {
    pub(super) fn new(spec: &LinkSpec, cross: Option<Box<CrossDatagrams>>, seed: u64) -> Self {
        let load = spec.load.as_ref();
        Stage {
            link: Link::new(spec, seed),
            load: load.map(|load| LoadSource::new(load, seed)),
            cross,
        }
    }

    /// Whether others send on this link by themselves.
    pub(super) fn has_others(&self) -> bool {
        self.load.is_some() || self.cross.is_some()
    }

    pub(super) fn offer(&mut self, packet: P, now: Time) -> Admission {
        self.make_up_to(now);
        self.link.offer(Carried::Packet(packet), now)
    }

    pub(super) fn poll(&mut self, now: Time) -> Option<(Time, P)> {
        self.make_up_to(now);
        loop {
            match self.link.poll_timed(now)? {
                (arrival, Carried::Packet(packet)) => return Some((arrival, packet)),
                // It was gone when it had been sent.
                (_, Carried::Others(..)) => {}
            }
        }
    }

    /// When a packet comes out; the load needs no waking.
    pub(super) fn next_wakeup(&self) -> Option<Time> {
        match self.inside() {
            0 => None,
            _ => self.link.next_wakeup(),
        }
    }

    /// Packets inside, without load.
    pub(super) fn inside(&self) -> u64 {
        self.link.counters().in_flight.packets
    }

    pub(super) fn counters(&self) -> (&Counters, &Counters) {
        (self.link.counters(), self.link.load_counters())
    }

    /// Offers what others have sent by `now`, at their own times: everything that is decided
    /// afterwards is decided as if it had been offered when it came.
    #[inline]
    fn make_up_to(&mut self, now: Time) {
        if self.has_others() {
            self.offer_others(now);
        }
    }

    fn offer_others(&mut self, now: Time) {
        loop {
            let load = self.load.as_ref().map_or(Time::MAX, LoadSource::next_time);
            let cross = self
                .cross
                .as_ref()
                .map_or(Time::MAX, |cross| cross.next_time());
            let time = load.min(cross);
            if time > now {
                return;
            }
            let sent = match load <= cross {
                true => {
                    let packet = self.load.as_mut().and_then(Iterator::next);
                    packet.map(|(_, size)| (size, Class::BestEffort))
                }
                false => self.cross.as_mut().and_then(|cross| cross.act()),
            };
            if let Some((size, class)) = sent {
                let _ = self.link.offer(Carried::Others(size, class), time);
            }
        }
    }
}
