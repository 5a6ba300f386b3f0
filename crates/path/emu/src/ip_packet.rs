//! A packet as the kernel wrote it, and what a link reads and changes in its header.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use link::Packet;
use netpath::Class;
use units::Bytes;

/// One IP packet, header first. What is not IP has no class and no ECN.
#[derive(Debug)]
pub(crate) struct IpPacket(pub Vec<u8>);

/// Congestion experienced, the two lower bits of the field (RFC 3168, section 5).
const CE: u8 = 0b11;
/// Not ECN capable.
const NOT_ECT: u8 = 0b00;
/// The protocol number of TCP.
const TCP: u8 = 6;
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
    fn version(&self) -> Option<u8> {
        self.0.first().map(|byte| byte >> 4)
    }

    /// The header, of whole IP packets.
    pub(crate) fn header(&self) -> Option<Header> {
        match self.version()? {
            6 => self.ipv6(),
            _ => self.ipv4(),
        }
    }

    fn ipv6(&self) -> Option<Header> {
        let header: &[u8; IPV6_HEADER] = self.0.first_chunk()?;
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
        let header: &[u8; IPV4_HEADER] = self.0.first_chunk()?;
        let address = |at: usize| {
            IpAddr::from(Ipv4Addr::new(
                header[at],
                header[at + 1],
                header[at + 2],
                header[at + 3],
            ))
        };
        let length = usize::from(header[0] & 0x0f) * 4;
        let whole = header[0] >> 4 == 4 && (IPV4_HEADER..=self.0.len()).contains(&length);
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
            if let Some(hop_limit) = self.0.get_mut(7) {
                *hop_limit = hop_limit.saturating_sub(1);
            }
        } else if let (Some(_), Some(header)) =
            (self.ipv4(), self.0.first_chunk_mut::<IPV4_HEADER>())
        {
            change_word(header, 8, |word| word.saturating_sub(0x100));
        }
    }

    /// What TCP carries (RFC 9293, section 3.1), of a whole IP packet.
    fn tcp_payload_mut(&mut self) -> Option<&mut [u8]> {
        let header = self.header()?;
        if header.protocol != TCP || header.fragment_offset != 0 {
            return None;
        }
        let segment = self.0.get_mut(header.length..)?;
        // The upper four bits count words of four bytes.
        let length = usize::from(*segment.get(DATA_OFFSET)? >> 4) * 4;
        segment.get_mut(length..)
    }

    /// The byte of DSCP and ECN: IPv4's TOS (RFC 791), IPv6's traffic class (RFC 8200).
    fn traffic_class(&self) -> Option<u8> {
        match (self.version()?, &self.0[..]) {
            (4, [_, tos, ..]) => Some(*tos),
            (6, [first, second, ..]) => Some(first << 4 | second >> 4),
            _ => None,
        }
    }
}

impl Packet for IpPacket {
    fn size(&self) -> Bytes {
        Bytes::new(self.0.len() as u64)
    }

    /// ECT(0) and ECT(1), and CE: it was capable before a queue marked it.
    fn ecn_capable(&self) -> bool {
        self.traffic_class()
            .is_some_and(|byte| byte & CE != NOT_ECT)
    }

