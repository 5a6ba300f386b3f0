use super::*;
use crate::ip_packet::ones_sum;
use crate::{FAR_ADDRESS, FAR_ADDRESS_V6, NEAR_ADDRESS, NEAR_ADDRESS_V6};

const ROW: &str = "[forward]\nrate = \"1Mbit/s\"\ndelay = \"1ms\"\n\
    queue = { kind = \"drop-tail\", limit = \"9packets\" }\n\
    [[before]]\nrate = \"1Mbit/s\"\ndelay = \"1ms\"\n\
    queue = { kind = \"drop-tail\", limit = \"9packets\" }\n\
    [[beyond]]\nrate = \"1Mbit/s\"\ndelay = \"1ms\"\nmtu = 1000\n\
    queue = { kind = \"drop-tail\", limit = \"9packets\" }\n";

fn routers(way: Way) -> Routers {
    Routers::of(&PathSpec::from_toml("row", ROW).unwrap(), way)
}

/// From near to `destination`, `size` bytes in all.
fn packet(destination: Ipv4Addr, protocol: u8, time_to_live: u8, size: u16) -> IpPacket {
    let mut bytes = vec![0x45, 0];
    bytes.extend(size.to_be_bytes());
    bytes.extend([0, 7, 0x40, 0, time_to_live, protocol, 0, 0]);
    bytes.extend(NEAR_ADDRESS.octets());
    bytes.extend(destination.octets());
    let checksum = !ones_sum(&bytes);
    bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
    bytes.resize(size.into(), 0xa5);
    IpPacket::from(bytes)
}

fn pass(routers: &mut Routers, router: usize, packet: IpPacket) -> Option<IpPacket> {
    routers.pass(router, packet, Time::ZERO)
}

fn only_answer(routers: &mut Routers) -> (usize, IpPacket) {
    let answers: Vec<Answer> = routers.take_answers().collect();
    let [answer] = answers.try_into().unwrap();
    (answer.link, answer.packet)
}

/// Header, message, and that both checksums are right.
fn icmp_of(packet: &IpPacket) -> (crate::ip_packet::Header, &[u8]) {
    let header = packet.header().unwrap();
    assert_eq!(ones_sum(&packet.head[..20]), 0xffff);
    assert_eq!(ones_sum(&packet.head[20..]), 0xffff);
    assert_eq!(header.protocol, 1);
    (header, &packet.head[20..])
}

#[test]
fn addresses_are_those_of_the_link_towards_the_sender() {
    let addresses = |way| -> Vec<[Ipv4Addr; 2]> {
        let routers = routers(way).routers.into_iter();
        routers
            .map(|facing| [facing.address.v4, facing.behind.v4])
            .collect()
    };
    let address = |link, end| Ipv4Addr::new(198, 18, link, end);
    let (first, second) = (
        [address(1, 2), address(2, 1)],
        [address(2, 2), address(3, 1)],
    );
    assert_eq!(addresses(Way::Forward), [first, second]);
    let turned = |[one, other]: [Ipv4Addr; 2]| [other, one];
    assert_eq!(addresses(Way::Reverse), [turned(second), turned(first)]);
}

#[test]
fn what_goes_on_has_lived_one_link_more() {
    let mut routers = routers(Way::Forward);
    let on = pass(&mut routers, 0, packet(FAR_ADDRESS, UDP_TEST, 64, 1500)).unwrap();
    assert_eq!(on.header().unwrap().time_to_live, 63);
    assert_eq!(ones_sum(&on.head[..20]), 0xffff);
    assert_eq!(routers.take_answers().len(), 0);
}

const UDP_TEST: u8 = 17;
const TCP: u8 = 6;

#[test]
fn a_packet_at_the_end_of_its_life_is_told_of() {
    for (way, router, address, link) in [
        (Way::Forward, 0, Ipv4Addr::new(198, 18, 1, 2), 2),
        (Way::Forward, 1, Ipv4Addr::new(198, 18, 2, 2), 1),
        (Way::Reverse, 0, Ipv4Addr::new(198, 18, 3, 1), 2),
        (Way::Reverse, 1, Ipv4Addr::new(198, 18, 2, 1), 1),
    ] {
        let mut routers = routers(way);
        let probe = packet(FAR_ADDRESS, TCP, 1, 700);
        assert!(pass(&mut routers, router, IpPacket::from(probe.head.clone())).is_none());
        let (back, answer) = only_answer(&mut routers);
        assert_eq!(back, link);
        let (header, message) = icmp_of(&answer);
        assert_eq!(
            (header.source, header.destination),
            (address.into(), NEAR_ADDRESS.into())
        );
        assert_eq!(message[..2], [11, 0]);
        // As much as fits into 576 bytes, as it came.
        assert_eq!(answer.head.len(), 576);
        assert_eq!(message[8..], probe.head[..548]);
    }
}

