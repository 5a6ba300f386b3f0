//! Handshake I/O under one overall deadline.

use std::io::{self, ErrorKind};
use std::net::TcpStream;
use std::os::fd::AsFd;

use copy_protocol::{CodecError, Exporter, Frames};
use nix::poll::{PollFd, PollFlags};

use crate::fingerprint::Fingerprint;
use crate::tls::Tls;
use sockets::Deadline;

/// A TLS connection whose waits share one deadline.
pub(super) struct DeadlineIo<'a> {
    socket: TcpStream,
    tls: Tls,
    deadline: Deadline<'a>,
}

impl<'a> DeadlineIo<'a> {
    pub(super) fn new(socket: TcpStream, tls: Tls, deadline: Deadline<'a>) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        Ok(DeadlineIo {
            socket,
            tls,
            deadline,
        })
    }

    /// TLS's own handshake, up to the last bytes of this end.
    pub(super) fn complete_handshake(&mut self) -> io::Result<()> {
        loop {
            self.flush()?;
            if !self.tls.is_handshaking() {
                return Ok(());
            }
            self.fill()?;
        }
    }

    /// The certificate that was shown, and what both ends of this connection know.
    pub(super) fn facts(&self) -> io::Result<(Fingerprint, Exporter)> {
        let nothing = || io::Error::new(ErrorKind::InvalidData, "no certificate was shown");
        let pin = self.tls.peer().ok_or_else(nothing)?;
        Ok((pin, self.tls.exporter()?))
    }

    /// Sends a frame, and what is to `follow` it at once, and waits for the frame that answers it.
    pub(super) fn ask(
        &mut self,
        frame: &[u8],
        follow: &[u8],
    ) -> io::Result<Result<Vec<u8>, CodecError>> {
        self.tls.put(frame)?;
        self.tls.put(follow)?;
        self.flush()?;
        let mut frames = Frames::hello();
        // Byte for byte: what follows the answer belongs to the conversation.
        let mut byte = [0];
        loop {
            match self.tls.take(&mut byte) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => match frames.next_frame(&mut byte.as_slice()) {
                    Ok(None) => {}
                    Ok(Some(answer)) => return Ok(Ok(answer)),
                    Err(error) => return Ok(Err(error)),
                },
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.fill()?,
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn socket(&self) -> &TcpStream {
        &self.socket
    }

    pub(super) fn into_parts(self) -> (TcpStream, Tls) {
        (self.socket, self.tls)
    }

    fn fill(&mut self) -> io::Result<()> {
        loop {
            match self.tls.fill(&self.socket) {
                Ok(0) if self.tls.is_handshaking() => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => return Ok(()),
                Err(error) => self.wait_after(error, PollFlags::POLLIN)?,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        loop {
            match self.tls.flush(&self.socket) {
                Ok(()) => return Ok(()),
                Err(error) => self.wait_after(error, PollFlags::POLLOUT)?,
            }
        }
    }

    fn wait_after(&self, error: io::Error, event: PollFlags) -> io::Result<()> {
        match error.kind() {
            ErrorKind::Interrupted => return Ok(()),
            ErrorKind::WouldBlock => {}
            _ => return Err(error),
        }
        let mut watched = [PollFd::new(self.socket.as_fd(), event)];
        match self.deadline.wait(&mut watched)? {
            0 => Err(ErrorKind::TimedOut.into()),
            _ => Ok(()),
        }
    }
}
