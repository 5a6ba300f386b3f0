//! Accepts connections and sorts them by the cookie each begins with.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use measure_protocol::{COOKIE_LENGTH, Cookie, Denial, NUMBERED_GREETING_LENGTH};
use units::Time;

use super::arrivals::{Arrival, ArrivalSender, Arrivals, TestEndTime};
use super::event::{Refusal, ServerEvent};
use super::{Shared, session};
use copy_net::{Channel, Source, is_of_a_copy};
use sockets::Clock;
use sockets::eviction;
use sockets::poll::{is_ready, readable, wait};

/// How soon a stop is noticed.
const TICK: Duration = Duration::from_millis(100);
/// A cookie and the number that follows it between two trunkline ends.
const GREETING_MAX: usize = NUMBERED_GREETING_LENGTH;
/// Connections accepted before cookies are read again.
const ACCEPTS_MAX: usize = 64;
/// Streams on their way to a session: all of a two-way test.
const ARRIVALS_MAX: usize = 256;

/// A connection that has not sent all that identifies it yet.
struct Unidentified {
    order: u64,
    socket: TcpStream,
    peer: SocketAddr,
    greeting: [u8; GREETING_MAX],
    filled: usize,
    wanted: usize,
    since: Time,
}

/// The acceptor's end of a running session.
struct Entry<'scope> {
    from: IpAddr,
    arrivals: ArrivalSender,
    numbered: Arc<AtomicBool>,
    ends: TestEndTime,
    thread: ScopedJoinHandle<'scope, ()>,
}

/// The denial of a client that waits for the first of these tests to end.
fn busy_until_one_of<'a>(sessions: impl Iterator<Item = &'a Entry<'a>>) -> Denial {
    let ends_in = sessions.filter_map(|one| one.ends.time_left()).min();
    Denial::Busy { ends_in }
}

struct Acceptor<'scope, 'env, 'a> {
    scope: &'scope Scope<'scope, 'env>,
    shared: &'env Shared<'a>,
    clock: Clock,
    unidentified: VecDeque<Unidentified>,
    sessions: BTreeMap<Cookie, Entry<'scope>>,
    accepted: u64,
}

/// Accepts until the server stops.
///
/// * `over_udp`: connections that came over UDP.
pub(super) fn serve<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    listener: &TcpListener,
    over_udp: &Source,
    shared: &'env Shared<'_>,
) {
    let mut acceptor = Acceptor {
        scope,
        shared,
        clock: Clock::start(),
        unidentified: VecDeque::new(),
        sessions: BTreeMap::new(),
        accepted: 0,
    };
    while !shared.is_stopped() {
        let ready = acceptor.wait(listener, over_udp);
        acceptor.forget_finished();
        acceptor.read_cookies(&ready);
        acceptor.drop_silent();
        acceptor.accept(listener);
        while let Some((socket, peer)) = over_udp.next() {
            acceptor.admit(socket, canonical(peer));
        }
    }
}

impl<'scope> Acceptor<'scope, '_, '_> {
    /// Which of the unidentified connections have something to say.
    fn wait(&self, listener: &TcpListener, over_udp: &Source) -> Vec<bool> {
        let sockets = self.unidentified.iter().map(|one| one.socket.as_fd());
        let mut watched: Vec<_> = sockets.map(readable).collect();
        watched.push(readable(listener.as_fd()));
        watched.push(readable(over_udp.watched()));
        if wait(&mut watched, TICK).is_err() {
            thread::sleep(TICK);
        }
        watched.iter().map(is_ready).collect()
    }

    fn forget_finished(&mut self) {
        let shared = self.shared;
        self.sessions.retain(|cookie, entry| {
            let is_finished = entry.thread.is_finished();
            if is_finished {
                shared.sessions().remove(cookie);
            }
            !is_finished
        });
    }

