//! A stream's connection, as threads other than its own read and set it.

use std::io::{self, ErrorKind};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use observe::{Buffers, TcpSample};
use socket2::SockRef;
use units::{Rate, Time};

use sockets::options::{self, Dscp, OptionError, StreamOptions};
use sockets::tcp_info;

/// A connection that another thread reads or writes. Clones mean the same one.
#[derive(Debug, Clone)]
pub struct StreamHandle {
    socket: Arc<TcpStream>,
}

impl StreamHandle {
    pub(super) fn new(socket: &Arc<TcpStream>) -> Self {
        StreamHandle {
            socket: Arc::clone(socket),
        }
    }

    /// What the kernel tells about it now; `at` is what the reading is stamped with.
    ///
    /// # Errors
    /// When the socket is no longer a connection.
    pub fn sample(&self, at: Time) -> io::Result<TcpSample> {
        tcp_info::read(&self.socket, at)
    }

    /// Its buffers as the kernel granted them.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn buffers(&self) -> io::Result<Buffers> {
        StreamOptions::default().granted(&self.socket)
    }

    /// The congestion control in use.
    pub fn congestion(&self) -> Option<String> {
        options::congestion(&self.socket)
    }

    /// Sets options on the running connection; those that are `None` stay as they are.
    ///
    /// # Errors
    /// When the kernel refuses one; those before it are set.
    pub fn set(&self, options: &StreamOptions) -> Result<(), OptionError> {
        options.apply(&SockRef::from(&*self.socket))
    }

    /// The kernel sends at most so fast from now on; `None` lifts the bound.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn set_pacing(&self, rate: Option<Rate>) -> Result<(), OptionError> {
        options::set_pacing_max(&SockRef::from(&*self.socket), rate)
    }

    /// Marks the packets to come.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn set_dscp(&self, dscp: Dscp) -> Result<(), OptionError> {
        options::set_dscp(&SockRef::from(&*self.socket), dscp)
    }

    /// Whether the other end has closed it or shut it down; a thread that only writes, and has
    /// nothing to write, does not notice.
    pub fn is_let_go(&self) -> bool {
        let closed = PollFlags::from_bits_retain(libc::POLLRDHUP);
        let mut watched = [PollFd::new(self.socket.as_fd(), closed)];
        // Nothing else was asked for, and a broken connection is told unasked.
        poll(&mut watched, PollTimeout::ZERO).is_ok_and(|count| count > 0)
    }

    /// Ends both directions: threads that read or write are woken with an end or an error.
    pub fn shut_down(&self) {
        // It may have ended by itself.
        let _ = self.socket.shutdown(Shutdown::Both);
    }

    /// Where the other end is.
    ///
    /// # Errors
    /// When the connection is gone.
    pub fn peer(&self) -> io::Result<SocketAddr> {
        let peer = self.socket.peer_addr()?;
        Ok(SocketAddr::new(peer.ip().to_canonical(), peer.port()))
    }

    /// Where this end is.
    ///
    /// # Errors
    /// When the connection is gone.
    pub fn local(&self) -> io::Result<SocketAddr> {
        let local = self.socket.local_addr()?;
        Ok(SocketAddr::new(local.ip().to_canonical(), local.port()))
    }

    /// Whether the peer has closed its side and all it said was read; never waits.
    pub fn is_closed_by_peer(&self) -> bool {
        let peeked = SockRef::from(&*self.socket).recv_with_flags(
            &mut [std::mem::MaybeUninit::uninit()],
            libc::MSG_PEEK | libc::MSG_DONTWAIT,
        );
        match peeked {
            Ok(got) => got == 0,
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        }
    }
}
