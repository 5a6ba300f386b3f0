//! Puts packets of one TCP stream that leave the path one right after the other together again, as
//! the receiving host's network card and kernel do (GRO).
//!
//! The rules are those of the kernel's `tcp_gro_receive`, or stricter: never across a gap, a mark,
//! or a header that differs in anything but what segmentation changes. UDP stays as it is: its
//! receivers measure the times of single datagrams.

use std::io::IoSlice;
use std::sync::Arc;

use units::{Span, Time};

use crate::ip_packet::{IPV4_HEADER, IPV6_HEADER, IpPacket, TCP};
use crate::offload::{Kind, Offload, PACKET_MAX};
use crate::segments::{CWR, FIN, FLAGS, PSH, TCP_CHECKSUM, set_lengths};

/// Packets that came out of the path within this are handed over together. It is about the pause
/// that network cards make between two interrupts, and 64 KB at 8 Gbit/s; packets of 1500 bytes at
/// less than 190 Mbit/s stay alone.
const TOGETHER: Span = Span::from_micros(64);
/// The kernel takes 1024 parts of a packet at once.
const PACKETS_MAX: usize = 500;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const URG: u8 = 0x20;

/// Packets that are handed over as one.
#[derive(Debug, Default)]
pub(crate) struct Group {
    packets: Vec<IpPacket>,
    /// When the first came out of the path.
    since: Time,
    /// Headers of each; `None` where nothing can follow the last.
    shape: Option<Shape>,
    /// Payload of all.
    payload: usize,
    /// The headers of all as one packet.
    head: Vec<u8>,
}

/// Where the headers of a TCP packet with payload end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    ip: usize,
    headers: usize,
    /// Payload of the packet.
    size: usize,
}

impl Shape {
    /// `None` of what stays alone.
    fn of(packet: &IpPacket) -> Option<Self> {
        let (unfinished, head) = (packet.unfinished?, &packet.head);
        let ip = usize::from(unfinished.start);
        let is_plain = match head.first()? >> 4 {
            4 => {
                // No options, and no fragment.
                let fragment = u16::from_be_bytes([*head.get(6)?, *head.get(7)?]) & 0xbfff;
                ip == IPV4_HEADER && head[0] == 0x45 && head.get(9) == Some(&TCP) && fragment == 0
            }
            6 => ip == IPV6_HEADER && head.get(6) == Some(&TCP),
            _ => false,
        };
        let headers = ip + usize::from(head.get(ip + 12)? >> 4) * 4;
        let total = usize::try_from(link::Packet::size(packet).get()).ok()?;
        let is_alone = head.get(ip + FLAGS)? & (SYN | RST | URG) != 0;
        let fits = unfinished.offset == TCP_CHECKSUM
            && headers >= ip + 20
            && head.len() >= headers
            && total > headers;
        (is_plain && fits && !is_alone).then(|| Shape {
            ip,
            headers,
            size: total - headers,
        })
    }
}

impl Group {
    /// Takes a packet that came out of the path at `at` and belongs to this group; gives back one
    /// that does not.
    pub(crate) fn join(&mut self, packet: IpPacket, at: Time) -> Option<IpPacket> {
        let own = Shape::of(&packet);
        let follows = match (self.packets.last(), self.shape, own) {
            (None, ..) => true,
            (Some(last), Some(shape), Some(own)) => {
                let is_near = at.since(self.since) <= TOGETHER && self.packets.len() < PACKETS_MAX;
                let fits = shape.headers + self.payload + own.size <= PACKET_MAX;
                is_near && fits && continues(last, shape, &packet, own)
            }
            _ => false,
        };
        if !follows {
            return Some(packet);
        }
        match self.shape.filter(|_| !self.packets.is_empty()) {
            None => {
                (self.since, self.payload) = (at, 0);
                self.shape = own.filter(|own| !ends(&packet, *own));
            }
            // A shorter one is the last.
            Some(shape) => {
                let goes_on = own.is_some_and(|own| own.size == shape.size && !ends(&packet, own));
                self.shape = goes_on.then_some(shape);
            }
        }
        self.payload += own.map_or(0, |own| own.size);
        self.packets.push(packet);
        None
    }