    fn accept(&mut self, listener: &TcpListener) {
        for _ in 0..ACCEPTS_MAX {
            match listener.accept() {
                Ok((socket, peer)) => self.admit(socket, canonical(peer)),
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
        self.accepted += 1;
        let one = Unidentified {
            order: self.accepted,
            socket,
            peer,
            greeting: [0; GREETING_MAX],
            filled: 0,
            wanted: COOKIE_LENGTH,
            since: self.clock.now(),
        };
        if let Some(silent) = self.identify(one) {
            self.make_room();
            self.unidentified.push_back(silent);
        }
    }

    /// Reads what has come and gives the connection back while it has not told all.
    fn identify(&mut self, mut one: Unidentified) -> Option<Unidentified> {
        loop {
            match one.read(self.shared.copies.is_some()) {
                Reading::Unfinished | Reading::Whole
                    if self.shared.limits.files_only && one.filled > 0 =>
                {
                    self.turn_away(one, Denial::FilesOnly, Refusal::FilesOnly);
                    return None;
                }
                Reading::Unfinished => return Some(one),
                Reading::Gone => return None,
                Reading::OfACopy => {
                    self.give_to_copies(one);
                    return None;
                }
                Reading::Whole if self.lacks_number(&one) => one.wanted = GREETING_MAX,
                Reading::Whole => {
                    self.sort(one);
                    return None;
                }
            }
        }
    }

    fn give_to_copies(&self, one: Unidentified) {
        if let Some(copies) = &self.shared.copies {
            copies.give(one.socket, one.peer);
        }
    }

    fn lacks_number(&self, one: &Unidentified) -> bool {
        let cookie = Cookie::from_wire(one.cookie()).ok();
        let session = cookie.and_then(|cookie| self.sessions.get(&cookie));
        one.wanted < GREETING_MAX && session.is_some_and(Entry::is_numbered)
    }

    /// Drops the oldest connection of the address that has most of them, unless its cookie came.
    fn make_room(&mut self) {
        let bound = self.shared.limits.unidentified;
        while self.unidentified.len() >= bound
            && let Some(oldest) = self.oldest_of_largest_crowd()
        {
            if let Some(silent) = self.identify(oldest) {
                self.refuse(silent.peer, Refusal::Crowded(bound));
            }
        }
    }

    fn oldest_of_largest_crowd(&mut self) -> Option<Unidentified> {
        let addresses = self.unidentified.iter().map(|one| one.peer.ip());
        let position = eviction::oldest_of_largest(addresses)?;
        self.unidentified.remove(position)
    }

    fn read_cookies(&mut self, ready: &[bool]) {
        let waiting = std::mem::take(&mut self.unidentified);
        for (index, one) in waiting.into_iter().enumerate() {
            let silent = match ready.get(index) {
                Some(true) => self.identify(one),
                _ => Some(one),
            };
            self.unidentified.extend(silent);
        }
    }

    fn drop_silent(&mut self) {
        let (now, timeout) = (self.clock.now(), self.shared.limits.identify);
        let is_late = |one: &Unidentified| now.since(one.since) >= timeout;
        while self.unidentified.front().is_some_and(is_late) {
            let late = self.unidentified.pop_front();
            late.iter()
                .for_each(|late| self.refuse(late.peer, Refusal::Silent(timeout)));
        }
    }

    fn sort(&mut self, one: Unidentified) {
        let cookie = match Cookie::from_wire(one.cookie()) {
            Ok(cookie) => cookie,
            Err(error) => return self.refuse(one.peer, error.into()),
        };
        match self.sessions.get(&cookie) {
            None => self.open(cookie, one),
            Some(entry) => entry.hand_over(one),
        }
    }

    fn open(&mut self, cookie: Cookie, one: Unidentified) {
        let bound = self.shared.limits.sessions;
        if self.sessions.len() >= bound {
            let denial = busy_until_one_of(self.sessions.values());
            return self.turn_away(one, denial, Refusal::Busy(bound));
        }
        let bound = self.shared.limits.sessions_per_address;
        let address = one.peer.ip();
        let own = self.sessions.values().filter(|one| one.from == address);
        if own.clone().count() >= bound {
            let denial = busy_until_one_of(own);
            return self.turn_away(one, denial, Refusal::BusyAddress(bound));
        }
        let peer = one.peer;
        match self.start(one) {
            Some(entry) => {
                let arrivals = entry.arrivals.clone();
                self.shared.sessions().insert(cookie, arrivals);
                self.sessions.insert(cookie, entry);
            }
            None => self.refuse(peer, Refusal::NoThread),
        }
    }

    fn start(&mut self, one: Unidentified) -> Option<Entry<'scope>> {
        let (sender, streams) = sync_channel(ARRIVALS_MAX);
        let (near, bell) = UnixStream::pair().ok()?;
        near.set_nonblocking(true).ok()?;
        bell.set_nonblocking(true).ok()?;
        let shared = self.shared;
        let number = shared.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        let numbered = Arc::new(AtomicBool::new(false));
        let from = one.peer.ip();
        let ends = TestEndTime::unknown(self.clock);
        let arrivals = Arrivals {
            streams,
            bell,
            numbered: Arc::clone(&numbered),
            ends: ends.clone(),
        };
        let work = move || session::serve(number, one.socket, one.peer, arrivals, shared);
        let builder = thread::Builder::new().name("session".to_owned());
        Some(Entry {
            from,
            arrivals: ArrivalSender {
                streams: sender,
                bell: Arc::new(near),
            },
            numbered,
            ends,
            thread: builder.spawn_scoped(self.scope, work).ok()?,
        })
    }

    /// Tells the client that there is no place for it, and about when there will be one.
    fn turn_away(&self, mut one: Unidentified, denial: Denial, reason: Refusal) {
        // Best effort: a client that is gone needs no answer.
        let _ = one.socket.write(&denial.encode());
        self.refuse(one.peer, reason);
    }

    fn refuse(&self, peer: SocketAddr, reason: Refusal) {
        self.shared.tell(ServerEvent::Refused { peer, reason });
    }
}

impl Entry<'_> {
    fn is_numbered(&self) -> bool {
        self.numbered.load(Ordering::Acquire)
    }

