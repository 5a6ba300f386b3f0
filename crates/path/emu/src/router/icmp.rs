//! ICMP messages as a router writes them: RFC 792, 1191 and 1812 for IPv4, RFC 4443 for IPv6.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Addresses;
use crate::ip_packet::{Header, IPV4_HEADER, IPV6_HEADER, IpPacket, ones_sum};

pub(super) const UDP: u8 = 17;

/// Bytes of the ICMP header.
const HEADER: usize = 8;
/// The value that RFC 1700 recommends.
const TIME_TO_LIVE: u8 = 64;

/// How the messages of one family look.
struct Family {
    protocol: u8,
    echo: u8,
    echo_reply: u8,
    /// Types that are questions or their answers; the others are errors.
    questions: &'static [u8],
    time_exceeded: (u8, u8),
    too_large: (u8, u8),
    port_unreachable: (u8, u8),
    /// A message quotes as much as it can without being longer than this, headers included.
    message_max: usize,
    ip_header: usize,
    /// The TOS or traffic class of errors.
    class_of_errors: u8,
}

const V4: Family = Family {
    protocol: 1,
    echo: 8,
    echo_reply: 0,
    // Echo, timestamp, and the answers to both.
    questions: &[8, 0, 13, 14],
    time_exceeded: (11, 0),
    too_large: (3, 4),
    port_unreachable: (3, 3),
    // RFC 1812, section 4.3.2.3.
    message_max: 576,
    ip_header: IPV4_HEADER,
    // RFC 1812, section 4.3.2.5: internetwork control.
    class_of_errors: 0xc0,
};

const V6: Family = Family {
    protocol: 58,
    echo: 128,
    echo_reply: 129,
    questions: &[128, 129],
    time_exceeded: (3, 0),
    too_large: (2, 0),
    port_unreachable: (1, 4),
    // RFC 4443, section 2.4: the smallest MTU of IPv6.
    message_max: 1280,
    ip_header: IPV6_HEADER,
    class_of_errors: 0,
};

/// Why a packet goes no further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Its time to live has run out.
    TimeExceeded,
    /// The next link takes packets of `mtu` bytes at the most.
    TooLarge { mtu: u16 },
    /// No program listens on that port.
    PortUnreachable,
}

fn family(address: IpAddr) -> &'static Family {
    match address {
        IpAddr::V4(_) => &V4,
        IpAddr::V6(_) => &V6,
    }
}

/// The error about `packet` for its sender; `None` where none may be sent (RFC 1812, section
/// 4.3.2.7; RFC 4443, section 2.4).
pub(super) fn tell(packet: &IpPacket, from: Addresses, trouble: Trouble) -> Option<IpPacket> {
    let header = packet.header()?;
    let family = family(header.source);
    if header.fragment_offset != 0 || is_error(packet, &header, family) {
        return None;
    }
    let ((kind, code), mtu) = match trouble {
        Trouble::TimeExceeded => (family.time_exceeded, 0),
        Trouble::TooLarge { mtu } => (family.too_large, mtu),
        Trouble::PortUnreachable => (family.port_unreachable, 0),
    };
    let quoted = packet
        .head
        .len()
        .min(family.message_max - family.ip_header - HEADER);
    let mut message = vec![kind, code, 0, 0, 0, 0];
    // The next hop's MTU is in the last two bytes of the header (RFC 1191, section 4), which in
    // IPv6 has four bytes for it (RFC 4443, section 3.2).
    message.extend(mtu.to_be_bytes());
    message.extend(&packet.head[..quoted]);
    match header.source {
        IpAddr::V4(to) => Some(v4(from.v4, to, family.class_of_errors, message)),
        IpAddr::V6(to) => Some(v6(from.v6, to, family.class_of_errors, message)),
    }
}

/// The answer to what was sent to the router itself; `None` where it has nothing to say.
pub(super) fn answer(packet: &IpPacket) -> Option<IpPacket> {
    let header = packet.header()?;
    let family = family(header.source);
    let mut message = packet.head.get(header.length..)?.to_vec();
    let is_echo = header.protocol == family.protocol && message.first() == Some(&family.echo);
    if !is_echo || header.fragment_offset != 0 || message.len() < HEADER {
        return None;
    }
    message[0] = family.echo_reply;
    match (header.destination, header.source) {
        (IpAddr::V4(from), IpAddr::V4(to)) => Some(v4(from, to, packet.head[1], message)),
        (IpAddr::V6(from), IpAddr::V6(to)) => Some(v6(from, to, 0, message)),
        _ => None,
    }
}

/// Whether it is an ICMP message other than a question: no ICMP error is sent about an ICMP error.
fn is_error(packet: &IpPacket, header: &Header, family: &Family) -> bool {
    let kind = packet.head.get(header.length);
    let asks = kind.is_some_and(|kind| family.questions.contains(kind));
    header.protocol == family.protocol && !asks
}

fn v4(from: Ipv4Addr, to: Ipv4Addr, tos: u8, mut message: Vec<u8>) -> IpPacket {
    message[2..4].fill(0);
    let checksum = !ones_sum(&message);
    message[2..4].copy_from_slice(&checksum.to_be_bytes());
    let length = (IPV4_HEADER + message.len()) as u16;
    let mut packet = vec![0x45, tos];
    packet.extend(length.to_be_bytes());
    // Identification 0 and "don't fragment": it is short enough for everybody.
    packet.extend([0, 0, 0x40, 0, TIME_TO_LIVE, V4.protocol, 0, 0]);
    packet.extend(from.octets());
    packet.extend(to.octets());
    let checksum = !ones_sum(&packet);
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    packet.extend(message);
    IpPacket::from(packet)
}

fn v6(from: Ipv6Addr, to: Ipv6Addr, class: u8, mut message: Vec<u8>) -> IpPacket {
    message[2..4].fill(0);
    let length = message.len() as u16;
    // The checksum covers a header of its own (RFC 8200, section 8.1).
    let mut covered = [from.octets(), to.octets()].concat();
    covered.extend(u32::from(length).to_be_bytes());
    covered.extend([0, 0, 0, V6.protocol]);
    covered.extend(&message);
    let checksum = !ones_sum(&covered);
    message[2..4].copy_from_slice(&checksum.to_be_bytes());
    let mut packet = vec![0x60 | class >> 4, class << 4, 0, 0];
    packet.extend(length.to_be_bytes());
    packet.extend([V6.protocol, TIME_TO_LIVE]);
    packet.extend(from.octets());
    packet.extend(to.octets());
    packet.extend(message);
    IpPacket::from(packet)
}
