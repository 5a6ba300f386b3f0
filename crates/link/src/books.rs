//! The books of a link, and the packets that were lost inside it.

use std::collections::VecDeque;

use units::{Bytes, Time};

use crate::{Counters, DropCause, Packet};

/// Counts what happens to packets; keeps those lost inside for who asked for them.
#[derive(Debug)]
pub(crate) struct Books<P> {
    pub counters: Counters,
    lost: Option<VecDeque<(Time, P, DropCause)>>,
}

impl<P: Packet> Books<P> {
    pub(crate) fn new() -> Self {
        Books {
            counters: Counters::default(),
            lost: None,
        }
    }

    pub(crate) fn keep_lost(&mut self) {
        self.lost.get_or_insert_default();
    }

    pub(crate) fn take_lost(&mut self) -> Option<(Time, P, DropCause)> {
        self.lost.as_mut()?.pop_front()
    }

    #[inline]
    pub(crate) fn admit(&mut self, size: Bytes) {
        self.counters.offered.add(size);
        self.counters.in_flight.add(size);
    }

    #[inline]
    pub(crate) fn refuse(&mut self, size: Bytes, cause: DropCause) {
        self.counters.offered.add(size);
        self.counters.dropped_mut(cause).add(size);
    }

    #[inline]
    pub(crate) fn mark(&mut self, size: Bytes) {
        self.counters.marked.add(size);
    }

    #[inline]
    pub(crate) fn deliver(&mut self, size: Bytes) {
        self.counters.in_flight.remove(size);
        self.counters.delivered.add(size);
    }

    /// A packet that had been admitted is gone since `at`.
    pub(crate) fn lose(&mut self, packet: P, at: Time, cause: DropCause) {
        let size = packet.size();
        self.counters.in_flight.remove(size);
        self.counters.dropped_mut(cause).add(size);
        if let Some(lost) = &mut self.lost {
            lost.push_back((at, packet, cause));
        }
    }
}
