use super::*;

fn ipv4(tos: u8, identification: u16) -> IpPacket {
    let mut header = vec![0x45, tos, 0x00, 0x54, 0, 0, 0x40, 0, 64, 1, 0, 0];
    header.extend([198, 18, 0, 1, 198, 18, 0, 2]);
    header[4..6].copy_from_slice(&identification.to_be_bytes());
    let checksum = !ones_sum(&header);
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    IpPacket::from(header)
}

/// Traffic class `byte`, flow label 0xabcde.
fn ipv6(byte: u8) -> IpPacket {
    let mut header = vec![0; 40];
    header[..4].copy_from_slice(&(0x600a_bcde | u32::from(byte) << 20).to_be_bytes());
    IpPacket::from(header)
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
            assert_eq!(packet.head[1], tos | CE);
            assert_eq!(ones_sum(&packet.head), 0xffff, "{tos} {identification}");
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
        assert_eq!(ones_sum(&packet.head), 0xffff, "{identification}");
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
        let mut bytes = packet.head.clone();
        bytes[0] = first;
        assert_eq!(IpPacket::from(bytes).header(), None);
    }
}

/// A TCP segment whose payload counts its words; header of 32 bytes, with options.
fn segment(payload: &[u8]) -> IpPacket {
    let mut packet = ipv4(0, 7);
    packet.head[9] = TCP;
    let mut header = [0; 32];
    header[DATA_OFFSET] = 8 << 4;
    packet.head.extend(header);
    packet.head.extend(payload);
    packet
}

#[test]
fn corruption_changes_two_words_of_the_payload_and_no_sum() {
    let payload: Vec<u8> = (0..724_u16).flat_map(u16::to_be_bytes).collect();
    let whole = segment(&payload);
    for draw in (0..1000).map(|number: u64| number.wrapping_mul(0x9E37_79B9_7F4A_7C15)) {
        let mut packet = segment(&payload);
        packet.corrupt(draw);
        let pairs = || whole.head.chunks(2).zip(packet.head.chunks(2)).enumerate();
        let changed: Vec<usize> = pairs()
            .filter(|(_, (a, b))| a != b)
            .map(|(at, _)| at)
            .collect();
        let [one, other] = changed[..] else {
            panic!("{draw}: {changed:?}");
        };
        assert!(one >= (20 + 32) / 2 && other > one, "{draw}: {changed:?}");
        assert_eq!(ones_sum(&packet.head), ones_sum(&whole.head));
    }
}

#[test]
fn corruption_of_what_has_no_words_to_swap_changes_nothing() {
    let mut datagram = segment(&[1, 2, 3, 4]);
    datagram.head[9] = 17;
    let mut cut_short = segment(&[]);
    cut_short.head.truncate(20 + 12);
    for packet in [
        segment(&[]),
        segment(&[1, 2, 3]),
        segment(&[7; 100]),
        datagram,
        cut_short,
    ] {
        let before = packet.head.clone();
        let mut packet = packet;
        packet.corrupt(0x1234_5678_9abc_def0);
        assert_eq!(packet.head, before);
    }
}

#[test]
fn a_marked_ipv6_header_changes_in_two_bits_only() {
    let mut packet = ipv6(46 << 2 | 0b10);
    packet.mark_congestion();
    assert_eq!(packet.head, ipv6(46 << 2 | 0b11).head);
}

#[test]
fn what_is_not_a_whole_ip_header_is_left_alone() {
    for bytes in [vec![], vec![0x45], vec![0x45, 2], vec![0x60], vec![0; 40]] {
        let mut packet = IpPacket::from(bytes.clone());
        assert_eq!(packet.class(), Class::BestEffort);
        packet.mark_congestion();
        assert_eq!(packet.head, bytes);
    }
}
