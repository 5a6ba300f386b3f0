//! A packet as the kernel wrote it, and what a link reads and changes in its header.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use link::Packet;
use netpath::Class;
use units::Bytes;

/// One IP packet. What is not IP has no class and no ECN.
#[derive(Debug, Default)]
pub(crate) struct IpPacket {
    /// Its bytes from the first on, the IP header and that of the transport among them.
    pub head: Vec<u8>,
    /// What follows, where it was cut from a super-segment.
    pub payload: Option<Slice>,
    /// The transport's checksum, where it is left to the receiver's kernel.
    pub unfinished: Option<Unfinished>,
}

/// A part of a super-segment, which its packets share.
#[derive(Debug, Clone)]
pub(crate) struct Slice {
    pub buffer: Arc<Vec<u8>>,
    pub from: usize,
    pub to: usize,
}

impl Slice {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.buffer.get(self.from..self.to).unwrap_or_default()
    }
}

/// Where a checksum is that covers everything from `start` on; the sum of the pseudo-header (RFC
/// 9293, section 3.1) stands in its place so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unfinished {
    pub start: u16,
    /// From `start`.
    pub offset: u16,
}

impl From<Vec<u8>> for IpPacket {
    fn from(head: Vec<u8>) -> Self {
        IpPacket {
            head,
            payload: None,
            unfinished: None,
        }
    }
}

/// Congestion experienced, the two lower bits of the field (RFC 3168, section 5).
const CE: u8 = 0b11;
/// Not ECN capable.
const NOT_ECT: u8 = 0b00;
/// The protocol number of TCP.
pub(crate) const TCP: u8 = 6;
/// Where UDP's header has its checksum.
pub(crate) const UDP_CHECKSUM: u16 = 6;
/// Where TCP's header tells its length.
const DATA_OFFSET: usize = 12;
/// Bytes of a header without options.
pub(crate) const IPV4_HEADER: usize = 20;

/// Bytes of IPv6's header (RFC 8200, section 3).
pub(crate) const IPV6_HEADER: usize = 40;

/// What a router reads of an IPv4 header (RFC 791) or an IPv6 header (RFC 8200).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// Bytes of the header, IPv4's options included and IPv6's extensions not.
    pub length: usize,
    /// Always 0 of IPv6.
    pub fragment_offset: u16,
    /// IPv6's hop limit.
    pub time_to_live: u8,
    /// IPv6's next header.
    pub protocol: u8,
    pub source: IpAddr,
    pub destination: IpAddr,
}

impl IpPacket {
    /// All its bytes in one row, with its checksum.
    pub(crate) fn finish(&mut self) {
        if let Some(payload) = self.payload.take() {
            self.head.extend_from_slice(payload.bytes());
        }
        let Some(Unfinished { start, offset }) = self.unfinished.take() else {
            return;
        };
        let covered = self.head.get_mut(usize::from(start)..).unwrap_or_default();
        // UDP has all ones in place of zero, which means none (RFC 768).
        let sum = match !ones_sum(covered) {
            0 if offset == UDP_CHECKSUM => u16::MAX,
            sum => sum,
        };
        let at = usize::from(offset);
        if let Some(field) = covered.get_mut(at..at + 2) {
            field.copy_from_slice(&sum.to_be_bytes());
        }
    }

    fn version(&self) -> Option<u8> {
        self.head.first().map(|byte| byte >> 4)
    }

    /// The header, of whole IP packets.
    pub(crate) fn header(&self) -> Option<Header> {
        match self.version()? {
            6 => self.ipv6(),
            _ => self.ipv4(),
        }
    }

    fn ipv6(&self) -> Option<Header> {
        let header: &[u8; IPV6_HEADER] = self.head.first_chunk()?;
        let address = |at: usize| {
            let bytes: [u8; 16] = header[at..at + 16].try_into().ok()?;
            Some(IpAddr::from(Ipv6Addr::from(bytes)))
        };
        Some(Header {
            length: IPV6_HEADER,
            fragment_offset: 0,
            time_to_live: header[7],
            protocol: header[6],
            source: address(8)?,
            destination: address(24)?,
        })
    }

    fn ipv4(&self) -> Option<Header> {
        let header: &[u8; IPV4_HEADER] = self.head.first_chunk()?;
        let address = |at: usize| {
            IpAddr::from(Ipv4Addr::new(
                header[at],
                header[at + 1],
                header[at + 2],
                header[at + 3],
            ))
        };
        let length = usize::from(header[0] & 0x0f) * 4;
        let whole = header[0] >> 4 == 4 && (IPV4_HEADER..=self.head.len()).contains(&length);
        whole.then(|| Header {
            length,
            fragment_offset: u16::from_be_bytes([header[6], header[7]]) & 0x1fff,
            time_to_live: header[8],
            protocol: header[9],
            source: address(12),
            destination: address(16),
        })
    }

