//! A stream of a copy: bytes one way, in TLS or in the clear.

use std::fmt;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use units::Span;
use wire::copy::Incoming;

use super::conversation::Conversation;
use super::handle::StreamHandle;
use super::tls::{Arrived, Tls};

/// One stream. Reading and writing wait for the peer; [`StreamHandle::shut_down`] ends the wait.
///
/// Reading gives zero bytes once the peer has ended the stream cleanly ([`Channel::finish`]); in
/// TLS an end without that is an error, because then another host may have ended it.
pub struct Channel {
    socket: Arc<TcpStream>,
    tls: Option<Box<Tls>>,
}

impl Channel {
    pub(super) fn new(socket: Arc<TcpStream>, tls: Option<Box<Tls>>) -> Self {
        Channel { socket, tls }
    }

    /// In the clear, over a connection of any kind.
    #[cfg(feature = "fuzzing")]
    pub(crate) fn plain(socket: TcpStream) -> Self {
        Channel::new(Arc::new(socket), None)
    }

    /// A handle for threads that read its state or set its options.
    pub fn handle(&self) -> StreamHandle {
        StreamHandle::new(&self.socket)
    }

    /// Whether it is in the clear.
    pub fn is_plain(&self) -> bool {
        self.tls.is_none()
    }

    /// The longest wait of one read or write; none without. What takes longer fails with
    /// [`ErrorKind::WouldBlock`], and the stream is of no more use.
    ///
    /// # Errors
    /// When the connection is gone, or the time zero.
    pub fn set_timeout(&self, timeout: Option<Span>) -> io::Result<()> {
        let timeout = timeout.map(Duration::from);
        self.socket.set_read_timeout(timeout)?;
        self.socket.set_write_timeout(timeout)
    }

    /// The same for reads and writes apart.
    ///
    /// # Errors
    /// As [`Channel::set_timeout`].
    pub fn set_timeouts(&self, read: Option<Span>, write: Option<Span>) -> io::Result<()> {
        self.socket.set_read_timeout(read.map(Duration::from))?;
        self.socket.set_write_timeout(write.map(Duration::from))
    }

    /// Messages of the peer in place of bytes, on a thread that carries them.
    ///
    /// * `silence`: it counts as lost when nothing is heard for so long.
    ///
    /// # Errors
    /// When it is in the clear, or this host has no thread or descriptor left.
    pub fn into_conversation<M: Incoming>(self, silence: Span) -> io::Result<Conversation<M>> {
        let tls = self.tls.ok_or(ErrorKind::InvalidInput)?;
        Conversation::start(self.socket, tls, silence)
    }

    /// Reads what has arrived, and does not wait.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] when nothing has; as [`Read::read`].
    pub fn read_at_once(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            Some(tls) => tls.read_at_once(&self.socket, buffer),
            None => Arrived(&self.socket).read(buffer),
        }
    }

    /// Writes all of all parts, one behind the other, in as few packets as possible.
    ///
    /// # Errors
    /// When the stream is broken.
    pub fn write_parts(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        let mut slices: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
        let mut rest = slices.as_mut_slice();
        IoSlice::advance_slices(&mut rest, 0);
        while !rest.is_empty() {
            match self.write_vectored(rest) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => IoSlice::advance_slices(&mut rest, written),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Ends what this end sends, so that the peer can tell it from a broken stream.
    ///
    /// # Errors
    /// When the stream is broken.
    pub fn finish(&mut self) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            tls.close();
            tls.flush(&self.socket)?;
        }
        match self.socket.shutdown(Shutdown::Write) {
            // The peer had all it wanted and has closed.
            Err(error) if error.kind() == ErrorKind::NotConnected => Ok(()),
            other => other,
        }
    }
}

impl Read for Channel {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            Some(tls) => tls.read(&self.socket, buffer),
            None => (&*self.socket).read(buffer),
        }
    }
}

impl Write for Channel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match &mut self.tls {
            Some(tls) => tls.write(&self.socket, parts),
            None => (&*self.socket).write_vectored(parts),
        }
    }

    /// Nothing waits in this end: every write goes to the kernel.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.tls {
            Some(_) => "TLS",
            None => "plain",
        };
        write!(f, "Channel({kind}, {:?})", self.socket)
    }
}
