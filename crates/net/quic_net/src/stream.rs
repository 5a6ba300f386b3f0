//! The stream of a connection: bytes both ways, read and written like a TCP connection.

use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes as Chunk};
use quinn_proto::{ReadError, ReadableError, WriteError};
use units::Bytes;

use crate::connection::{Connection, Ended, Handle};

/// Bytes that are taken from or given to the connection in one go.
const AT_ONCE: usize = 256 << 10;

/// One stream. Reading and writing wait for the peer; [`Handle::shut_down`] ends the wait.
///
/// Reading gives zero bytes once the peer has ended the stream with [`Stream::finish`]; an end
/// without that is an error. A stream that is dropped after `finish` is still delivered.
pub struct Stream {
    connection: Arc<Connection>,
    /// What was taken from the connection and not read yet.
    read: VecDeque<Chunk>,
    read_timeout: Cell<Option<Duration>>,
    writer: StreamWriter,
}

/// Writes to a stream that another thread reads. When the [`Stream`] is dropped, what was written
/// and ended is still delivered.
pub struct StreamWriter {
    connection: Arc<Connection>,
    timeout: Cell<Option<Duration>>,
}

impl Stream {
    pub(crate) fn new(connection: Arc<Connection>) -> Self {
        Stream {
            writer: StreamWriter {
                connection: Arc::clone(&connection),
                timeout: Cell::new(None),
            },
            connection,
            read: VecDeque::new(),
            read_timeout: Cell::new(None),
        }
    }

    /// Writes to it from another thread.
    pub fn writer(&self) -> StreamWriter {
        StreamWriter {
            connection: Arc::clone(&self.connection),
            timeout: self.writer.timeout.clone(),
        }
    }

    /// A handle for threads that read its state or set its rate.
    pub fn handle(&self) -> Handle {
        Handle(Arc::clone(&self.connection))
    }

    /// The longest wait of one read, and of one write; none without. What takes longer fails with
    /// [`ErrorKind::WouldBlock`].
    pub fn set_timeouts(&self, read: Option<Duration>, write: Option<Duration>) {
        self.read_timeout.set(read);
        self.writer.timeout.set(write);
    }

    /// Keying material that only the two ends of this connection have (RFC 8446, section 7.5).
    ///
    /// # Errors
    /// When TLS refuses.
    pub fn exporter<const N: usize>(&self, label: &[u8]) -> io::Result<[u8; N]> {
        let mut made = [0; N];
        let state = self.connection.lock();
        let exported = state
            .proto
            .crypto_session()
            .export_keying_material(&mut made, label, &[]);
        exported.map_err(|_| io::Error::other("TLS exports no keys for that"))?;
        Ok(made)
    }

    /// The peer has shown that it belongs here: it may send as much ahead as the path needs.
    ///
    /// * `window_max`: bytes that may be on the way or wait here at most, in each direction.
    pub fn trust(&self, window_max: Bytes) {
        self.connection.lock().trust(window_max);
        self.connection.wake();
    }

    /// Reads what has arrived, and does not wait.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] when nothing has; as [`Read::read`].
    pub fn read_at_once(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read_until(buffer, Some(Instant::now()))
    }

    /// Ends what this end sends, so that the peer can tell it from a broken stream.
    ///
    /// # Errors
    /// When the stream is broken.
    pub fn finish(&mut self) -> io::Result<()> {
        self.writer.finish()
    }

    /// Waits until the peer has all that was written before [`finish`](Self::finish), and then ends
    /// the connection; after `limit` in any case.
    pub fn close(self, limit: Duration) {
        let end = Some(Instant::now() + limit);
        let mut state = self.connection.lock();
        while !state.is_delivered && state.ended.is_none() {
            match self.connection.wait(state, end) {
                Ok(waited) => state = waited,
                Err(_) => return self.connection.shut_down(),
            }
        }
    }

