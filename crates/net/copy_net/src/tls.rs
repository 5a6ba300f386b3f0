//! TLS over a socket, blocking or not: whatever the socket says comes through.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;

use copy_protocol::{EXPORTER_LABEL, Exporter, KEY_LENGTH};
use nix::sys::socket::{MsgFlags, recv};
use rustls::Connection;

use super::fingerprint::Fingerprint;

/// Plaintext that is encrypted at once: 16 records of 16 KiB, which go to the kernel in one call.
const WRITE_MAX: usize = 256 << 10;

/// The connection ended where TLS was to say so first: the peer's program or host went away, or
/// something on the way cut it.
const GONE: &str = "the other end went away without a goodbye";

/// One TLS connection without its socket.
pub(super) struct Tls {
    connection: Connection,
    /// The first bytes that came, to tell what answers where it is not TLS.
    first: Vec<u8>,
}

impl Tls {
    pub(super) fn new(mut connection: Connection) -> Self {
        // What is waiting is bounded by who writes: WRITE_MAX here, the outbox of a conversation.
        connection.set_buffer_limit(None);
        let first = Vec::new();
        Tls { connection, first }
    }

    pub(super) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Whether something waits to be sent.
    pub(super) fn wants_write(&self) -> bool {
        self.connection.wants_write()
    }

    /// Keying material that only the two ends of this connection have; only after the handshake.
    pub(super) fn exporter(&self) -> io::Result<Exporter> {
        let made = [0; KEY_LENGTH];
        let made = match &self.connection {
            Connection::Client(one) => one.export_keying_material(made, EXPORTER_LABEL, None),
            Connection::Server(one) => one.export_keying_material(made, EXPORTER_LABEL, None),
        };
        made.map_err(io::Error::other)
    }

    /// The certificate that the other end showed; only for the end that connected.
    pub(super) fn peer(&self) -> Option<Fingerprint> {
        self.connection
            .peer_certificates()?
            .first()
            .map(Fingerprint::of)
    }

    /// Takes what the socket has, once, and answers what TLS itself has to answer.
    ///
    /// Returns the bytes taken; zero when the peer's end has come.
    pub(super) fn fill(&mut self, mut socket: &TcpStream) -> io::Result<usize> {
        let got = match self.connection.is_handshaking() {
            true => {
                let first = &mut self.first;
                self.connection.read_tls(&mut Seen { socket, first })?
            }
            false => self.connection.read_tls(&mut socket)?,
        };
        self.decrypt(socket)?;
        Ok(got)
    }

    /// Decrypts what was received.
    fn decrypt(&mut self, mut socket: &TcpStream) -> io::Result<()> {
        let processed = self.connection.process_new_packets();
        if let Err(error) = processed {
            // The alert that says what is wrong with it, as far as it can be sent without waiting.
            let _ = self.connection.write_tls(&mut socket);
            let is_begun = !self.connection.is_handshaking();
            if !is_begun && is_of_a_web_server(&self.first) {
                return Err(io::Error::new(ErrorKind::InvalidData, WEB));
            }
            return Err(io::Error::new(
                ErrorKind::InvalidData,
                told(&error, is_begun),
            ));
        }
        Ok(())
    }

    /// Reads what is there already. Would block when nothing is.
    pub(super) fn take(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.connection.reader().read(buffer);
        // rustls says this in terms of its own.
        read.map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => io::Error::new(error.kind(), GONE),
            _ => error,
        })
    }

    pub(super) fn read(&mut self, socket: &TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.take(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => return other,
            }
            self.fill(socket)?;
            self.flush(socket)?;
        }
    }

    /// Reads what has arrived. Would block when nothing has.
    pub(super) fn read_at_once(
        &mut self,
        socket: &TcpStream,
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        loop {
            match self.take(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => return other,
            }
            self.connection.read_tls(&mut Arrived(socket))?;
            self.decrypt(socket)?;
            self.flush(socket)?;
        }
    }

    /// Encrypts all of it; [`Tls::flush`] sends it.
    pub(super) fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.connection.writer().write_all(bytes)
    }

    pub(super) fn write(&mut self, socket: &TcpStream, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut taken = 0;
        for part in parts {
            let part = part.get(..WRITE_MAX - taken).unwrap_or(part);
            taken += self.connection.writer().write(part)?;
            if taken == WRITE_MAX {
                break;
            }
        }
        self.flush(socket)?;
        Ok(taken)
    }

    /// Sends what waits.
    pub(super) fn flush(&mut self, mut socket: &TcpStream) -> io::Result<()> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut socket) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Says that nothing more will come.
    pub(super) fn close(&mut self) {
        self.connection.send_close_notify();
    }
}

