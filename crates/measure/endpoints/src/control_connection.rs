//! The control connection: bytes in and out, never waiting longer than asked.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use copy_net::{RelayGoodbye, RelayedSocket};
use nix::poll::{PollFd, PollFlags};
use socket2::{SockRef, TcpKeepalive};
use sockets::poll::wait;

/// Silence after which the kernel asks whether the peer is still there, so that neither a dead peer
/// nor a NAT that forgets idle connections goes unnoticed.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_PROBES: u32 = 4;

/// What was heard.
#[derive(Debug)]
pub(crate) enum Heard {
    /// So many bytes at the front of the buffer.
    Bytes(usize),
    /// The peer closed.
    Closed,
    /// Nothing for now.
    Nothing,
}

/// A control connection in non-blocking mode.
#[derive(Debug)]
pub(crate) struct ControlConnection {
    socket: TcpStream,
    /// Of one over UDP; dropped behind the socket.
    goodbye: Option<Arc<RelayGoodbye>>,
}

impl ControlConnection {
    /// Takes over a connected socket.
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        let keepalive = TcpKeepalive::new()
            .with_time(KEEPALIVE_IDLE)
            .with_interval(KEEPALIVE_INTERVAL)
            .with_retries(KEEPALIVE_PROBES);
        SockRef::from(&stream).set_tcp_keepalive(&keepalive)?;
        Ok(ControlConnection {
            socket: stream,
            goodbye: None,
        })
    }

    /// Takes over the socket of a connection over UDP, which finds out itself whether the peer is
    /// there.
    pub(crate) fn over_udp(relayed: RelayedSocket) -> io::Result<Self> {
        let RelayedSocket { socket, goodbye } = relayed;
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        Ok(ControlConnection {
            socket,
            goodbye: Some(Arc::new(goodbye)),
        })
    }

    /// The same connection once more.
    pub(crate) fn duplicate(&self) -> io::Result<ControlConnection> {
        Ok(ControlConnection {
            socket: self.socket.try_clone()?,
            goodbye: self.goodbye.clone(),
        })
    }

    /// Where this end is.
    pub(crate) fn local_address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Reads what has arrived.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Heard {
        match self.socket.read(buffer) {
            Ok(0) => Heard::Closed,
            Ok(got) => Heard::Bytes(got),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::Interrupted => Heard::Nothing,
                _ => Heard::Closed,
            },
        }
    }

    /// Whether the peer has closed, as far as it shows before what it said is read.
    pub(crate) fn is_closed(&self) -> bool {
        match self.socket.peek(&mut [0]) {
            Ok(got) => got == 0,
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        }
    }

    /// Writes everything within `limit`.
    pub(crate) fn send(&mut self, bytes: &[u8], limit: Duration) -> io::Result<()> {
        let end = Instant::now() + limit;
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.socket.write(rest) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(sent) => rest = rest.get(sent..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.writable_by(end)?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn writable_by(&self, end: Instant) -> io::Result<()> {
        let left = end.saturating_duration_since(Instant::now());
        match wait(
            &mut [PollFd::new(self.socket.as_fd(), PollFlags::POLLOUT)],
            left,
        )? {
            0 if left.is_zero() => Err(ErrorKind::TimedOut.into()),
            _ => Ok(()),
        }
    }
}

impl AsFd for ControlConnection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sockets::poll::readable;
    use std::net::TcpListener;

    fn pair() -> (ControlConnection, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let far = listener.accept().unwrap().0;
        (ControlConnection::new(near).unwrap(), far)
    }

    #[test]
    fn a_peer_that_never_reads_cannot_hold_a_writer() {
        let (mut near, _far) = pair();
        let error = near.send(&vec![0; 64 << 20], Duration::from_millis(20));
        assert_eq!(error.unwrap_err().kind(), ErrorKind::TimedOut);
    }

    #[test]
    fn a_closed_peer_is_told_from_a_silent_one() {
        let (mut near, far) = pair();
        assert!(matches!(near.read(&mut [0; 8]), Heard::Nothing));
        assert!(!near.is_closed());
        drop(far);
        wait(&mut [readable(near.as_fd())], Duration::from_secs(5)).unwrap();
        assert!(near.is_closed());
        assert!(matches!(near.read(&mut [0; 8]), Heard::Closed));
    }
}
