//! What passes between a connection and one request: its content, its answers, and the end.

use std::io::{self, ErrorKind, Read};
use std::time::{Duration, Instant};

use copy_net::Channel;
use copy_protocol::remote::{Ask, CHUNK_MAX, Failure, FailureKind, Told, encode_answer, head_of};

use super::session::Session;

/// How often the other end hears how far a long request is.
pub(super) const WORKING: Duration = Duration::from_secs(1);

/// Why a connection is over.
#[derive(Debug)]
pub(super) enum Gone {
    /// The other end ended it.
    Closed,
    /// It broke, or the other end takes nothing any more.
    Lost(io::Error),
    /// Nothing was asked for as long as a session may be idle.
    Idle,
    /// The other end broke the rules; it was told so.
    Broken(String),
    /// The token was taken back.
    TakenBack,
}

impl From<io::Error> for Gone {
    fn from(error: io::Error) -> Self {
        Gone::Lost(error)
    }
}

/// Where the answers to one request go.
pub(super) struct Outbox<'a> {
    pub channel: &'a mut Channel,
    pub session: &'a Session<'a>,
    pub id: u32,
}

impl Outbox<'_> {
    /// Sends an answer. Waits while the other end takes nothing.
    pub fn tell(&mut self, told: &Told) -> Result<(), Gone> {
        let frame = encode_answer(self.id, told);
        let frame = frame.map_err(|error| Gone::Broken(error.to_string()))?;
        self.session.touch();
        Ok(self.channel.write_parts(&[&frame])?)
    }

    /// Sends an answer with bytes of a file.
    pub fn data(&mut self, told: &Told, bytes: &[u8]) -> Result<(), Gone> {
        let head = head_of(self.id, told, bytes.len());
        let head = head.map_err(|error| Gone::Broken(error.to_string()))?;
        self.session.touch();
        self.channel.write_parts(&[&head, bytes])?;
        self.session.on_sent(bytes.len());
        Ok(())
    }

    /// Says what rule the other end broke; with that the connection is over.
    pub fn refuse(&mut self, what: String) -> Gone {
        let failure = Failure::new(FailureKind::Protocol, what.clone())
            .with_hint("use the same version of trunkline at both ends");
        // The connection ends either way.
        let _ = self.tell(&Told::Failed(failure));
        Gone::Broken(what)
    }
}

/// What follows a request: the content of a file that is stored, and of others nothing.
pub(super) struct Content<'a, 'b> {
    /// What came together with the request.
    rest: &'a mut &'b [u8],
    left: usize,
    came: u64,
    told: Instant,
}

impl<'a, 'b> Content<'a, 'b> {
    pub fn of(ask: &Ask, rest: &'a mut &'b [u8]) -> Self {
        Content {
            rest,
            left: match ask {
                Ask::Store(file) => file.length as usize,
                _ => 0,
            },
            came: 0,
            told: Instant::now(),
        }
    }

    /// Takes some more of it; `false` at its end.
    pub fn next(&mut self, into: &mut Vec<u8>, outbox: &mut Outbox<'_>) -> Result<bool, Gone> {
        if self.left == 0 {
            return Ok(false);
        }
        into.resize(self.left.min(CHUNK_MAX as usize), 0);
        let got = match self.rest.is_empty() {
            true => hear(outbox.channel, into, outbox.session, true)?,
            false => self.rest.read(into)?,
        };
        into.truncate(got);
        self.left -= got;
        self.came += got as u64;
        outbox.session.on_received(got);
        if self.told.elapsed() >= WORKING {
            self.told = Instant::now();
            outbox.tell(&Told::Working { count: self.came })?;
        }
        Ok(true)
    }

    /// Drops what was not taken, so that the next request follows.
    pub fn skip(&mut self, buffer: &mut Vec<u8>, outbox: &mut Outbox<'_>) -> Result<(), Gone> {
        while self.next(buffer, outbox)? {}
        Ok(())
    }
}

/// Waits for more bytes of requests.
pub(super) fn hear(
    channel: &mut Channel,
    input: &mut [u8],
    session: &Session<'_>,
    is_within: bool,
) -> Result<usize, Gone> {
    loop {
        match channel.read(input) {
            Ok(0) => return Err(Gone::Closed),
            Ok(got) => return Ok(got),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // A program that ends says no goodbye, and nothing is lost with it.
            Err(error) if is_end(&error) && !is_within => return Err(Gone::Closed),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if is_within || session.is_idle() {
                    return Err(Gone::Idle);
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn is_end(error: &io::Error) -> bool {
    let kinds = [ErrorKind::UnexpectedEof, ErrorKind::ConnectionReset];
    kinds.contains(&error.kind())
}
