//! Echo requests over UDP, from one port to one port.
//!
//! Towards a trunkline server they go to its echo service, with the token of a session: it answers
//! as many as come. Other hosts answer that the port is closed; Linux sends one such message a
//! second to each host and six in a burst (`icmp_ratelimit` of icmp(7)).

use std::io;
use std::net::{IpAddr, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;

use measure_protocol::EchoToken;
use measure_protocol::echo::{Echo, EchoKind};
use units::Span;

use super::message::{self, Message};
use super::{
    Answer, HOPS_PLENTY, ProbeFlow, Said, SizedProbeFlow, answer, send_through, socket_options,
};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use sockets::FarEnd;
use sockets::poll::{readable, wait};

/// First port of traceroute, unused by convention.
pub(crate) const PORT_UNUSED: u16 = 33_434;
const UDP_HEADER: u16 = 8;

/// A connected UDP socket.
#[derive(Debug)]
pub(crate) struct UdpFlow {
    socket: UdpSocket,
    token: EchoToken,
    far: IpAddr,
    /// Whether the port is closed, so that answers are ICMP messages.
    is_rate_limited: bool,
}

impl UdpFlow {
    /// To `far`, where requests with `token` may be answered.
    pub(crate) fn open(peer: &FarEnd, token: EchoToken) -> io::Result<Self> {
        let far = peer.address;
        let socket = Socket::new(Domain::for_address(far), Type::DGRAM, Some(Protocol::UDP))?;
        peer.prepare(&SockRef::from(&socket))?;
        let socket = UdpSocket::from(socket);
        socket_options::listen_to_routers(&socket, far.ip())?;
        socket.connect(far)?;
        socket.set_nonblocking(true)?;
        Ok(UdpFlow {
            socket,
            token,
            far: far.ip(),
            is_rate_limited: far.port() == PORT_UNUSED,
        })
    }

    /// The same with packets that must not be fragmented.
    pub(crate) fn open_whole(far: &FarEnd, token: EchoToken) -> io::Result<Self> {
        let flow = UdpFlow::open(far, token)?;
        socket_options::send_whole(&flow.socket, flow.far)?;
        socket_options::set_hops(&flow.socket, flow.far, HOPS_PLENTY)?;
        Ok(flow)
    }

    /// Its port here; zero where the kernel does not tell.
    pub(crate) fn port(&self) -> u16 {
        self.socket.local_addr().map_or(0, |address| address.port())
    }

    /// From now on requests carry this one.
    pub(crate) fn set_token(&mut self, token: EchoToken) {
        self.token = token;
    }

    fn request(&self, number: u64) -> Echo {
        Echo::request(self.token, number, 0)
    }

    /// The answer of the echo service.
    fn reply(&self, message: &Message) -> Option<Answer> {
        let echo = Echo::decode(&message.bytes).ok()?;
        let ours = echo.kind == EchoKind::Reply && echo.token == self.token;
        ours.then_some(Answer {
            probe: Some(echo.sequence),
            age: message.age,
            said: Said::Arrived(self.far),
        })
    }
}

impl ProbeFlow for UdpFlow {
    fn at_once(&self) -> usize {
        usize::MAX
    }

    fn timeout_max(&self) -> Span {
        Span::MAX
    }

    fn is_rate_limited(&self) -> bool {
        self.is_rate_limited
    }

    fn send(&mut self, number: u64, hops: u8) -> io::Result<()> {
        self.limit_hops(hops)?;
        let request = self.request(number).encode();
        send_through(|| self.socket.send(&request))
    }

    fn receive(&mut self) -> Option<Answer> {
        // Reading the queue first also takes its errors off the socket.
        while let Some(message) = message::notice(self.socket.as_fd()) {
            let number = |quoted: &[u8]| Echo::quoted(self.token, quoted);
            let answer = answer(&message, self.far, number);
            if answer.is_some() {
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

impl SizedProbeFlow for UdpFlow {
    fn send_sized(&mut self, number: u64, size: u16) -> io::Result<()> {
        let headers = headers(self.far) + UDP_HEADER;
        let length = usize::from(size.saturating_sub(headers));
        let request = self.request(number).encode_padded(length);
        send_through(|| self.socket.send(&request))
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

/// What every path carries whole: what hosts of IPv4 need to take (RFC 791), and the least MTU of
/// IPv6 (RFC 8200).
pub(super) fn smallest_path(far: IpAddr) -> u16 {
    match far {
        IpAddr::V4(_) => 576,
        IpAddr::V6(_) => 1_280,
    }
}

/// The IP header, without options.
pub(super) fn headers(far: IpAddr) -> u16 {
    match far {
        IpAddr::V4(_) => 20,
        IpAddr::V6(_) => 40,
    }
}
