//! One link of a chain and the load on it.

use netpath::{Class, LinkSpec};
use units::{Bytes, Time};

use crate::{Admission, Counters, Element, Link, LoadSource, Packet};

/// What a link of a chain carries.
#[derive(Debug)]
enum Carried<P> {
    Packet(P),
    /// A datagram of others, of which only the size matters.
    Load(Bytes),
}

impl<P: Packet> Packet for Carried<P> {
    #[inline]
    fn size(&self) -> Bytes {
        match self {
            Carried::Packet(packet) => packet.size(),
            Carried::Load(size) => *size,
        }
    }

    #[inline]
    fn ecn_capable(&self) -> bool {
        match self {
            Carried::Packet(packet) => packet.ecn_capable(),
            Carried::Load(_) => false,
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
            Carried::Load(_) => Class::BestEffort,
        }
    }

    #[inline]
    fn is_load(&self) -> bool {
        matches!(self, Carried::Load(_))
    }
}

/// A link and the load on it.
#[derive(Debug)]
pub(super) struct Stage<P> {
    link: Link<Carried<P>>,
    load: Option<LoadSource>,
}

impl<P: Packet> Stage<P> {
    pub(super) fn new(spec: &LinkSpec, seed: u64) -> Self {
        let load = spec.load.as_ref();
        Stage {
            link: Link::new(spec, seed),
            load: load.map(|load| LoadSource::new(load, seed)),
        }
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
                (_, Carried::Load(_)) => {}
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

    /// Offers the load that has come by `now`, at its own times: everything that is decided
    /// afterwards is decided as if it had been offered when it came.
    fn make_up_to(&mut self, now: Time) {
        let Some(source) = &mut self.load else {
            return;
        };
        while source.next_time() <= now {
            if let Some((time, size)) = source.next() {
                let _ = self.link.offer(Carried::Load(size), time);
            }
        }
    }
}