/// A socket that is read without waiting.
pub(super) struct Arrived<'a>(pub &'a TcpStream);

impl Read for Arrived<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(recv(self.0.as_raw_fd(), buffer, MsgFlags::MSG_DONTWAIT)?)
    }
}

const WEB: &str = "a web server answers there, and no trunkline";
/// Bytes that are kept of an answer.
const FIRST: usize = 16;

/// A socket whose first bytes are kept.
struct Seen<'a> {
    socket: &'a TcpStream,
    first: &'a mut Vec<u8>,
}

impl Read for Seen<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.socket.read(buffer)?;
        let room = FIRST.saturating_sub(self.first.len());
        self.first.extend(buffer[..got].iter().take(room));
        Ok(got)
    }
}

/// `HTTP/1.1 400 ...`, or the page without that.
fn is_of_a_web_server(first: &[u8]) -> bool {
    first.starts_with(b"HTTP/") || first.starts_with(b"<")
}

/// What rustls found wrong, for people. `is_begun`: both ends had agreed on their keys.
fn told(error: &rustls::Error, is_begun: bool) -> String {
    use rustls::{AlertDescription, Error};
    match error {
        Error::InvalidMessage(_) if !is_begun => {
            "the other end did not answer in TLS, as a trunkline with `--root` does".to_owned()
        }
        Error::InvalidMessage(_) | Error::DecryptError | Error::PeerMisbehaved(_) if is_begun => {
            "what arrived is not what was sent: something on the way changed it".to_owned()
        }
        Error::AlertReceived(AlertDescription::BadRecordMac | AlertDescription::DecryptError) => {
            "what was sent did not arrive as it was: something on the way changed it".to_owned()
        }
        Error::AlertReceived(AlertDescription::ProtocolVersion) | Error::PeerIncompatible(_) => {
            "the other end does not speak TLS 1.3, as every trunkline does: something else listens \
            there"
                .to_owned()
        }
        Error::AlertReceived(alert) => {
            format!("the other end broke off the secure connection (TLS alert {alert:?})")
        }
        Error::InvalidCertificate(_) => {
            "another certificate was shown than when the copy began: another host may be answering \
            in place of the other end"
                .to_owned()
        }
        other => format!("the secure connection failed ({other})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::{AlertDescription, Error, InvalidMessage, PeerIncompatible};

    #[test]
    fn what_tls_finds_wrong_is_told_without_its_own_names() {
        let invalid = Error::InvalidMessage(InvalidMessage::InvalidContentType);
        let old = Error::PeerIncompatible(PeerIncompatible::Tls13RequiredForQuic);
        let cases = [
            (
                invalid.clone(),
                false,
                "did not answer in TLS, as a trunkline",
            ),
            (invalid, true, "not what was sent"),
            (Error::DecryptError, true, "not what was sent"),
            (old, false, "does not speak TLS 1.3"),
            (
                Error::AlertReceived(AlertDescription::BadRecordMac),
                true,
                "did not arrive as it was",
            ),
        ];
        for (error, is_begun, part) in cases {
            let text = told(&error, is_begun);
            assert!(text.contains(part), "{error:?}: {text}");
            assert!(
                !text.contains("corrupt message") && !text.contains("Invalid"),
                "{text}"
            );
        }
    }
}
