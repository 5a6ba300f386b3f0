//! ICMP messages as a router writes them (RFC 792, 1191, 1812).

use std::net::Ipv4Addr;

use crate::ip_packet::{IPV4_HEADER, IpPacket, Ipv4, ones_sum};

pub(super) const UDP: u8 = 17;
const ICMP: u8 = 1;

const ECHO_REPLY: u8 = 0;
const UNREACHABLE: u8 = 3;
const ECHO: u8 = 8;
const TIME_EXCEEDED: u8 = 11;
const PORT: u8 = 3;
const FRAGMENTATION_NEEDED: u8 = 4;

/// Bytes of the ICMP header.
const HEADER: usize = 8;
/// RFC 1812, section 4.3.2.3: a message quotes as much as it can without being longer than this.
const MESSAGE_MAX: usize = 576;
/// RFC 1812, section 4.3.2.5: errors are sent with this precedence, internetwork control.
const INTERNETWORK_CONTROL: u8 = 0xc0;
/// The value that RFC 1700 recommends.
const TIME_TO_LIVE: u8 = 64;

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

/// The error about `packet` for its sender; `None` where none may be sent (RFC 1812, section
/// 4.3.2.7).
pub(super) fn tell(packet: &IpPacket, from: Ipv4Addr, trouble: Trouble) -> Option<IpPacket> {
    let header = packet.ipv4()?;
    if header.fragment_offset != 0 || is_error(packet, &header) {
        return None;
    }
    let (kind, code, mtu) = match trouble {
        Trouble::TimeExceeded => (TIME_EXCEEDED, 0, 0),
        Trouble::TooLarge { mtu } => (UNREACHABLE, FRAGMENTATION_NEEDED, mtu),
        Trouble::PortUnreachable => (UNREACHABLE, PORT, 0),
    };
    let quoted = packet.0.len().min(MESSAGE_MAX - IPV4_HEADER - HEADER);
    let mut message = vec![kind, code, 0, 0, 0, 0];
    // RFC 1191, section 4: the next hop's MTU is in the last two bytes of the header.
    message.extend(mtu.to_be_bytes());
    message.extend(&packet.0[..quoted]);
    Some(datagram(from, header.source, INTERNETWORK_CONTROL, message))
}

/// The answer to what was sent to the router itself; `None` where it has nothing to say.
pub(super) fn answer(packet: &IpPacket) -> Option<IpPacket> {
    let header = packet.ipv4()?;
    let mut message = packet.0.get(header.length..)?.to_vec();
    if header.protocol != ICMP || header.fragment_offset != 0 || message.first() != Some(&ECHO) {
        return None;
    }
    if message.len() < HEADER {
        return None;
    }
    message[0] = ECHO_REPLY;
    let tos = packet.0[1];
    Some(datagram(header.destination, header.source, tos, message))
}

/// Whether it is an ICMP message other than a question: no ICMP error is sent about an ICMP error.
fn is_error(packet: &IpPacket, header: &Ipv4) -> bool {
    // Echo, timestamp, and the answers to both.
    let questions = [ECHO, ECHO_REPLY, 13, 14];
    let kind = packet.0.get(header.length);
    header.protocol == ICMP && !kind.is_some_and(|kind| questions.contains(kind))
}

fn datagram(from: Ipv4Addr, to: Ipv4Addr, tos: u8, mut message: Vec<u8>) -> IpPacket {
    message[2..4].fill(0);
    let checksum = !ones_sum(&message);
    message[2..4].copy_from_slice(&checksum.to_be_bytes());
    let length = (IPV4_HEADER + message.len()) as u16;
    let mut packet = vec![0x45, tos];
    packet.extend(length.to_be_bytes());
    // Identification 0 and "don't fragment": it is short enough for everybody.
    packet.extend([0, 0, 0x40, 0, TIME_TO_LIVE, ICMP, 0, 0]);
    packet.extend(from.octets());
    packet.extend(to.octets());
    let checksum = !ones_sum(&packet);
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    packet.extend(message);
    IpPacket(packet)
}
