//! A connection that is not identified yet.

use std::io::{self, ErrorKind, Read};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;

use copy_protocol::{Exporter, GREETING_LENGTH, GREETING_MAGIC, Greeting, HELLO_MAX};
use nix::poll::{PollFd, PollFlags};
use units::Time;

use super::acceptor::Rejection;
use super::identity::Identity;
use super::tls::Tls;

/// First byte of a TLS record that belongs to a handshake (RFC 8446, section 5.1).
const TLS_HANDSHAKE: u8 = 0x16;
/// First bytes of a far end that calls back. After them, all is as
/// if the near end had connected.
pub(super) const CALL_MAGIC: [u8; 4] = *b"TLr1";
/// Most bytes that are read of an unidentified connection: TLS's hello takes some hundreds,
/// and data may follow a greeting at once in a record of 16 KiB.
const BYTES_MAX: usize = 32 << 10;
/// Bytes of a frame's length.
const PREFIX: usize = 4;

/// Whether a connection with this first byte belongs to a copy.
pub fn is_of_a_copy(first: u8) -> bool {
    first == TLS_HANDSHAKE || first == GREETING_MAGIC[0]
}

/// A connection that is not identified yet.
pub(super) struct Handshaking {
    pub socket: TcpStream,
    pub peer: SocketAddr,
    pub since: Time,
    tls: Option<Box<Tls>>,
    is_known: bool,
    heard: Vec<u8>,
    bytes: usize,
}

/// What its bytes show.
pub(super) enum Identified {
    /// Too few bytes yet.
    Nothing,
    /// It closed.
    Closed,
    /// It is not served here.
    Wrong(Rejection),
    /// A stream.
    Stream(Greeting),
    /// A far end that called back: this end speaks first.
    Caller,
    /// A control connection: the body of its hello, and what TLS exported.
    Control(Vec<u8>, Exporter),
}

impl Handshaking {
    pub(super) fn new(socket: TcpStream, peer: SocketAddr, since: Time) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Handshaking {
            socket,
            peer,
            since,
            tls: None,
            is_known: false,
            heard: Vec::new(),
            bytes: 0,
        })
    }

    /// What to watch its socket for.
    pub(super) fn watched(&self) -> PollFd<'_> {
        let wants_write = self.tls.as_ref().is_some_and(|tls| tls.wants_write());
        let mut flags = PollFlags::POLLIN;
        flags.set(PollFlags::POLLOUT, wants_write);
        PollFd::new(self.socket.as_fd(), flags)
    }

    /// The socket and its TLS.
    pub(super) fn into_parts(self) -> (TcpStream, Option<Box<Tls>>) {
        (self.socket, self.tls)
    }

    /// Sends the frame of an answer as far as the empty buffer of a new connection takes it.
    pub(super) fn answer(&mut self, frame: &[u8]) -> io::Result<()> {
        match &mut self.tls {
            Some(tls) => tls.put(frame).and_then(|()| tls.flush(&self.socket)),
            None => Ok(()),
        }
    }

    /// Ends TLS with a close alert, so that the peer reads the answer as complete.
    pub(super) fn close(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.close();
            let _ = tls.flush(&self.socket);
        }
    }

    /// Reads what has come; never waits.
    pub(super) fn look(&mut self, identity: &Identity) -> Identified {
        loop {
            match self.advance(identity) {
                Ok(None) => {}
                Ok(Some(found)) => return found,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Identified::Nothing,
                Err(error) if error.kind() == ErrorKind::InvalidData => {
                    return Identified::Wrong(Rejection::Broken(error.to_string()));
                }
                Err(_) => return Identified::Closed,
            }
        }
    }

    fn advance(&mut self, identity: &Identity) -> io::Result<Option<Identified>> {
        if !self.is_known {
            return self.look_at_first_byte(identity);
        }
        let wanted = match self.wanted() {
            Ok(wanted) => wanted,
            Err(wrong) => return Ok(Some(Identified::Wrong(wrong))),
        };
        if self.heard.len() >= wanted {
            return self.read_heard().map(Some);
        }
        match self.hear(wanted)? {
            true => Ok(None),
            false => Ok(Some(Identified::Closed)),
        }
    }

    fn look_at_first_byte(&mut self, identity: &Identity) -> io::Result<Option<Identified>> {
        let mut first = [0];
        if self.socket.peek(&mut first)? == 0 {
            return Ok(Some(Identified::Closed));
        }
        match first {
            [TLS_HANDSHAKE] => self.tls = Some(Box::new(Tls::new(identity.connection()?))),
            [byte] if byte == GREETING_MAGIC[0] => {}
            [byte] => return Ok(Some(Identified::Wrong(Rejection::Stranger(byte)))),
        }
        self.is_known = true;
        Ok(None)
    }

    /// Bytes that identify it, as far as is known by now.
    fn wanted(&self) -> Result<usize, Rejection> {
        match self.heard.as_slice() {
            [] => Ok(1),
            [first, ..] if *first == GREETING_MAGIC[0] => Ok(self.wanted_of_greeting()),
            [first, ..] if self.tls.is_none() => Err(Rejection::Stranger(*first)),
            heard => match heard.first_chunk::<PREFIX>() {
                None => Ok(PREFIX),
                Some(length) => match u32::from_be_bytes(*length) {
                    length @ 1..=HELLO_MAX => Ok(PREFIX + length as usize),
                    length => Err(Rejection::Hello(length)),
                },
            },
        }
    }

    fn wanted_of_greeting(&self) -> usize {
        match (&self.tls, self.heard.first_chunk()) {
            (None, None) => CALL_MAGIC.len(),
            (None, Some(&CALL_MAGIC)) => CALL_MAGIC.len(),
            _ => GREETING_LENGTH,
        }
    }

    /// Reads some of the wanted bytes; `false` when the peer is gone.
    fn hear(&mut self, wanted: usize) -> io::Result<bool> {
        let mut buffer = [0; PREFIX + HELLO_MAX as usize];
        let most = wanted - self.heard.len();
        let room = buffer.get_mut(..most).unwrap_or_default();
        let got = match &mut self.tls {
            None => (&self.socket).read(room)?,
            Some(tls) => match tls.take(room) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => return self.fill(),
                other => other?,
            },
        };
        self.heard
            .extend_from_slice(buffer.get(..got).unwrap_or_default());
        Ok(got > 0)
    }

    fn fill(&mut self) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else {
            return Ok(false);
        };
        let got = tls.fill(&self.socket);
        match tls.flush(&self.socket) {
            Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
            _ => {}
        }
        self.bytes += *got.as_ref().unwrap_or(&0);
        if self.bytes > BYTES_MAX {
            return Err(io::Error::new(
                ErrorKind::InvalidData,
                format!("{} bytes came and no greeting", self.bytes),
            ));
        }
        got.map(|got| got > 0)
    }

    /// Decodes the bytes that identify it.
    fn read_heard(&mut self) -> io::Result<Identified> {
        if self.tls.is_none() && self.heard == CALL_MAGIC {
            return Ok(Identified::Caller);
        }
        let is_greeting = self.heard.first() == GREETING_MAGIC.first();
        if let Some(greeting) = self.heard.first_chunk().filter(|_| is_greeting) {
            let greeting = Greeting::decode(greeting);
            return Ok(
                greeting.map_or_else(|error| Identified::Wrong(error.into()), Identified::Stream)
            );
        }
        match &self.tls {
            Some(tls) => Ok(Identified::Control(
                self.heard.split_off(PREFIX),
                tls.exporter()?,
            )),
            None => Ok(Identified::Closed),
        }
    }
}
