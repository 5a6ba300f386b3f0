//! A stream of a copy or of a test: bytes one way, in TLS or in the clear over TCP, or over UDP in
//! QUIC.

use std::fmt;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use copy_protocol::{EXPORTER_LABEL, Exporter, Incoming, SPOKEN};
use observe::Transport;
use sockets::options::{OptionError, StreamOptions};
use units::{Bytes, Span};

use super::conversation::Conversation;
use super::handle::StreamHandle;
use super::tls::{Arrived, Tls};

/// One stream. Reading and writing wait for the peer; [`StreamHandle::shut_down`] ends the wait.
///
/// Reading gives zero bytes once the peer has ended the stream cleanly with [`Channel::finish`]. An
/// end without that is an error, but for streams in the clear: another host may have ended it.
pub struct Channel(Carrier);

enum Carrier {
    Tls(Arc<TcpStream>, Box<Tls>),
    Plain(Arc<TcpStream>),
    Quic(quic_net::Stream),
}

impl Channel {
    /// Over TCP; in the clear without `tls`.
    pub(crate) fn new(socket: Arc<TcpStream>, tls: Option<Box<Tls>>) -> Self {
        Channel(match tls {
            Some(tls) => Carrier::Tls(socket, tls),
            None => Carrier::Plain(socket),
        })
    }

    /// Over UDP.
    pub(super) fn over_udp(stream: quic_net::Stream) -> Self {
        Channel(Carrier::Quic(stream))
    }

    /// In the clear, over a connection of any kind, which waits from now on.
    ///
    /// # Errors
    /// When the connection is gone.
    pub fn plain(socket: TcpStream) -> io::Result<Self> {
        socket.set_nonblocking(false)?;
        Ok(Channel::new(Arc::new(socket), None))
    }

    /// A handle for threads that read its state or set its options.
    pub fn handle(&self) -> StreamHandle {
        match &self.0 {
            Carrier::Tls(socket, _) | Carrier::Plain(socket) => StreamHandle::new(socket),
            Carrier::Quic(stream) => StreamHandle::over_udp(stream.handle()),
        }
    }

    /// What carries it.
    pub fn transport(&self) -> Transport {
        match &self.0 {
            Carrier::Tls(..) | Carrier::Plain(_) => Transport::Tcp,
            Carrier::Quic(_) => Transport::Udp,
        }
    }

    /// Gives a connection that was accepted the options of its streams, once the peer has shown
    /// that it belongs here. Over UDP that is leave to send ahead what the path needs, and a pace.
    ///
    /// * `window_max`: what may be on the way or wait here at most over UDP, in each direction.
    ///
    /// # Errors
    /// When the kernel refuses an option; the others are set.
    pub fn admit(&self, options: &StreamOptions, window_max: Bytes) -> Result<(), OptionError> {
        match &self.0 {
            Carrier::Tls(socket, _) | Carrier::Plain(socket) => options.apply_to_accepted(socket),
            Carrier::Quic(stream) => {
                stream.trust(window_max);
                stream.handle().set_pacing(options.pacing);
                Ok(())
            }
        }
    }

    /// Whether it is in the clear.
    pub fn is_plain(&self) -> bool {
        matches!(self.0, Carrier::Plain(_))
    }

    /// Keying material that only the two ends of its connection have; none in the clear.
    pub(super) fn exporter(&self) -> io::Result<Option<Exporter>> {
        match &self.0 {
            Carrier::Tls(_, tls) => tls.exporter().map(Some),
            Carrier::Plain(_) => Ok(None),
            Carrier::Quic(stream) => stream.exporter(EXPORTER_LABEL).map(Some),
        }
    }

    /// Makes a stream of the connection whose greeting was right.
    pub(super) fn take_on(&self, options: &StreamOptions) -> io::Result<()> {
        if let Carrier::Tls(socket, _) | Carrier::Plain(socket) = &self.0 {
            socket.set_nonblocking(false)?;
            socket.set_nodelay(true)?;
        }
        let admitted = self.admit(options, quic_net::WINDOW_MOST);
        admitted.map_err(|error| io::Error::other(error.to_string()))
    }

    /// The longest wait of one read or write; none without. What takes longer fails with
    /// [`ErrorKind::WouldBlock`], and the stream is of no more use.
    ///
    /// # Errors
    /// When the connection is gone, or the time zero.
    pub fn set_timeout(&self, timeout: Option<Span>) -> io::Result<()> {
        self.set_timeouts(timeout, timeout)
    }

    /// The same for reads and writes apart.
    ///
    /// # Errors
    /// As [`Channel::set_timeout`].
    pub fn set_timeouts(&self, read: Option<Span>, write: Option<Span>) -> io::Result<()> {
        let (read, write) = (read.map(Duration::from), write.map(Duration::from));
        match &self.0 {
            Carrier::Tls(socket, _) | Carrier::Plain(socket) => {
                socket.set_read_timeout(read)?;
                socket.set_write_timeout(write)
            }
            Carrier::Quic(stream) => {
                stream.set_timeouts(read, write);
                Ok(())
            }
        }
    }

    /// Messages of the peer in place of bytes, on a thread that carries them.
    ///
    /// * `silence`: it counts as lost when nothing is heard for so long.
    ///
    /// # Errors
    /// When it is not in TLS over TCP, or this host has no thread or descriptor left.
    pub fn into_conversation<M: Incoming>(self, silence: Span) -> io::Result<Conversation<M>> {
        match self.0 {
            Carrier::Tls(socket, tls) => Conversation::start(socket, tls, SPOKEN.newest, silence),
            Carrier::Plain(_) | Carrier::Quic(_) => Err(ErrorKind::InvalidInput.into()),
        }
    }

    /// Reads what has arrived, and does not wait.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] when nothing has; as [`Read::read`].
    pub fn read_at_once(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Carrier::Tls(socket, tls) => tls.read_at_once(socket, buffer),
            Carrier::Plain(socket) => Arrived(socket).read(buffer),
            Carrier::Quic(stream) => stream.read_at_once(buffer),
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
        match &mut self.0 {
            Carrier::Tls(socket, tls) => {
                tls.close();
                tls.flush(socket)?;
                end_writing(socket)
            }
            Carrier::Plain(socket) => end_writing(socket),
            Carrier::Quic(stream) => stream.finish(),
        }
    }
}

fn end_writing(socket: &TcpStream) -> io::Result<()> {
    match socket.shutdown(Shutdown::Write) {
        // The peer had all it wanted and has closed.
        Err(error) if error.kind() == ErrorKind::NotConnected => Ok(()),
        other => other,
    }
}

impl Read for Channel {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Carrier::Tls(socket, tls) => tls.read(socket, buffer),
            Carrier::Plain(socket) => (&**socket).read(buffer),
            Carrier::Quic(stream) => stream.read(buffer),
        }
    }
}

impl Write for Channel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match &mut self.0 {
            Carrier::Tls(socket, tls) => tls.write(socket, parts),
            Carrier::Plain(socket) => (&**socket).write_vectored(parts),
            Carrier::Quic(stream) => stream.write_vectored(parts),
        }
    }

    /// Nothing waits in this end: every write goes to the kernel, or to the connection over UDP.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Carrier::Tls(socket, _) => write!(f, "Channel(TLS, {socket:?})"),
            Carrier::Plain(socket) => write!(f, "Channel(plain, {socket:?})"),
            Carrier::Quic(stream) => write!(f, "Channel(QUIC, {stream:?})"),
        }
    }
}