    /// Hands the group to `write` as one packet, in parts that follow each other.
    pub(crate) fn hand_over<T>(&mut self, write: impl FnOnce(&[IoSlice<'_>]) -> T) -> Option<T> {
        let first = self.packets.first()?;
        let mut offload = Offload {
            unfinished: first.unfinished,
            ..Offload::default()
        };
        self.head.clear();
        let payload_at = match Shape::of(first).filter(|_| self.packets.len() > 1) {
            None => first.head.len(),
            Some(shape) => shape.headers,
        };
        self.head.extend_from_slice(first.head.get(..payload_at)?);
        if let (Some(shape), Some(last), true) = (
            Shape::of(first),
            self.packets.last(),
            self.packets.len() > 1,
        ) {
            let flags = shape.ip + FLAGS;
            self.head[flags] |= last.head[flags] & (FIN | PSH);
            set_lengths(&mut self.head, shape.ip, TCP, self.payload, 0);
            let is_v4 = self.head[0] >> 4 == 4;
            let kind = if is_v4 { Kind::TcpV4 } else { Kind::TcpV6 };
            offload.segments = Some((kind, shape.size as u16));
            offload.headers = shape.headers as u16;
            offload.cwr = self.head[flags] & CWR != 0;
        }
        let header = offload.bytes();
        let mut parts = vec![IoSlice::new(&header), IoSlice::new(&self.head)];
        payloads(&self.packets, payload_at, &mut parts);
        Some(write(&parts))
    }

    /// Empties it; what it held can be used again.
    pub(crate) fn take(&mut self) -> std::vec::Drain<'_, IpPacket> {
        self.packets.drain(..)
    }
}

/// Adds the payloads; those that are one behind the other in a super-segment are one part.
fn payloads<'a>(packets: &'a [IpPacket], payload_at: usize, parts: &mut Vec<IoSlice<'a>>) {
    let mut open: Option<(&'a Arc<Vec<u8>>, usize, usize)> = None;
    let close = |open: Option<(&'a Arc<Vec<u8>>, usize, usize)>, parts: &mut Vec<IoSlice<'a>>| {
        let bytes = open.and_then(|(buffer, from, to)| buffer.get(from..to));
        parts.extend(bytes.map(IoSlice::new));
    };
    for packet in packets {
        let inside = packet.head.get(payload_at..).unwrap_or_default();
        let slice = packet.payload.as_ref();
        open = match (open, slice) {
            (Some((buffer, from, to)), Some(next))
                if inside.is_empty() && to == next.from && Arc::ptr_eq(buffer, &next.buffer) =>
            {
                Some((buffer, from, next.to))
            }
            (before, _) => {
                close(before, parts);
                if !inside.is_empty() {
                    parts.push(IoSlice::new(inside));
                }
                slice.map(|next| (&next.buffer, next.from, next.to))
            }
        };
    }
    close(open, parts);
}

/// Whether nothing may follow this packet in a group.
fn ends(packet: &IpPacket, shape: Shape) -> bool {
    packet.head[shape.ip + FLAGS] & (FIN | PSH) != 0
}

/// Whether `packet` is what segmentation would have put behind `last`.
fn continues(last: &IpPacket, before: Shape, packet: &IpPacket, own: Shape) -> bool {
    let (one, other) = (&last.head, &packet.head);
    let same = |from: usize, to: usize| one.get(from..to) == other.get(from..to);
    let has_shape = own.ip == before.ip && own.headers == before.headers && own.size <= before.size;
    has_shape && same_ip(one, other) && {
        let ip = own.ip;
        let sequence = |head: &[u8]| {
            u32::from_be_bytes([head[ip + 4], head[ip + 5], head[ip + 6], head[ip + 7]])
        };
        let expected = sequence(one).wrapping_add(before.size as u32);
        let (flags, others) = (one[ip + FLAGS], other[ip + FLAGS]);
        expected == sequence(other)
            // Ports; acknowledgement and length of the header; window; urgent pointer and options.
            && same(ip, ip + 4)
            && same(ip + 8, ip + 13)
            && same(ip + 14, ip + 16)
            && same(ip + 18, own.headers)
            && others & CWR == 0
            && (flags ^ others) & !(CWR | FIN | PSH) == 0
    }
}

/// Whether two IP headers differ only in lengths, and by one in the identification.
fn same_ip(one: &[u8], other: &[u8]) -> bool {
    let same = |from: usize, to: usize| one.get(from..to) == other.get(from..to);
    if one[0] >> 4 == 6 {
        return same(0, 4) && same(6, IPV6_HEADER);
    }
    let identification = |head: &[u8]| u16::from_be_bytes([head[4], head[5]]);
    identification(other) == identification(one).wrapping_add(1)
        && same(0, 2)
        && same(6, 10)
        && same(12, IPV4_HEADER)
}

#[cfg(test)]
mod tests;
