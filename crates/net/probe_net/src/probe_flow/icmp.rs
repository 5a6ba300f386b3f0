//! Echo requests over ICMP with one identifier and one checksum.
//!
//! The number is in the payload; the sequence number has its last 16 bits, which the eight bytes
//! that every router quotes (RFC 792) still show. The far kernel answers them without a limit by
//! default.

use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::time::Duration;

use measure_protocol::EchoToken;
use socket2::{Socket, Type};
use units::Span;

use super::message::{self, Message};
use super::udp::{headers, smallest_path};
use super::{
    Answer, HOPS_PLENTY, ProbeFlow, Said, SizedProbeFlow, answer, completed, send_through,
    socket_options,
};
use crate::round_trips::icmp::{self, Family};
use sockets::FarEnd;
use sockets::poll::{readable, wait};

/// Echo header, token and number, and what keeps the checksum.
const LENGTH: usize = icmp::REQUEST + BALANCE;
const BALANCE: usize = 2;

/// A connected ICMP socket.
#[derive(Debug)]
pub(crate) struct IcmpFlow {
    socket: Socket,
    token: EchoToken,
    far: IpAddr,
    family: Family,
    /// Identifier of a raw socket, which is told about all programs' packets; the kernel filters
    /// for the other kind.
    identifier: Option<u16>,
    latest: u64,
}

impl IcmpFlow {
    /// To `far`; an error where this user may open neither kind of ICMP socket.
    pub(crate) fn open(peer: &FarEnd, token: EchoToken) -> io::Result<Self> {
        let far = peer.ip();
        let socket = icmp::connected(peer)?;
        socket_options::listen_to_routers(&socket, far)?;
        Ok(IcmpFlow {
            token,
            far,
            family: Family::of(far),
            identifier: (socket.r#type()? == Type::RAW).then_some(icmp::identifier(token)),
            socket,
            latest: 0,
        })
    }

    /// The same with packets that must not be fragmented.
    pub(crate) fn open_whole(peer: &FarEnd, token: EchoToken) -> io::Result<Self> {
        let far = peer.ip();
        let flow = IcmpFlow::open(peer, token)?;
        socket_options::send_whole(&flow.socket, far)?;
        socket_options::set_hops(&flow.socket, far, HOPS_PLENTY)?;
        Ok(flow)
    }

    fn send_long(&mut self, number: u64, length: usize) -> io::Result<()> {
        self.latest = number;
        let packet = balanced(self.family, self.token, number, length);
        send_through(|| self.socket.send(&packet))
    }

    fn reply(&self, message: &Message) -> Option<Answer> {
        let number = icmp::answer(self.family, self.token, &message.bytes)?;
        Some(Answer {
            probe: Some(number),
            age: message.age,
            said: Said::Arrived(self.far),
        })
    }
}

impl ProbeFlow for IcmpFlow {
    fn at_once(&self) -> usize {
        usize::MAX
    }

    fn timeout_max(&self) -> Span {
        Span::MAX
    }

    fn is_rate_limited(&self) -> bool {
        false
    }

    fn send(&mut self, number: u64, hops: u8) -> io::Result<()> {
        self.limit_hops(hops)?;
        self.send_long(number, LENGTH)
    }

    fn receive(&mut self) -> Option<Answer> {
        while let Some(message) = message::notice(self.socket.as_fd()) {
            let number = |quotation: &[u8]| {
                let Self { family, token, .. } = *self;
                quoted(family, token, self.identifier, quotation, self.latest)
            };
            let answer = answer(&message, self.far, number);
            if answer.is_some_and(|answer| answer.probe.is_some()) {
                return answer;
            }
        }
        while let Some(message) = message::datagram(self.socket.as_fd()) {
            let reply = self.reply(&message);
            if reply.is_some() {
                return reply;
            }
        }
        None
    }

    fn wait(&self, limit: Duration) {
        // A failed wait is a short one: the loop looks at the clock again.
        let _ = wait(&mut [readable(self.socket.as_fd())], limit);
    }
}

impl SizedProbeFlow for IcmpFlow {
    fn send_sized(&mut self, number: u64, size: u16) -> io::Result<()> {
        let length = usize::from(size.saturating_sub(headers(self.far)));
        self.send_long(number, length.max(LENGTH))
    }

