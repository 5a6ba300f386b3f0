//! A packet as the kernel wrote it, and what a link reads and changes in its header.

use link::Packet;
use path::Class;
use units::Bytes;

/// One IP packet, header first. What is not IP has no class and no ECN.
#[derive(Debug)]
pub(crate) struct IpPacket(pub Vec<u8>);

/// Congestion experienced, the two lower bits of the field (RFC 3168, section 5).
const CE: u8 = 0b11;
/// Not ECN capable.
const NOT_ECT: u8 = 0b00;
/// Bytes of a header without options.
const IPV4_HEADER: usize = 20;

impl IpPacket {
    fn version(&self) -> Option<u8> {
        self.0.first().map(|byte| byte >> 4)
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

    /// ECT(0) and ECT(1), and CE: it was capable before somebody marked it.
    fn ecn_capable(&self) -> bool {
        self.traffic_class()
            .is_some_and(|byte| byte & CE != NOT_ECT)
    }

    fn mark_congestion(&mut self) {
        match (self.version(), &mut self.0[..]) {
            (Some(4), header) if header.len() >= IPV4_HEADER => mark_ipv4(header),
            // The two bits are in the second byte, and there is no checksum.
            (Some(6), [_, second, ..]) => *second |= CE << 4,
            _ => {}
        }
    }

    fn class(&self) -> Class {
        let dscp = self.traffic_class().map(|byte| byte >> 2);
        dscp.map_or(Class::BestEffort, Class::from_dscp)
    }
}

/// Sets CE and updates the checksum by the change of the first word (RFC 1624, equation 3).
fn mark_ipv4(header: &mut [u8]) {
    let before = u16::from_be_bytes([header[0], header[1]]);
    header[1] |= CE;
    let after = u16::from_be_bytes([header[0], header[1]]);
    let checksum = u16::from_be_bytes([header[10], header[11]]);
    let sum = ones_add(ones_add(!checksum, !before), after);
    header[10..12].copy_from_slice(&(!sum).to_be_bytes());
}

fn ones_add(one: u16, other: u16) -> u16 {
    let (sum, carry) = one.overflowing_add(other);
    sum + u16::from(carry)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 1071: the sum of a correct header, its checksum included, is all ones.
    fn header_sum(header: &[u8]) -> u16 {
        let words = header.chunks_exact(2);
        words.fold(0, |sum, word| {
            ones_add(sum, u16::from_be_bytes([word[0], word[1]]))
        })
    }

    fn ipv4(tos: u8, identification: u16) -> IpPacket {
        let mut header = vec![0x45, tos, 0x00, 0x54, 0, 0, 0x40, 0, 64, 1, 0, 0];
        header.extend([198, 18, 0, 1, 198, 18, 0, 2]);
        header[4..6].copy_from_slice(&identification.to_be_bytes());
        let checksum = !header_sum(&header);
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
                assert_eq!(header_sum(&packet.0), 0xffff, "{tos} {identification}");
            }
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
