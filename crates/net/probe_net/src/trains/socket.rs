//! A datagram socket fit for trains.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use measure_protocol::EchoToken;
use measure_protocol::trains::{DATAGRAM_LENGTH, Datagram, DatagramKind};
use nix::errno::Errno;
use nix::sys::socket::{setsockopt, sockopt};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use sockets::FarEnd;
use sockets::options::{get_option, set_option};
use units::Bytes;

/// Room for a train of 1,000 full packets at either end, as the kernel counts them.
const BUFFER: usize = 4 << 20;
/// The kernel begins to stamp packets a moment after it is asked, and fills in the time of reading
/// until then.
const UNTIL_STAMPED: Duration = Duration::from_millis(5);

/// Connected to the other end of a session.
#[derive(Debug)]
pub struct TrainSocket {
    socket: UdpSocket,
    peer: SocketAddr,
    token: EchoToken,
}

/// The server's socket that receives all datagrams.
#[derive(Debug, Clone, Copy)]
pub struct SharedPort<'a> {
    /// It.
    pub shared: &'a UdpSocket,
    /// Held while its port may be shared.
    pub lock: &'a Mutex<()>,
}

/// Bytes of the IP and UDP headers in front of a datagram without options (RFC 791, RFC 8200, RFC
/// 768).
pub(crate) fn headers(host: IpAddr) -> usize {
    match host {
        IpAddr::V4(_) => 20 + 8,
        IpAddr::V6(_) => 40 + 8,
    }
}

/// The smallest packet of a train to or from `host`.
pub fn least_packet(host: IpAddr) -> Bytes {
    Bytes::new((headers(host) + DATAGRAM_LENGTH) as u64)
}

impl SharedPort<'_> {
    /// A socket from `local`, where the shared one is bound too, towards one client.
    pub fn connected(self, local: SocketAddr, peer: SocketAddr) -> io::Result<Socket> {
        let socket = Socket::new(Domain::for_address(peer), Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_reuse_address(true)?;
        // Shared for this moment only: at other times no other process may take the port.
        let held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let everybodys = SockRef::from(self.shared);
        everybodys.set_reuse_address(true)?;
        let bound = socket.bind(&local.into());
        everybodys.set_reuse_address(false)?;
        let connected = bound.and_then(|()| socket.connect(&peer.into()));
        drop(held);
        connected.map(|()| socket)
    }
}

impl TrainSocket {
    /// A client's, towards the server.
    pub fn towards(peer: &FarEnd, token: EchoToken) -> io::Result<Self> {
        let address = peer.address;
        let socket = Socket::new(
            Domain::for_address(address),
            Type::DGRAM,
            Some(Protocol::UDP),
        )?;
        peer.prepare(&SockRef::from(&socket))?;
        socket.connect(&address.into())?;
        TrainSocket::connected(socket, address, token)
    }

    /// A server's, from `local`, where its shared socket is bound too, towards one client: the
    /// kernel gives what comes from that client to this socket and everything else to the shared
    /// one.
    pub fn on_shared_port(
        shared: SharedPort<'_>,
        local: SocketAddr,
        peer: SocketAddr,
        token: EchoToken,
    ) -> io::Result<Self> {
        let socket = shared.connected(local, peer)?;
        TrainSocket::connected(socket, peer, token)
    }

    fn connected(socket: Socket, peer: SocketAddr, token: EchoToken) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let socket = TrainSocket {
            socket: socket.into(),
            peer,
            token,
        };
        socket.forbid_fragments()?;
        socket.widen()?;
        setsockopt(&socket.socket, sockopt::ReceiveTimestampns, &true)?;
        thread::sleep(UNTIL_STAMPED);
        Ok(socket)
    }

    /// The other end.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// What marks the datagrams of this session.
    pub(super) fn token(&self) -> EchoToken {
        self.token
    }

    /// Bytes of headers in front of each datagram.
    pub(super) fn headers(&self) -> usize {
        headers(self.peer.ip())
    }

    /// The largest packet that passes, as far as the kernel knows.
    pub fn mtu(&self) -> io::Result<Bytes> {
        let (level, name) = match self.peer {
            SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_MTU),
            SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_MTU),
        };
        let bytes = get_option(&SockRef::from(&self.socket), level, name)?;
        Ok(Bytes::new(u64::try_from(bytes).unwrap_or(0)))
    }

    /// Shows the server where this client is, for train `number`. One that cannot be sent is
    /// repeated.
    pub fn open(&self, number: u32) {
        let opener = Datagram {
            kind: DatagramKind::Opener,
            token: self.token,
            train: number,
            packet: 0,
        };
        let _ = self.socket.send(&opener.encode());
    }

    /// Hands one datagram to the kernel.
    pub(super) fn send(&self, datagram: &[u8]) -> io::Result<usize> {
        self.socket.send(datagram)
    }

    /// A packet that is too large is an error here, not several packets on the way.
    fn forbid_fragments(&self) -> io::Result<()> {
        let socket = SockRef::from(&self.socket);
        let (level, name, value) = match self.peer {
            SocketAddr::V4(_) => (
                libc::IPPROTO_IP,
                libc::IP_MTU_DISCOVER,
                libc::IP_PMTUDISC_DO,
            ),
            SocketAddr::V6(_) => (
                libc::IPPROTO_IPV6,
                libc::IPV6_MTU_DISCOVER,
                libc::IPV6_PMTUDISC_DO,
            ),
        };
        set_option(&socket, level, name, &value)
    }

    /// Makes room for whole trains; who is not root gets what the host grants.
    fn widen(&self) -> io::Result<()> {
        let socket = SockRef::from(&self.socket);
        socket.set_send_buffer_size(BUFFER)?;
        socket.set_recv_buffer_size(BUFFER)?;
        let forced = setsockopt(&self.socket, sockopt::SndBufForce, &BUFFER)
            .and_then(|()| setsockopt(&self.socket, sockopt::RcvBufForce, &BUFFER));
        match forced {
            Ok(()) | Err(Errno::EPERM) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for TrainSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
