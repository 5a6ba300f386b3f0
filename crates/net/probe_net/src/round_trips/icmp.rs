//! ICMP echo: the unprivileged datagram socket where the host's `ping_group_range` allows it, a raw
//! one otherwise.
//!
//! Answers are known by the token in their payload, because the kernel chooses the identifier of a
//! datagram socket and shows a raw one the answers to all programs.

use std::io;
use std::mem::MaybeUninit;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

use measure_protocol::EchoToken;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use sockets::FarEnd;

/// Type, code, checksum, identifier, sequence number.
const HEADER: usize = 8;
/// Token and the full sequence number.
const PAYLOAD: usize = 16;
/// A whole request.
pub(crate) const REQUEST: usize = HEADER + PAYLOAD;

const REQUEST_V4: u8 = 8;
const REPLY_V4: u8 = 0;
const REQUEST_V6: u8 = 128;
const REPLY_V6: u8 = 129;

/// A connected ICMP socket.
#[derive(Debug)]
pub struct IcmpSocket {
    socket: Socket,
    token: EchoToken,
    family: Family,
}

/// Which ICMP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
}

impl Family {
    pub(crate) fn of(host: IpAddr) -> Self {
        match host {
            IpAddr::V4(_) => Family::V4,
            IpAddr::V6(_) => Family::V6,
        }
    }

    /// The type of an echo request.
    pub(crate) fn request(self) -> u8 {
        match self {
            Family::V4 => REQUEST_V4,
            Family::V6 => REQUEST_V6,
        }
    }
}