    fn limit_hops(&self, hops: u8) -> io::Result<()> {
        socket_options::set_hops(&self.socket, self.far, hops)
    }

    fn believed(&self) -> Option<u32> {
        socket_options::path_mtu(self.socket.as_fd(), self.far)
    }

    fn floor(&self) -> u16 {
        smallest_path(self.far)
    }
}

/// An echo request of `length` bytes whose checksum does not depend on `number`.
///
/// Two bytes of the payload are chosen for that. The kernel puts an identifier of its own into what
/// a datagram socket sends, the same each time, so that the checksum becomes another but stays the
/// same too. So it does in ICMPv6, whose checksum the kernel fills in over the addresses as well.
fn balanced(family: Family, token: EchoToken, number: u64, length: usize) -> Vec<u8> {
    let mut packet = icmp::request(family, token, number).to_vec();
    packet.resize(length.max(LENGTH), 0);
    let plain = icmp::checksum(&without_checksum(&packet));
    // In ones' complement: what is added to the sum is taken from the checksum.
    let balance = icmp::sum_of(!CHECKSUM, plain);
    packet[icmp::REQUEST..LENGTH].copy_from_slice(&balance.to_be_bytes());
    packet[2..4].copy_from_slice(&CHECKSUM.to_be_bytes());
    packet
}

/// The checksum of all requests, but for what the kernel adds: any value but the two zeros of ones'
/// complement.
const CHECKSUM: u16 = 0x544C;

fn without_checksum(packet: &[u8]) -> Vec<u8> {
    let mut packet = packet.to_vec();
    packet[2..4].fill(0);
    packet
}

/// The number of our request that a router quotes, from its ICMP header on.
///
/// * `identifier`: that of a raw socket; a datagram socket is told about its own packets alone.
pub(crate) fn quoted(
    family: Family,
    token: EchoToken,
    identifier: Option<u16>,
    quotation: &[u8],
    latest: u64,
) -> Option<u64> {
    let word = |at: usize| {
        let two = quotation.get(at..at + 2)?;
        Some(u16::from_be_bytes(two.try_into().ok()?))
    };
    if quotation.first() != Some(&family.request()) {
        return None;
    }
    match icmp::number_of(token, quotation) {
        Some(number) => Some(number),
        // Quoted far enough to show that it is another's.
        None if quotation.len() >= icmp::REQUEST => None,
        None if identifier.is_some_and(|own| word(4) != Some(own)) => None,
        None => word(6).map(|low| completed(low, latest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: EchoToken = EchoToken(0x0123_4567_89AB_CDEF);

    #[test]
    fn the_checksum_is_right_and_the_same_for_every_number() {
        for family in [Family::V4, Family::V6] {
            for number in [0, 1, 2, 255, 65_535, 65_536, u64::MAX] {
                for length in [0, 64, 1_001] {
                    let packet = balanced(family, TOKEN, number, length);
                    // A packet with its right checksum sums to zero (RFC 1071).
                    assert_eq!(icmp::checksum(&packet), 0, "{number} in {length}");
                    assert_eq!(packet[2..4], CHECKSUM.to_be_bytes());
                    assert_eq!(packet.len(), length.max(LENGTH));
                }
            }
        }
    }

    #[test]
    fn eight_quoted_bytes_are_enough() {
        let packet = balanced(Family::V4, TOKEN, 70_000, 0);
        let own = Some(0xCDEF);
        for length in [8, 16, LENGTH] {
            let quotation = &packet[..length];
            assert_eq!(
                quoted(Family::V4, TOKEN, own, quotation, 70_003),
                Some(70_000),
                "{length}"
            );
        }
        assert_eq!(quoted(Family::V4, TOKEN, own, &packet[..7], 70_003), None);
        assert_eq!(quoted(Family::V4, TOKEN, own, &[], 70_003), None);
    }

    #[test]
    fn requests_of_others_are_not_ours() {
        let theirs = balanced(Family::V4, EchoToken(1), 5, 0);
        assert_eq!(quoted(Family::V4, TOKEN, None, &theirs, 9), None);
        assert_eq!(
            quoted(Family::V4, TOKEN, Some(0xCDEF), &theirs[..8], 9),
            None
        );
        let mut reply = balanced(Family::V4, TOKEN, 5, 0);
        reply[0] = 0;
        assert_eq!(quoted(Family::V4, TOKEN, None, &reply, 9), None);
    }
}