    fn read_until(&mut self, buffer: &mut [u8], end: Option<Instant>) -> io::Result<usize> {
        if self.read.is_empty() {
            self.take_chunks(end)?;
        }
        let mut filled = 0;
        while let Some(chunk) = self.read.front_mut()
            && filled < buffer.len()
        {
            let room = buffer.get_mut(filled..).unwrap_or_default();
            let count = room.len().min(chunk.len());
            room[..count].copy_from_slice(&chunk[..count]);
            chunk.advance(count);
            filled += count;
            if chunk.is_empty() {
                self.read.pop_front();
            }
        }
        Ok(filled)
    }

    /// Waits for bytes; takes none at the end of the stream.
    fn take_chunks(&mut self, end: Option<Instant>) -> io::Result<()> {
        let mut state = self.connection.lock();
        loop {
            if state.is_read {
                return Ok(());
            }
            if let Some(stream) = state.stream {
                let mut receive = state.proto.recv_stream(stream);
                let mut chunks = match receive.read(true) {
                    Ok(chunks) => chunks,
                    Err(ReadableError::ClosedStream) => return Ok(()),
                    Err(error) => return Err(io::Error::other(error)),
                };
                let mut taken = 0;
                let stopped = loop {
                    match chunks.next(AT_ONCE - taken) {
                        Ok(Some(chunk)) => {
                            taken += chunk.bytes.len();
                            self.read.push_back(chunk.bytes);
                            if taken >= AT_ONCE {
                                break Ok(false);
                            }
                        }
                        Ok(None) => break Ok(true),
                        Err(ReadError::Blocked) => break Ok(false),
                        Err(ReadError::Reset(_)) => break Err(ErrorKind::ConnectionReset),
                    }
                };
                if chunks.finalize().should_transmit() {
                    self.connection.wake();
                }
                let is_end = stopped?;
                state.is_read |= is_end;
                if taken > 0 || is_end {
                    return Ok(());
                }
            }
            if let Some(ended) = &state.ended {
                return Err(ended.error());
            }
            state = self.connection.wait(state, end)?;
        }
    }
}

impl StreamWriter {
    /// Ends what this end sends, so that the peer can tell it from a broken stream.
    ///
    /// # Errors
    /// When the stream is broken.
    pub fn finish(&self) -> io::Result<()> {
        let mut state = self.connection.lock();
        if let Some(Ended::Well) = state.ended {
            // The peer had all it wanted and has closed.
            return Ok(());
        }
        let Some(stream) = state.writable()? else {
            return Err(ErrorKind::NotConnected.into());
        };
        if !state.is_finished {
            let finished = state.proto.send_stream(stream).finish();
            finished.map_err(|_| io::Error::from(ErrorKind::BrokenPipe))?;
            state.is_finished = true;
        }
        drop(state);
        self.connection.wake();
        Ok(())
    }

    fn write_some(&self, chunk: &mut Chunk) -> io::Result<usize> {
        let end = self.timeout.get().map(|limit| Instant::now() + limit);
        let mut state = self.connection.lock();
        loop {
            if let Some(stream) = state.writable()? {
                let written = state
                    .proto
                    .send_stream(stream)
                    .write_chunks(std::slice::from_mut(chunk));
                match written {
                    Ok(written) => {
                        drop(state);
                        self.connection.wake();
                        return Ok(written.bytes);
                    }
                    Err(WriteError::Blocked) => {}
                    Err(WriteError::Stopped(_) | WriteError::ClosedStream) => {
                        return Err(ErrorKind::BrokenPipe.into());
                    }
                }
            }
            state = self.connection.wait(state, end)?;
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let end = self.read_timeout.get().map(|limit| Instant::now() + limit);
        self.read_until(buffer, end)
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        self.writer.write_vectored(parts)
    }

    /// Nothing waits in this end: every write goes to the connection.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for StreamWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    /// Copies what it takes, outside the connection's lock.
    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut taken = Vec::new();
        for part in parts {
            let room = AT_ONCE - taken.len();
            taken.extend_from_slice(part.get(..room).unwrap_or(part));
            if taken.len() == AT_ONCE {
                break;
            }
        }
        if taken.is_empty() {
            return Ok(0);
        }
        self.write_some(&mut Chunk::from(taken))
    }

    /// Nothing waits in this end: every write goes to the connection.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.connection.let_go();
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({})", self.connection.peer)
    }
}
