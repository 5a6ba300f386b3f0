//! Others' streams, which share the main link alone: they enter in front of it and leave behind it.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};

use netpath::{PathSpec, Way};
use units::{Span, Time};

use crate::ip_packet::IpPacket;

/// The far end of the streams of cross traffic entry `entry` of the path file, counted from 0: an
/// address of the far host. RFC 2544 sets 198.18.0.0/15 aside for tests.
pub fn cross_address(entry: usize) -> Ipv4Addr {
    // A path has at most 64 entries.
    Ipv4Addr::new(198, 19, entry as u8 + 1, 2)
}

/// The entry of cross traffic that a packet belongs to.
pub(crate) fn entry_of(packet: &IpPacket) -> Option<usize> {
    let header = packet.header()?;
    let ends = [header.destination, header.source];
    ends.into_iter().find_map(|address| match address {
        IpAddr::V4(address) => match address.octets() {
            [198, 19, number, 2] => usize::from(number).checked_sub(1),
            _ => None,
        },
        IpAddr::V6(_) => None,
    })
}

/// Others' packets of one way on their way to the main link.
#[derive(Debug)]
pub(crate) struct Asides {
    /// For each entry of the path file its extra delay, and what waits for it to pass.
    entries: Vec<(Span, VecDeque<(Time, IpPacket)>)>,
    main_link: usize,
}

impl Asides {
    pub(crate) fn of(path: &PathSpec, way: Way) -> Self {
        let entries = path.cross.iter();
        Asides {
            entries: entries
                .map(|cross| (cross.extra_delay, VecDeque::new()))
                .collect(),
            main_link: path.main_link(way),
        }
    }

    /// Which link of the way they enter.
    pub(crate) fn main_link(&self) -> usize {
        self.main_link
    }

    /// Takes a packet of others that has come at `now`; gives back one of the hosts.
    pub(crate) fn take(&mut self, packet: IpPacket, now: Time) -> Option<IpPacket> {
        if self.entries.is_empty() {
            return Some(packet);
        }
        let entry = entry_of(&packet).and_then(|entry| self.entries.get_mut(entry));
        let Some((delay, waiting)) = entry else {
            return Some(packet);
        };
        waiting.push_back((now + *delay, packet));
        None
    }

    /// The next packet that has reached the main link by `now`.
    pub(crate) fn pop(&mut self, now: Time) -> Option<IpPacket> {
        let mut waiting = self.entries.iter_mut().map(|(_, waiting)| waiting);
        let is_due = |(at, _): &(Time, IpPacket)| *at <= now;
        let due = waiting.find(|waiting| waiting.front().is_some_and(is_due))?;
        Some(due.pop_front()?.1)
    }

    /// When the next one reaches the main link.
    pub(crate) fn next_time(&self) -> Option<Time> {
        let entries = self.entries.iter();
        let first = entries.filter_map(|(_, waiting)| Some(waiting.front()?.0));
        first.min()
    }
}