    /// Takes one from the time to live of a packet that has some left.
    pub(crate) fn count_down(&mut self) {
        if self.version() == Some(6) {
            if let Some(hop_limit) = self.head.get_mut(7) {
                *hop_limit = hop_limit.saturating_sub(1);
            }
        } else if let (Some(_), Some(header)) =
            (self.ipv4(), self.head.first_chunk_mut::<IPV4_HEADER>())
        {
            change_word(header, 8, |word| word.saturating_sub(0x100));
        }
    }

    /// What TCP carries (RFC 9293, section 3.1), of a whole IP packet.
    fn tcp_payload_mut(&mut self) -> Option<&mut [u8]> {
        let header = self.header()?;
        if let Some(payload) = self.payload.take() {
            // Others share it.
            self.head.extend_from_slice(payload.bytes());
        }
        if header.protocol != TCP || header.fragment_offset != 0 {
            return None;
        }
        let segment = self.head.get_mut(header.length..)?;
        // The upper four bits count words of four bytes.
        let length = usize::from(*segment.get(DATA_OFFSET)? >> 4) * 4;
        segment.get_mut(length..)
    }

    /// The byte of DSCP and ECN: IPv4's TOS (RFC 791), IPv6's traffic class (RFC 8200).
    fn traffic_class(&self) -> Option<u8> {
        match (self.version()?, &self.head[..]) {
            (4, [_, tos, ..]) => Some(*tos),
            (6, [first, second, ..]) => Some(first << 4 | second >> 4),
            _ => None,
        }
    }
}

impl Packet for IpPacket {
    fn size(&self) -> Bytes {
        let payload = self.payload.as_ref();
        let payload = payload.map_or(0, |slice| slice.to - slice.from);
        Bytes::new((self.head.len() + payload) as u64)
    }

    /// ECT(0) and ECT(1), and CE: it was capable before a queue marked it.
    fn ecn_capable(&self) -> bool {
        self.traffic_class()
            .is_some_and(|byte| byte & CE != NOT_ECT)
    }

    fn mark_congestion(&mut self) {
        match (self.version(), &mut self.head[..]) {
            (Some(4), bytes) => {
                if let Some(header) = bytes.first_chunk_mut() {
                    mark_ipv4(header);
                }
            }
            // The two bits are in the second byte, and there is no checksum.
            (Some(6), [_, second, ..]) => *second |= CE << 4,
            _ => {}
        }
    }

    fn corrupt(&mut self, draw: u64) {
        if let Some(payload) = self.tcp_payload_mut() {
            swap_words(payload, draw);
        }
    }

    fn class(&self) -> Class {
        let dscp = self.traffic_class().map(|byte| byte >> 2);
        dscp.map_or(Class::BestEffort, Class::from_dscp)
    }
}

/// Sets CE.
fn mark_ipv4(header: &mut [u8; IPV4_HEADER]) {
    change_word(header, 0, |word| word | u16::from(CE));
}

/// Lets two words that differ change places, which no sum over words notices (RFC 1071, section 2:
/// it is commutative). The draw says where the search for them begins; a payload of equal words
/// stays as it is.
fn swap_words(payload: &mut [u8], draw: u64) {
    let words = payload.len() / 2;
    if words < 2 {
        return;
    }
    let (first, second) = ((draw >> 32) as usize % words, draw as u32 as usize % words);
    let word = |at: usize| [payload[2 * at], payload[2 * at + 1]];
    let others = (second..words).chain(0..second);
    let found = others.into_iter().find(|at| word(*at) != word(first));
    if let Some(other) = found {
        payload.swap(2 * first, 2 * other);
        payload.swap(2 * first + 1, 2 * other + 1);
    }
}

/// Changes the word at byte `at` and updates the checksum by the change (RFC 1624, equation 3).
fn change_word(header: &mut [u8; IPV4_HEADER], at: usize, change: impl Fn(u16) -> u16) {
    let before = u16::from_be_bytes([header[at], header[at + 1]]);
    let after = change(before);
    header[at..at + 2].copy_from_slice(&after.to_be_bytes());
    let checksum = u16::from_be_bytes([header[10], header[11]]);
    let sum = ones_add(ones_add(!checksum, !before), after);
    header[10..12].copy_from_slice(&(!sum).to_be_bytes());
}

/// The Internet checksum's sum, before it is inverted (RFC 1071); an odd last byte is the upper
/// half of a word.
pub(crate) fn ones_sum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| match *pair {
        [high, low] => u16::from_be_bytes([high, low]),
        [high] => u16::from_be_bytes([high, 0]),
        _ => 0,
    });
    words.fold(0, ones_add)
}

pub(crate) fn ones_add(one: u16, other: u16) -> u16 {
    let (sum, carry) = one.overflowing_add(other);
    sum + u16::from(carry)
}

#[cfg(test)]
mod tests;
