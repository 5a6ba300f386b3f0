//! A stream's connection, as threads other than its own read and set it.

use std::io::{self, ErrorKind};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use observe::{Buffers, MultipathConnection, TcpSample, Transport, UDP_CONTROL};
use socket2::SockRef;
use units::{Bytes, Rate, Span, Time};

use sockets::multipath;
use sockets::options::{self, OptionError, StreamOptions};
use units::Dscp;

/// A connection that another thread reads or writes. Clones mean the same one.
#[derive(Debug, Clone)]
pub struct StreamHandle(Carrier);

#[derive(Debug, Clone)]
enum Carrier {
    Tcp(Arc<TcpStream>),
    Udp(quic_net::Handle),
}

impl StreamHandle {
    pub(super) fn new(socket: &Arc<TcpStream>) -> Self {
        StreamHandle(Carrier::Tcp(Arc::clone(socket)))
    }

    pub(super) fn over_udp(handle: quic_net::Handle) -> Self {
        StreamHandle(Carrier::Udp(handle))
    }

    /// What the kernel tells about it now, or this program's own sender of datagrams; `at` is what
    /// the reading is stamped with.
    ///
    /// # Errors
    /// When the socket is no longer a connection.
    pub fn sample(&self, at: Time) -> io::Result<TcpSample> {
        match &self.0 {
            Carrier::Tcp(socket) => multipath::sample(socket, at),
            Carrier::Udp(handle) => Ok(handle.sample(at)),
        }
    }

    /// What it goes over where this end asked for multipath TCP; `None` of others.
    pub fn multipath(&self) -> Option<MultipathConnection> {
        match &self.0 {
            Carrier::Tcp(socket) => multipath::read(socket),
            Carrier::Udp(_) => None,
        }
    }

    /// What carries it.
    pub fn transport(&self) -> Transport {
        match &self.0 {
            Carrier::Tcp(_) => Transport::Tcp,
            Carrier::Udp(_) => Transport::Udp,
        }
    }

    /// Its buffers as the kernel granted them.
    ///
    /// # Errors
    /// When the kernel does not tell; over UDP always, because they follow the path.
    pub fn buffers(&self) -> io::Result<Buffers> {
        match &self.0 {
            Carrier::Tcp(socket) => StreamOptions::default().granted(socket),
            Carrier::Udp(_) => Err(ErrorKind::Unsupported.into()),
        }
    }

    /// The congestion control in use: the kernel's name for its own, or that of ours over UDP.
    pub fn congestion(&self) -> Option<String> {
        match &self.0 {
            Carrier::Tcp(socket) => options::congestion(socket),
            Carrier::Udp(_) => Some(UDP_CONTROL.to_owned()),
        }
    }

    /// Whether the peer has acknowledged all that was written; over UDP, once what was written is
    /// ended with [`Channel::finish`](crate::Channel::finish).
    pub fn has_delivered_all(&self) -> bool {
        match &self.0 {
            Carrier::Tcp(socket) => multipath::sample(socket, Time::ZERO).is_ok_and(|sample| {
                let is_sent = sample.not_sent.is_none_or(|left| left == Bytes::ZERO);
                is_sent && sample.unacked_segments == Some(0)
            }),
            Carrier::Udp(handle) => handle.is_delivered(),
        }
    }

    /// Sets options on the running connection; those that are `None` stay as they are. Over UDP
    /// there are none to set.
    ///
    /// # Errors
    /// When the kernel refuses one; the others are set.
    pub fn set(&self, options: &StreamOptions) -> Result<(), OptionError> {
        match &self.0 {
            Carrier::Tcp(socket) => options.apply(&SockRef::from(&**socket)),
            Carrier::Udp(_) => Ok(()),
        }
    }

    /// It sends at most so fast from now on; `None` lifts the bound.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn set_pacing(&self, rate: Option<Rate>) -> Result<(), OptionError> {
        match &self.0 {
            Carrier::Tcp(socket) => options::set_pacing_max(&SockRef::from(&**socket), rate),
            Carrier::Udp(handle) => {
                handle.set_pacing(rate);
                Ok(())
            }
        }
    }

    /// Marks the packets to come; over UDP they stay unmarked.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn set_dscp(&self, dscp: Dscp) -> Result<(), OptionError> {
        match &self.0 {
            Carrier::Tcp(socket) => options::set_dscp(&SockRef::from(&**socket), dscp),
            Carrier::Udp(_) => Ok(()),
        }
    }

    /// Processor time of the thread that sends and receives its packets; `None` where the kernel
    /// does that, or one thread for several streams.
    pub fn driver_cpu(&self) -> Option<Span> {
        match &self.0 {
            Carrier::Tcp(_) => None,
            Carrier::Udp(handle) => handle.driver_cpu(),
        }
    }

    /// Whether the other end has closed it or shut it down; a thread that only writes, and has
    /// nothing to write, does not notice.
    pub fn is_let_go(&self) -> bool {
        let socket = match &self.0 {
            Carrier::Tcp(socket) => socket,
            Carrier::Udp(handle) => return handle.is_over(),
        };
        let closed = PollFlags::from_bits_retain(libc::POLLRDHUP);
        let mut watched = [PollFd::new(socket.as_fd(), closed)];
        // Nothing else was asked for, and a broken connection is told unasked.
        poll(&mut watched, PollTimeout::ZERO).is_ok_and(|count| count > 0)
    }

    /// Ends both directions: threads that read or write are woken with an end or an error.
    pub fn shut_down(&self) {
        match &self.0 {
            // It may have ended by itself.
            Carrier::Tcp(socket) => drop(socket.shutdown(Shutdown::Both)),
            Carrier::Udp(handle) => handle.shut_down(),
        }
    }

    /// Where the other end is.
    ///
    /// # Errors
    /// When the connection is gone.
    pub fn peer(&self) -> io::Result<SocketAddr> {
        match &self.0 {
            Carrier::Tcp(socket) => socket.peer_addr().map(canonical),
            Carrier::Udp(handle) => Ok(handle.peer()),
        }
    }

    /// Where this end is.
    ///
    /// # Errors
    /// When the connection is gone.
    pub fn local(&self) -> io::Result<SocketAddr> {
        match &self.0 {
            Carrier::Tcp(socket) => socket.local_addr().map(canonical),
            Carrier::Udp(handle) => Ok(handle.local()),
        }
    }

    /// Whether the peer has closed its side and all it said was read; never waits.
    pub fn is_closed_by_peer(&self) -> bool {
        let socket = match &self.0 {
            Carrier::Tcp(socket) => socket,
            Carrier::Udp(handle) => return handle.is_over(),
        };
        let peeked = SockRef::from(&**socket).recv_with_flags(
            &mut [std::mem::MaybeUninit::uninit()],
            libc::MSG_PEEK | libc::MSG_DONTWAIT,
        );
        match peeked {
            Ok(got) => got == 0,
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        }
    }
}

fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