#[test]
fn a_packet_that_is_too_large_is_told_the_size_that_fits() {
    let mut routers = routers(Way::Forward);
    assert!(pass(&mut routers, 0, packet(FAR_ADDRESS, TCP, 9, 1500)).is_some());
    assert!(pass(&mut routers, 1, packet(FAR_ADDRESS, TCP, 9, 1000)).is_some());
    assert!(pass(&mut routers, 1, packet(FAR_ADDRESS, TCP, 9, 1001)).is_none());
    let (_, answer) = only_answer(&mut routers);
    let (_, message) = icmp_of(&answer);
    assert_eq!(message[..2], [3, 4]);
    assert_eq!(message[6..8], 1000u16.to_be_bytes());
}

#[test]
fn a_router_answers_to_either_of_its_addresses() {
    for address in [Ipv4Addr::new(198, 18, 2, 2), Ipv4Addr::new(198, 18, 3, 1)] {
        let mut routers = routers(Way::Forward);
        let mut echo = packet(address, 1, 1, 84);
        echo.head[20] = 8;
        assert!(pass(&mut routers, 1, echo).is_none());
        let (_, answer) = only_answer(&mut routers);
        let (header, message) = icmp_of(&answer);
        assert_eq!(
            (header.source, header.destination),
            (address.into(), NEAR_ADDRESS.into())
        );
        assert_eq!(message[0], 0);
        assert_eq!(message[4..], [0xa5; 60]);
        assert!(pass(&mut routers, 1, packet(address, UDP_TEST, 1, 60)).is_none());
        let (_, answer) = only_answer(&mut routers);
        assert_eq!(icmp_of(&answer).1[..2], [3, 3]);
    }
}

#[test]
fn no_error_is_sent_about_an_error_or_about_later_fragments() {
    let mut routers = routers(Way::Forward);
    let mut unreachable = packet(FAR_ADDRESS, 1, 1, 84);
    unreachable.head[20] = 3;
    let mut fragment = packet(FAR_ADDRESS, UDP_TEST, 1, 84);
    fragment.head[7] = 1;
    // Nor of what is no whole packet.
    for packet in [
        unreachable,
        fragment,
        IpPacket::from(vec![0x60; 39]),
        IpPacket::from(vec![]),
    ] {
        assert!(pass(&mut routers, 0, packet).is_none());
        assert_eq!(routers.take_answers().len(), 0);
    }
}

/// From near to `destination` over IPv6, `size` bytes in all.
fn packet_v6(destination: Ipv6Addr, protocol: u8, hop_limit: u8, size: u16) -> IpPacket {
    let mut bytes = vec![0x60, 0, 0, 0];
    bytes.extend((size - 40).to_be_bytes());
    bytes.extend([protocol, hop_limit]);
    bytes.extend(NEAR_ADDRESS_V6.octets());
    bytes.extend(destination.octets());
    bytes.resize(size.into(), 0xa5);
    IpPacket::from(bytes)
}

#[test]
fn an_ipv6_packet_goes_on_or_its_sender_is_told_why_not() {
    const ICMP: u8 = 58;
    let router = Ipv6Addr::new(0x2001, 2, 0, 2, 0, 0, 0, 2);
    let mut echo = packet_v6(router, ICMP, 1, 100);
    echo.head[40] = 128;
    for (sent, kind, code, mtu) in [
        (packet_v6(FAR_ADDRESS_V6, TCP, 1, 900), 3, 0, None),
        (packet_v6(FAR_ADDRESS_V6, TCP, 9, 1400), 2, 0, Some(1000)),
        (packet_v6(router, UDP_TEST, 9, 100), 1, 4, None),
        (echo, 129, 0xa5, None),
    ] {
        let mut routers = routers(Way::Forward);
        assert!(pass(&mut routers, 1, IpPacket::from(sent.head.clone())).is_none());
        let (_, answer) = only_answer(&mut routers);
        let header = answer.header().unwrap();
        let ends = (header.source, header.destination);
        assert_eq!(ends, (router.into(), NEAR_ADDRESS_V6.into()));
        let mut covered = answer.head[8..40].to_vec();
        covered.extend((answer.head.len() as u32 - 40).to_be_bytes());
        covered.extend([0, 0, 0, ICMP]);
        covered.extend(&answer.head[40..]);
        assert_eq!(ones_sum(&covered), 0xffff);
        assert_eq!(answer.head[40..42], [kind, code]);
        if let Some(mtu) = mtu {
            assert_eq!(answer.head[44..48], u32::to_be_bytes(mtu));
            // As much as fits into 1280 bytes.
            assert_eq!(answer.head.len(), 1280);
        }
    }
    let mut routers = routers(Way::Forward);
    let on = pass(&mut routers, 0, packet_v6(FAR_ADDRESS_V6, TCP, 9, 1400)).unwrap();
    assert_eq!(on.header().unwrap().time_to_live, 8);
    // No error about an error.
    let error = packet_v6(FAR_ADDRESS_V6, ICMP, 1, 100);
    assert!(pass(&mut routers, 0, error).is_none());
    assert_eq!(routers.take_answers().len(), 0);
}