    fn hand_over(&self, one: Unidentified) {
        let place = one.number().map_or(one.order, u64::from);
        // A connection that is gone is none.
        if let Ok(channel) = Channel::plain(one.socket) {
            self.arrivals.send(Arrival { place, channel });
        }
    }
}

/// IPv4 clients of an IPv6 listener under their own address.
fn canonical(peer: SocketAddr) -> SocketAddr {
    SocketAddr::new(peer.ip().to_canonical(), peer.port())
}

enum Reading {
    /// Nothing of it has been read.
    OfACopy,
    Whole,
    Unfinished,
    Gone,
}

impl Unidentified {
    fn read(&mut self, may_be_a_copy: bool) -> Reading {
        if may_be_a_copy && self.filled == 0 {
            match self.first_byte() {
                Ok(Some(first)) if is_of_a_copy(first) => return Reading::OfACopy,
                Ok(Some(_)) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Reading::Unfinished,
                Ok(None) | Err(_) => return Reading::Gone,
            }
        }
        let room = self.greeting.get_mut(self.filled..self.wanted);
        let room = room.unwrap_or_default();
        match self.socket.read(room) {
            Ok(0) => return Reading::Gone,
            Ok(got) => self.filled += got,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return Reading::Gone,
        }
        match self.filled == self.wanted {
            true => Reading::Whole,
            false => Reading::Unfinished,
        }
    }

    /// Its first byte. Without it, a copy that begins just then could be taken for a test.
    fn first_byte(&self) -> io::Result<Option<u8>> {
        let mut first = [0];
        Ok((self.socket.peek(&mut first)? > 0).then_some(first[0]))
    }

    fn cookie(&self) -> [u8; COOKIE_LENGTH] {
        let (cookie, _) = self.greeting.split_at(COOKIE_LENGTH);
        let mut bytes = [0; COOKIE_LENGTH];
        bytes.copy_from_slice(cookie);
        bytes
    }

    /// The stream's own number, where it was asked for.
    fn number(&self) -> Option<u16> {
        let (_, number) = self.greeting.split_at(COOKIE_LENGTH);
        let number = number.try_into().map(u16::from_be_bytes).ok();
        number.filter(|_| self.filled == GREETING_MAX)
    }
}
