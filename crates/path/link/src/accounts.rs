//! The accounts of a link, and the packets that were lost inside it.

use std::collections::VecDeque;

use units::{Bytes, Time};

use crate::{Counters, DropCause, Packet};

/// What the accounts note of a packet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub size: Bytes,
    of_load: bool,
}

impl Entry {
    #[inline]
    pub(crate) fn of<P: Packet>(packet: &P) -> Self {
        Entry {
            size: packet.size(),
            of_load: packet.is_load(),
        }
    }
}

/// Counts what happens to packets; keeps those lost inside for who asked for them.
#[derive(Debug)]
pub(crate) struct Accounts<P> {
    pub counters: Counters,
    /// Those of the packets that are others' load.
    pub load: Counters,
    lost: Option<VecDeque<(Time, P, DropCause)>>,
}

impl<P: Packet> Accounts<P> {
    pub(crate) fn new() -> Self {
        Accounts {
            counters: Counters::default(),
            load: Counters::default(),
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
    fn page(&mut self, entry: Entry) -> &mut Counters {
        match entry.of_load {
            true => &mut self.load,
            false => &mut self.counters,
        }
    }

    #[inline]
    pub(crate) fn admit(&mut self, entry: Entry) {
        let page = self.page(entry);
        page.offered.add(entry.size);
        page.in_flight.add(entry.size);
    }

    #[inline]
    pub(crate) fn refuse(&mut self, entry: Entry, cause: DropCause) {
        let page = self.page(entry);
        page.offered.add(entry.size);
        page.dropped_mut(cause).add(entry.size);
    }

    #[inline]
    pub(crate) fn mark(&mut self, entry: Entry) {
        self.page(entry).marked.add(entry.size);
    }

    #[inline]
    pub(crate) fn send(&mut self, entry: Entry) {
        self.page(entry).sent.add(entry.size);
    }

    #[inline]
    pub(crate) fn deliver(&mut self, entry: Entry) {
        let page = self.page(entry);
        page.in_flight.remove(entry.size);
        page.delivered.add(entry.size);
    }

    /// A packet that had been admitted is gone since `at`.
    pub(crate) fn lose(&mut self, packet: P, at: Time, cause: DropCause) {
        let entry = Entry::of(&packet);
        let page = self.page(entry);
        page.in_flight.remove(entry.size);
        page.dropped_mut(cause).add(entry.size);
        if let Some(lost) = &mut self.lost
            && !entry.of_load
        {
            lost.push_back((at, packet, cause));
        }
    }

    /// Whether every packet and byte is accounted for.
    pub(crate) fn are_conserved(&self) -> bool {
        self.counters.are_conserved() && self.load.are_conserved()
    }
}