/// A socket that probes `host`, which does not wait.
pub(crate) fn connected(peer: &FarEnd) -> io::Result<Socket> {
    let host = peer.address.ip();
    let (domain, protocol) = match host {
        IpAddr::V4(_) => (Domain::IPV4, Protocol::ICMPV4),
        IpAddr::V6(_) => (Domain::IPV6, Protocol::ICMPV6),
    };
    let socket = Socket::new(domain, Type::DGRAM, Some(protocol))
        .or_else(|_| Socket::new(domain, Type::RAW, Some(protocol)))?;
    peer.prepare(&SockRef::from(&socket))?;
    socket.connect(&SocketAddr::new(host, 0).into())?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

impl IcmpSocket {
    /// A socket that probes `host`.
    pub(crate) fn open(host: &FarEnd, token: EchoToken) -> io::Result<Self> {
        let socket = connected(host)?;
        Ok(IcmpSocket {
            socket,
            token,
            family: Family::of(host.address.ip()),
        })
    }

    pub(crate) fn send(&self, sequence: u64) -> io::Result<()> {
        let packet = request(self.family, self.token, sequence);
        self.socket.send(&packet).map(drop)
    }

    /// The same in a packet of `size` bytes at the IP layer.
    pub(crate) fn send_sized(&self, sequence: u64, size: u16) -> io::Result<()> {
        let packet = sized_request(self.family, self.token, sequence, size);
        self.socket.send(&packet).map(drop)
    }

    pub(crate) fn receive(&self) -> Option<Option<u64>> {
        let mut buffer = [MaybeUninit::new(0u8); 256];
        let length = self.socket.recv(&mut buffer).ok()?;
        let packet: Vec<u8> = buffer.iter().take(length).map(initialised).collect();
        Some(answer(self.family, self.token, &packet))
    }
}

impl AsFd for IcmpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[expect(unsafe_code, reason = "socket2 hands the buffer back as it took it")]
fn initialised(byte: &MaybeUninit<u8>) -> u8 {
    // SAFETY: every byte of the buffer was written with zero before the kernel saw it.
    unsafe { byte.assume_init() }
}

/// The identifier of requests with `token`, where the kernel does not choose one.
pub(crate) fn identifier(token: EchoToken) -> u16 {
    token.0 as u16
}

/// An echo request with its checksum.
pub(crate) fn request(family: Family, token: EchoToken, sequence: u64) -> [u8; REQUEST] {
    let mut packet = [0; REQUEST];
    packet[0] = family.request();
    packet[4..6].copy_from_slice(&identifier(token).to_be_bytes());
    packet[6..8].copy_from_slice(&(sequence as u16).to_be_bytes());
    packet[HEADER..HEADER + 8].copy_from_slice(&token.0.to_be_bytes());
    packet[HEADER + 8..].copy_from_slice(&sequence.to_be_bytes());
    let sum = checksum(&packet);
    packet[2..4].copy_from_slice(&sum.to_be_bytes());
    packet
}

/// The same in a packet of `size` bytes at the IP layer, or in the least that holds it. The zeros
/// at its end change no checksum.
fn sized_request(family: Family, token: EchoToken, sequence: u64, size: u16) -> Vec<u8> {
    let ip_header = match family {
        Family::V4 => 20,
        Family::V6 => 40,
    };
    let length = usize::from(size).saturating_sub(ip_header);
    let mut packet = request(family, token, sequence).to_vec();
    packet.resize(length.max(REQUEST), 0);
    packet
}

/// The Internet checksum (RFC 1071); the kernel fills in ICMPv6's own.
pub(crate) fn checksum(packet: &[u8]) -> u16 {
    let pairs = packet.chunks(2).map(|pair| match pair {
        [high, low] => u16::from_be_bytes([*high, *low]),
        [high] => u16::from(*high) << 8,
        _ => 0,
    });
    !pairs.fold(0, sum_of)
}

/// The sum in ones' complement: what is carried out at the top comes in at the bottom.
pub(crate) fn sum_of(one: u16, other: u16) -> u16 {
    let (sum, carry) = one.overflowing_add(other);
    sum + u16::from(carry)
}

/// The sequence number when `packet` is an answer to one of ours.
pub(crate) fn answer(family: Family, token: EchoToken, packet: &[u8]) -> Option<u64> {
    let message = packet.get(ip_header(family, packet)..)?;
    let reply = match family {
        Family::V4 => REPLY_V4,
        Family::V6 => REPLY_V6,
    };
    let is_reply = message.first() == Some(&reply);
    number_of(token, message).filter(|_| is_reply)
}

/// The sequence number in an echo message with our token.
pub(crate) fn number_of(token: EchoToken, message: &[u8]) -> Option<u64> {
    let number = |at: usize| {
        let eight = message.get(at..at + 8)?;
        Some(u64::from_be_bytes(eight.try_into().ok()?))
    };
    let ours = number(HEADER) == Some(token.0);
    number(HEADER + 8).filter(|_| ours)
}

/// A raw IPv4 socket shows the IP header too; its first half byte is 4, which no echo type has.
fn ip_header(family: Family, packet: &[u8]) -> usize {
    match (family, packet.first()) {
        (Family::V4, Some(first)) if first >> 4 == 4 => usize::from(first & 0x0F) * 4,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(family: Family) -> Vec<u8> {
        let mut packet = request(family, EchoToken(77), 70_000).to_vec();
        packet[0] = match family {
            Family::V4 => REPLY_V4,
            Family::V6 => REPLY_V6,
        };
        packet
    }

    #[test]
    fn a_packet_with_its_checksum_sums_to_zero() {
        assert_eq!(checksum(&request(Family::V4, EchoToken(7), 3)), 0);
    }

    #[test]
    fn sizes_are_those_at_the_ip_layer() {
        for (family, header) in [(Family::V4, 20), (Family::V6, 40)] {
            for (size, length) in [
                (1028, 1028 - header),
                (0, REQUEST),
                (u16::MAX, 65_535 - header),
            ] {
                let packet = sized_request(family, EchoToken(7), 3, size);
                assert_eq!((packet.len(), checksum(&packet)), (length, 0));
            }
        }
    }

    #[test]
    fn answers_are_known_with_and_without_the_ip_header() {
        let token = EchoToken(77);
        assert_eq!(answer(Family::V6, token, &reply(Family::V6)), Some(70_000));
        let mut raw = vec![0x45; 20];
        raw.extend(reply(Family::V4));
        assert_eq!(answer(Family::V4, token, &raw), Some(70_000));
        assert_eq!(answer(Family::V4, token, &reply(Family::V4)), Some(70_000));
    }

    #[test]
    fn requests_strangers_and_fragments_are_no_answers() {
        let request = request(Family::V4, EchoToken(77), 1);
        assert_eq!(answer(Family::V4, EchoToken(77), &request), None);
        assert_eq!(answer(Family::V4, EchoToken(78), &reply(Family::V4)), None);
        assert_eq!(answer(Family::V4, EchoToken(77), &[0x4F]), None);
        assert_eq!(answer(Family::V4, EchoToken(77), &[]), None);
    }
}