    fn mark_congestion(&mut self) {
        match (self.version(), &mut self.0[..]) {
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

fn ones_add(one: u16, other: u16) -> u16 {
    let (sum, carry) = one.overflowing_add(other);
    sum + u16::from(carry)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ipv4(tos: u8, identification: u16) -> IpPacket {
        let mut header = vec![0x45, tos, 0x00, 0x54, 0, 0, 0x40, 0, 64, 1, 0, 0];
        header.extend([198, 18, 0, 1, 198, 18, 0, 2]);
        header[4..6].copy_from_slice(&identification.to_be_bytes());
        let checksum = !ones_sum(&header);
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
        IpPacket(header)
    }

    /// Traffic class `byte`, flow label 0xabcde.
    fn ipv6(byte: u8) -> IpPacket {
        let mut header = vec![0; 40];
        header[..4].copy_from_slice(&(0x600a_bcde | u32::from(byte) << 20).to_be_bytes());
        IpPacket(header)
    }

    #[test]
    fn the_class_is_that_of_the_dscp() {
        for (dscp, class) in [
            (0, Class::BestEffort),
            (1, Class::Scavenger),
            (8, Class::Scavenger),
            (46, Class::Priority),
            (34, Class::BestEffort),
        ] {
            // ECN bits beside it change nothing.
            for ecn in 0..4 {
                let byte = dscp << 2 | ecn;
                assert_eq!(ipv4(byte, 7).class(), class);
                assert_eq!(ipv6(byte).class(), class);
            }
        }
    }

    #[test]
    fn ecn_is_read_from_its_two_bits() {
        for (bits, capable) in [(0, false), (1, true), (2, true), (3, true)] {
            assert_eq!(ipv4(0xb8 | bits, 7).ecn_capable(), capable);
            assert_eq!(ipv6(0xb8 | bits).ecn_capable(), capable);
        }
    }

    #[test]
    fn a_marked_ipv4_header_keeps_a_right_checksum() {
        // All identifications, so that every carry of the update occurs.
        for identification in 0..=u16::MAX {
            for tos in [0b01, 0b10, 0b11, 46 << 2 | 0b10] {
                let mut packet = ipv4(tos, identification);
                packet.mark_congestion();
                assert_eq!(packet.0[1], tos | CE);
                assert_eq!(ones_sum(&packet.0), 0xffff, "{tos} {identification}");
            }
        }
    }

    #[test]
    fn a_header_that_was_counted_down_keeps_a_right_checksum() {
        for identification in 0..=u16::MAX {
            let mut packet = ipv4(0, identification);
            for left in (0..64).rev() {
                packet.count_down();
                assert_eq!(packet.header().unwrap().time_to_live, left);
            }
            assert_eq!(ones_sum(&packet.0), 0xffff, "{identification}");
        }
    }

    #[test]
    fn a_header_is_read_where_it_is_whole() {
        let packet = ipv4(0, 7);
        let header = packet.header().unwrap();
        assert_eq!(header.destination, Ipv4Addr::new(198, 18, 0, 2));
        assert_eq!((header.time_to_live, header.protocol), (64, 1));
        // A header that is longer than the packet, or shorter than a header.
        for first in [0x46, 0x44, 0x65] {
            let mut bytes = packet.0.clone();
            bytes[0] = first;
            assert_eq!(IpPacket(bytes).header(), None);
        }
    }

    /// A TCP segment whose payload counts its words; header of 32 bytes, with options.
    fn segment(payload: &[u8]) -> IpPacket {
        let mut packet = ipv4(0, 7);
        packet.0[9] = TCP;
        let mut header = [0; 32];
        header[DATA_OFFSET] = 8 << 4;
        packet.0.extend(header);
        packet.0.extend(payload);
        packet
    }

    #[test]
    fn corruption_changes_two_words_of_the_payload_and_no_sum() {
        let payload: Vec<u8> = (0..724_u16).flat_map(u16::to_be_bytes).collect();
        let whole = segment(&payload);
        for draw in (0..1000).map(|number: u64| number.wrapping_mul(0x9E37_79B9_7F4A_7C15)) {
            let mut packet = segment(&payload);
            packet.corrupt(draw);
            let pairs = || whole.0.chunks(2).zip(packet.0.chunks(2)).enumerate();
            let changed: Vec<usize> = pairs()
                .filter(|(_, (a, b))| a != b)
                .map(|(at, _)| at)
                .collect();
            let [one, other] = changed[..] else {
                panic!("{draw}: {changed:?}");
            };
            assert!(one >= (20 + 32) / 2 && other > one, "{draw}: {changed:?}");
            assert_eq!(ones_sum(&packet.0), ones_sum(&whole.0));
        }
    }

    #[test]
    fn corruption_of_what_has_no_words_to_swap_changes_nothing() {
        let mut datagram = segment(&[1, 2, 3, 4]);
        datagram.0[9] = 17;
        let mut cut_short = segment(&[]);
        cut_short.0.truncate(20 + 12);
        for packet in [
            segment(&[]),
            segment(&[1, 2, 3]),
            segment(&[7; 100]),
            datagram,
            cut_short,
        ] {
            let before = packet.0.clone();
            let mut packet = packet;
            packet.corrupt(0x1234_5678_9abc_def0);
            assert_eq!(packet.0, before);
        }
    }

    #[test]
    fn a_marked_ipv6_header_changes_in_two_bits_only() {
        let mut packet = ipv6(46 << 2 | 0b10);
        packet.mark_congestion();
        assert_eq!(packet.0, ipv6(46 << 2 | 0b11).0);
    }

    #[test]
    fn what_is_not_a_whole_ip_header_is_left_alone() {
        for bytes in [vec![], vec![0x45], vec![0x45, 2], vec![0x60], vec![0; 40]] {
            let mut packet = IpPacket(bytes.clone());
            assert_eq!(packet.class(), Class::BestEffort);
            packet.mark_congestion();
            assert_eq!(packet.0, bytes);
        }
    }
}
