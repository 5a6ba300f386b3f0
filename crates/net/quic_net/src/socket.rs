//! A UDP socket that sends and receives many packets in one call.

use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags};
use quinn_proto::EcnCodepoint;
use quinn_udp::{RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use sockets::FarEnd;
use sockets::options::get_option;
use sockets::poll::wait;

/// Room for what one call receives: so many batches of the kernel's largest.
const BATCHES: usize = 8;
const BATCH_BYTES: usize = 1 << 16;
/// Wanted buffers of the kernel; it grants what `net.core.rmem_max` and `wmem_max` allow.
const BUFFER: usize = 8 << 20;
/// The longest wait for a device that takes no packets. After it a packet counts as lost.
const FULL_MAX: Duration = Duration::from_millis(20);

/// Bytes of headers below UDP's payload: IPv4 or IPv6, and UDP.
const HEADERS_V4: u32 = 28;
const HEADERS_V6: u32 = 48;
/// Payload of a packet where the route's size is not known: 1,500 bytes with IPv6.
const PACKET_USUAL: u16 = 1452;
/// Packets of more than 9,000 bytes are rare on devices, and more bytes make few calls fewer.
const PACKET_MOST: u32 = 8952;

/// Packets that came together.
pub(crate) struct Batch<'a> {
    pub from: SocketAddr,
    /// The address of this host to which they came.
    pub to: Option<IpAddr>,
    /// What queues on the way, or the other end, said of congestion.
    pub ecn: Option<EcnCodepoint>,
    /// The length of each, but for the last, which may be shorter.
    pub stride: usize,
    /// All of them.
    pub bytes: &'a [u8],
}

/// The socket with its buffers.
pub(crate) struct PacketSocket {
    socket: UdpSocket,
    state: UdpSocketState,
    buffers: Vec<u8>,
}

impl PacketSocket {
    /// Takes a bound socket over.
    pub fn new(socket: UdpSocket) -> io::Result<Self> {
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        socket.set_nonblocking(true)?;
        let options = SockRef::from(&socket);
        // Smaller ones serve, with more losses on fast paths.
        let _ = options.set_recv_buffer_size(BUFFER);
        let _ = options.set_send_buffer_size(BUFFER);
        Ok(PacketSocket {
            socket,
            state,
            buffers: vec![0; BATCHES * BATCH_BYTES],
        })
    }

    /// Packets that leave in one call.
    pub fn segments_max(&self) -> usize {
        self.state.max_gso_segments().max(1)
    }

    /// Whether packets are never cut on the way.
    pub fn finds_packet_size(&self) -> bool {
        !self.state.may_fragment()
    }

    /// Tells `take` of each batch of packets that has come. Returns how many there were.
    pub fn receive(&mut self, take: &mut dyn FnMut(Batch<'_>)) -> io::Result<usize> {
        let mut metas = [RecvMeta::default(); BATCHES];
        let mut slices = self.buffers.chunks_mut(BATCH_BYTES).map(IoSliceMut::new);
        let mut slices: [IoSliceMut<'_>; BATCHES] =
            std::array::from_fn(|_| slices.next().unwrap_or_else(|| IoSliceMut::new(&mut [])));
        let reference = UdpSockRef::from(&self.socket);
        let count = self.state.recv(reference, &mut slices, &mut metas)?;
        for (meta, bytes) in metas.iter().zip(&slices).take(count) {
            take(Batch {
                from: meta.addr,
                to: meta.dst_ip,
                ecn: meta.ecn.and_then(|ecn| EcnCodepoint::from_bits(ecn as u8)),
                stride: meta.stride.max(1),
                bytes: bytes.get(..meta.len).unwrap_or_default(),
            });
        }
        Ok(count)
    }

    /// Sends one batch. A full device is waited for a moment.
    pub fn send(&self, transmit: &quinn_proto::Transmit, bytes: &[u8]) -> io::Result<()> {
        let transmit = Transmit {
            destination: transmit.destination,
            ecn: transmit
                .ecn
                .and_then(|ecn| quinn_udp::EcnCodepoint::from_bits(ecn as u8)),
            contents: bytes.get(..transmit.size).unwrap_or_default(),
            segment_size: transmit.segment_size,
            src_ip: transmit.src_ip,
        };
        let send = || {
            let reference = UdpSockRef::from(&self.socket);
            self.state.try_send(reference, &transmit)
        };
        match send() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let mut watched = [PollFd::new(self.socket.as_fd(), PollFlags::POLLOUT)];
                wait(&mut watched, FULL_MAX)?;
                send()
            }
            other => other,
        }
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// A socket that talks to `peer` alone, and learns that no program listens there.
pub(crate) fn towards(far: &FarEnd) -> io::Result<UdpSocket> {
    let domain = Domain::for_address(far.address);
    let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
    far.prepare_at(&SockRef::from(&socket), 0)?;
    socket.connect(&far.address.into())?;
    Ok(socket.into())
}

/// Bytes of UDP payload that the route to `peer` takes, as far as this host knows.
pub(crate) fn packet_max(peer: SocketAddr) -> u16 {
    let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
    known_packet_max(peer).unwrap_or(PACKET_USUAL)
}

fn known_packet_max(peer: SocketAddr) -> Option<u16> {
    let socket = towards(&peer.into()).ok()?;
    let (level, name, headers) = match peer {
        SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_MTU, HEADERS_V4),
        SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_MTU, HEADERS_V6),
    };
    let size = get_option(&SockRef::from(&socket), level, name).ok()?;
    let size = u32::try_from(size).ok()?.checked_sub(headers)?;
    u16::try_from(size.min(PACKET_MOST)).ok()
}
