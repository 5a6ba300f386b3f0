//! One request after the other on one connection.

use std::io::{self, ErrorKind, Read};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use copy_net::Channel;
use wire::remote::{Answering, Ask, CHUNK_MAX, Failure, FailureKind, RequestFrames, Told};
use wire::remote::{encode_answer, head_of};

use super::list::list;
use super::names::{check_free, info, make_folder};
use super::put::put;
use super::read::{Range, read};
use super::remove::remove;
use super::rename::rename;
use super::rights;
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
    channel: &'a mut Channel,
    session: &'a Session<'a>,
    id: u32,
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
    fn of(ask: &Ask, rest: &'a mut &'b [u8]) -> Self {
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
    fn skip(&mut self, buffer: &mut Vec<u8>, outbox: &mut Outbox<'_>) -> Result<(), Gone> {
        while self.next(buffer, outbox)? {}
        Ok(())
    }
}

/// Answers the requests of one connection until it is over.
pub(super) fn serve(channel: &mut Channel, session: &Session<'_>) -> Gone {
    let mut rules = Answering::default();
    let mut frames = RequestFrames::default();
    let mut buffer = Vec::new();
    let mut input = [0; 4096];
    loop {
        let got = match hear(channel, &mut input, session, frames.is_within()) {
            Ok(got) => got,
            Err(gone) => return gone,
        };
        let mut rest = input.get(..got).unwrap_or_default();
        loop {
            let mut outbox = Outbox {
                channel,
                session,
                id: 0,
            };
            let request = match frames.next(&mut rest) {
                Ok(Some(request)) => request,
                Ok(None) => break,
                Err(error) => return outbox.refuse(error.to_string()),
            };
            outbox.id = request.id;
            if let Err(broken) = rules.on_request(&request) {
                return outbox.refuse(broken.to_string());
            }
            let content = Content::of(&request.ask, &mut rest);
            if let Err(gone) = answer(&request.ask, content, &mut buffer, &mut outbox) {
                return gone;
            }
        }
    }
}

/// Waits for more bytes of requests.
fn hear(
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

fn answer(
    ask: &Ask,
    mut content: Content<'_, '_>,
    buffer: &mut Vec<u8>,
    outbox: &mut Outbox<'_>,
) -> Result<(), Gone> {
    let session = outbox.session;
    session.requests.fetch_add(1, Ordering::Relaxed);
    let allowed = match session.is_taken_back() {
        true => return Err(taken_back(outbox)),
        false => rights::check(session.root, ask),
    };
    let done = match allowed {
        Ok(()) => carry_out(ask, &mut content, buffer, outbox)?,
        Err(failure) => Err(failure),
    };
    content.skip(buffer, outbox)?;
    session.tell_of(ask, &done);
    match done {
        Ok(()) => Ok(()),
        Err(failure) => outbox.tell(&Told::Failed(failure)),
    }
}

fn taken_back(outbox: &mut Outbox<'_>) -> Gone {
    let failure = Failure::new(
        FailureKind::Rights,
        "the token has been taken back or changed",
    )
    .with_hint("open the files again; ask the owner of the server if that fails");
    match outbox.tell(&Told::Failed(failure)) {
        Ok(()) => Gone::TakenBack,
        Err(gone) => gone,
    }
}

/// Does what is asked for, and answers, but for a failure.
fn carry_out(
    ask: &Ask,
    content: &mut Content<'_, '_>,
    buffer: &mut Vec<u8>,
    outbox: &mut Outbox<'_>,
) -> Result<Result<(), Failure>, Gone> {
    let session = outbox.session;
    let root = session.root;
    let simple = match ask {
        Ask::Read {
            path,
            offset,
            length,
            expected,
        } => {
            let range = Range {
                path,
                offset: *offset,
                length: *length,
                expected: *expected,
            };
            return read(root, &range, buffer, outbox);
        }
        Ask::List { path, is_recursive } => {
            let _walks = session.walks.take();
            let free = check_free(path);
            return match free {
                Ok(()) => list(root, path, *is_recursive, outbox),
                Err(failure) => Ok(Err(failure)),
            };
        }
        Ask::Remove { path, what } => {
            let _walks = session.walks.take();
            match remove(root, path, *what, outbox)? {
                Ok(()) => Ok(Told::Done),
                Err(failure) => Err(failure),
            }
        }
        Ask::Info { path } => check_free(path).and_then(|()| info(root, path).map(Told::Info)),
        Ask::MakeFolder { path, with_parents } => {
            make_folder(root, path, *with_parents).map(|()| Told::Done)
        }
        Ask::Rename { from, to, replaces } => {
            rename(root, from, to, *replaces).map(|()| Told::Done)
        }
        Ask::Store(file) => put(root, file, content, buffer, outbox)?.map(|()| Told::Done),
    };
    match simple {
        Ok(told) => outbox.tell(&told).map(Ok),
        Err(failure) => Ok(Err(failure)),
    }
}
