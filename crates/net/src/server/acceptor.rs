//! Accepts connections and sorts them by the cookie each begins with.

use std::collections::{BTreeMap, VecDeque};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use units::Time;
use wire::{COOKIE_LENGTH, Cookie, State};

use super::event::{Refusal, ServerEvent};
use super::{Shared, session};
use crate::clock::Clock;
use crate::control::{is_ready, readable, wait};

/// How soon a stop is noticed.
const TICK: Duration = Duration::from_millis(100);
/// Streams on their way to a session: all of a two-way test.
const ARRIVALS_MAX: usize = 256;

/// A connection that has not sent its whole cookie yet.
struct Unidentified {
    socket: TcpStream,
    peer: SocketAddr,
    cookie: [u8; COOKIE_LENGTH],
    filled: usize,
    since: Time,
}

/// The acceptor's end of a running session.
struct Entry<'scope> {
    arrivals: SyncSender<TcpStream>,
    bell: UnixStream,
    thread: ScopedJoinHandle<'scope, ()>,
}

/// The session's end: streams that arrive, and a bell that rings for each.
pub(super) struct Arrivals {
    pub streams: Receiver<TcpStream>,
    pub bell: UnixStream,
}

struct Acceptor<'scope, 'env, 'a> {
    scope: &'scope Scope<'scope, 'env>,
    shared: &'env Shared<'a>,
    clock: Clock,
    unidentified: VecDeque<Unidentified>,
    sessions: BTreeMap<Cookie, Entry<'scope>>,
    counted: u64,
}

/// Accepts until the server stops.
pub(super) fn serve<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    listener: &TcpListener,
    shared: &'env Shared<'_>,
) {
    let mut acceptor = Acceptor {
        scope,
        shared,
        clock: Clock::start(),
        unidentified: VecDeque::new(),
        sessions: BTreeMap::new(),
        counted: 0,
    };
    while !shared.is_stopped() {
        let ready = acceptor.wait(listener);
        acceptor
            .sessions
            .retain(|_, entry| !entry.thread.is_finished());
        acceptor.read_cookies(&ready);
        acceptor.drop_silent();
        acceptor.accept(listener);
    }
}

impl<'scope> Acceptor<'scope, '_, '_> {
    /// Which of the unidentified connections have something to say.
    fn wait(&self, listener: &TcpListener) -> Vec<bool> {
        let sockets = self.unidentified.iter().map(|one| one.socket.as_fd());
        let mut watched: Vec<_> = sockets.map(readable).collect();
        watched.push(readable(listener.as_fd()));
        if wait(&mut watched, TICK).is_err() {
            thread::sleep(TICK);
        }
        watched.iter().map(is_ready).collect()
    }

    fn accept(&mut self, listener: &TcpListener) {
        loop {
            match listener.accept() {
                Ok((socket, peer)) => self.admit(socket, peer),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                // No descriptor left: the connection stays in the backlog until one is free.
                Err(_) => return thread::sleep(TICK),
            }
        }
    }

    fn admit(&mut self, socket: TcpStream, peer: SocketAddr) {
        if socket.set_nonblocking(true).is_err() {
            return;
        }
        if self.unidentified.len() >= self.shared.limits.unidentified
            && let Some(oldest) = self.unidentified.pop_front()
        {
            self.refuse(
                oldest.peer,
                Refusal::Crowded(self.shared.limits.unidentified),
            );
        }
        self.unidentified.push_back(Unidentified {
            socket,
            peer,
            cookie: [0; COOKIE_LENGTH],
            filled: 0,
            since: self.clock.now(),
        });
    }

    fn read_cookies(&mut self, ready: &[bool]) {
        let waiting = std::mem::take(&mut self.unidentified);
        for (index, mut one) in waiting.into_iter().enumerate() {
            let spoke = ready.get(index).copied().unwrap_or(false);
            match spoke.then(|| one.read()) {
                None | Some(Reading::Unfinished) => self.unidentified.push_back(one),
                Some(Reading::Whole) => self.sort(one),
                Some(Reading::Gone) => {}
            }
        }
    }

    fn drop_silent(&mut self) {
        let (now, patience) = (self.clock.now(), self.shared.limits.identify);
        let is_late = |one: &Unidentified| now.since(one.since) >= patience;
        while let Some(late) = self.unidentified.pop_front_if(|one| is_late(one)) {
            self.refuse(late.peer, Refusal::Silent(patience));
        }
    }

    fn sort(&mut self, one: Unidentified) {
        let cookie = match Cookie::from_wire(one.cookie) {
            Ok(cookie) => cookie,
            Err(error) => return self.refuse(one.peer, error.into()),
        };
        match self.sessions.get_mut(&cookie) {
            Some(entry) => entry.hand_over(one.socket),
            None => self.open(cookie, one),
        }
    }

    fn open(&mut self, cookie: Cookie, mut one: Unidentified) {
        let bound = self.shared.limits.sessions;
        if self.sessions.len() >= bound {
            // Best effort: a client that is gone needs no answer.
            let _ = one.socket.write(&[State::AccessDenied.byte()]);
            return self.refuse(one.peer, Refusal::Busy(bound));
        }
        let peer = one.peer;
        match self.start(one) {
            Some(entry) => drop(self.sessions.insert(cookie, entry)),
            None => self.refuse(peer, Refusal::NoThread),
        }
    }

    fn start(&mut self, one: Unidentified) -> Option<Entry<'scope>> {
        let (sender, streams) = sync_channel(ARRIVALS_MAX);
        let (near, bell) = UnixStream::pair().ok()?;
        near.set_nonblocking(true).ok()?;
        bell.set_nonblocking(true).ok()?;
        self.counted += 1;
        let (number, shared) = (self.counted, self.shared);
        let arrivals = Arrivals { streams, bell };
        let work = move || session::serve(number, one.socket, one.peer, arrivals, shared);
        let builder = thread::Builder::new().name("session".to_owned());
        Some(Entry {
            arrivals: sender,
            bell: near,
            thread: builder.spawn_scoped(self.scope, work).ok()?,
        })
    }

    fn refuse(&self, peer: SocketAddr, reason: Refusal) {
        self.shared.tell(ServerEvent::Refused { peer, reason });
    }
}

impl Entry<'_> {
    /// A session that is full or over does not take it, and the connection closes.
    fn hand_over(&mut self, socket: TcpStream) {
        if self.arrivals.try_send(socket).is_ok() {
            // A full bell rings already.
            let _ = self.bell.write(&[1]);
        }
    }
}

enum Reading {
    Whole,
    Unfinished,
    Gone,
}

impl Unidentified {
    fn read(&mut self) -> Reading {
        let room = self.cookie.get_mut(self.filled..).unwrap_or_default();
        match self.socket.read(room) {
            Ok(0) => return Reading::Gone,
            Ok(got) => self.filled += got,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return Reading::Gone,
        }
        match self.filled {
            COOKIE_LENGTH => Reading::Whole,
            _ => Reading::Unfinished,
        }
    }
}
