//! Finds out what each new connection is, and turns away what does not belong here.
//!
//! One thread looks at all of them without waiting for any, so that a peer that says little or nothing costs a
//! place among a bounded number for a bounded time, and no thread. What has shown itself gets one: a conversation that of its handler,
//! a stream that of whoever takes it.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::sys::eventfd::{EfdFlags, EventFd};
use thiserror::Error;
use units::Span;
use wire::copying::{
    Admitted, Exporter, Greeting, GreetingError, HandshakeError, Refusal, answer_hello, refusal,
};

use super::conversation::Conversation;
use super::desk::Desk;
use super::handle::StreamHandle;
use super::identity::Identity;
use super::pending::{Found, Pending};
use super::{CopyHandler, SOFTWARE, Visit};
use crate::clock::Clock;
use crate::control::{is_ready, readable, wait};
use crate::crowd;

/// How soon a stop is noticed.
const TICK: Duration = Duration::from_millis(100);
/// Connections taken before those that wait are looked at again.
const ACCEPTS_MAX: usize = 64;
/// Connections on their way from another acceptor.
const INTAKE_MAX: usize = 256;

/// What is granted to those who have not shown who they are, and how many conversations there may be.
#[derive(Debug, Clone, Copy)]
pub struct DoorLimits {
    /// Connections that have not shown yet what they are; one more drops the oldest of the address that has most.
    /// Each may take some 40 KiB.
    pub waiting: usize,
    /// How long one may take to show it.
    pub patience: Span,
    /// Conversations at the same time.
    pub conversations: usize,
    /// How long a conversation may be silent.
    pub silence: Span,
}

/// 512 connections of 40 KiB are 20 MiB. Ends say something twice a second; a path that is out for ten seconds and then
/// takes TCP five more to notice is not given up.
impl Default for DoorLimits {
    fn default() -> Self {
        DoorLimits {
            waiting: 512,
            patience: Span::from_secs(10),
            conversations: 64,
            silence: Span::from_secs(15),
        }
    }
}

/// Why a connection became neither a conversation nor a stream.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TurnedAway {
    /// It speaks another protocol.
    #[error("its first byte is {0:#04x}, neither TLS nor a stream")]
    Stranger(u8),
    /// Its TLS or its socket failed.
    #[error("{0}")]
    Broken(String),
    /// Its hello is too long or empty.
    #[error("it announced a hello of {0} bytes; 1 to 1024 are read")]
    Hello(u32),
    /// Its hello was not accepted.
    #[error(transparent)]
    Handshake(#[from] HandshakeError),
    /// It begins like a stream and is none.
    #[error(transparent)]
    Greeting(#[from] GreetingError),
    /// A stream of a conversation that there is not (any more).
    #[error("its stream belongs to no conversation here")]
    NoSession,
    /// A stream that does not know the key of its conversation.
    #[error("its stream does not know the key of its conversation")]
    NotOurs,
    /// A stream number that was used before.
    #[error("stream {0} was here before")]
    Repeated(u32),
    /// A stream in the clear where none was agreed on.
    #[error("its stream is not encrypted, but the copy is")]
    Plain,
    /// Its conversation has not taken the streams before it.
    #[error("{0} streams before it have not been taken by their conversation")]
    Crowd(usize),
    /// It wants to be spoken to first, which nobody here asked for.
    #[error("it wants to be spoken to first, which nobody here asked for")]
    NotCalled,
    /// It did not say in time what it is.
    #[error("it did not show within {0} what it is")]
    Silent(Span),
    /// Too many others came after it without saying what they are.
    #[error(
        "{0} connections had not shown what they are, most of them from its address, and it was the oldest of those"
    )]
    Crowded(usize),
    /// All places are taken.
    #[error("{0} copies are connected, the most this end allows")]
    Busy(usize),
}

/// Where connections come from.
pub(super) enum Source {
    /// A port of its own.
    Listener(TcpListener),
    /// Somebody who has looked at their first byte.
    Acceptor(Receiver<(TcpStream, SocketAddr)>, Arc<EventFd>),
}

/// The other end of [`Source::Acceptor`].
#[derive(Debug, Clone)]
pub(crate) struct Intake {
    sender: SyncSender<(TcpStream, SocketAddr)>,
    bell: Arc<EventFd>,
}

/// What the threads of one port share.
pub(super) struct House {
    pub identity: Identity,
    pub limits: DoorLimits,
    pub handler: Arc<dyn CopyHandler>,
    pub desk: Arc<Desk>,
}

pub(crate) struct Door {
    source: Source,
    house: Arc<House>,
    clock: Clock,
    pending: VecDeque<Pending>,
    visits: Vec<(StreamHandle, JoinHandle<()>)>,
}

impl Intake {
    /// Hands over a connection; one too many is closed.
    pub(crate) fn give(&self, socket: TcpStream, peer: SocketAddr) {
        if self.sender.try_send((socket, peer)).is_ok() {
            // A bell that cannot count further rings already.
            let _ = self.bell.write(1);
        }
    }
}

impl Source {
    fn watched(&self) -> BorrowedFd<'_> {
        match self {
            Source::Listener(listener) => listener.as_fd(),
            Source::Acceptor(_, bell) => bell.as_fd(),
        }
    }

    fn next(&self) -> Option<(TcpStream, SocketAddr)> {
        match self {
            Source::Listener(listener) => loop {
                match listener.accept() {
                    Ok(accepted) => return Some(accepted),
                    Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                    Err(error) if error.kind() == ErrorKind::WouldBlock => return None,
                    // No descriptor left: the connection stays in the backlog until one is free.
                    Err(_) => {
                        thread::sleep(TICK);
                        return None;
                    }
                }
            },
            Source::Acceptor(receiver, bell) => {
                let _ = bell.read();
                receiver.try_recv().ok()
            }
        }
    }
}

impl Door {
    pub(super) fn new(source: Source, house: Arc<House>) -> Self {
        Door {
            source,
            house,
            clock: Clock::start(),
            pending: VecDeque::new(),
            visits: Vec::new(),
        }
    }

    /// A door behind somebody else's port.
    ///
    /// # Errors
    /// When this process has no descriptor left.
    pub(crate) fn behind(
        identity: Identity,
        limits: DoorLimits,
        handler: Arc<dyn CopyHandler>,
    ) -> io::Result<(Intake, Door)> {
        let (sender, receiver) = sync_channel(INTAKE_MAX);
        let flags = EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC;
        let bell = Arc::new(EventFd::from_value_and_flags(0, flags)?);
        let source = Source::Acceptor(receiver, Arc::clone(&bell));
        let house = House {
            identity,
            limits,
            handler,
            desk: Arc::default(),
        };
        Ok((Intake { sender, bell }, Door::new(source, Arc::new(house))))
    }

    /// Serves until `is_stopped`; then conversations are broken and their handlers waited for.
    pub(crate) fn run(mut self, is_stopped: &dyn Fn() -> bool) {
        while !is_stopped() {
            let ready = self.wait();
            self.forget_finished();
            self.look_at(&ready);
            self.drop_silent();
            self.accept();
        }
        for (handle, thread) in self.visits.drain(..) {
            handle.shut_down();
            // A handler that panicked has said so on stderr; the others go on.
            let _ = thread.join();
        }
    }

    /// Which of the pending connections have something to say.
    fn wait(&self) -> Vec<bool> {
        let mut watched: Vec<_> = self.pending.iter().map(Pending::watched).collect();
        watched.push(readable(self.source.watched()));
        if wait(&mut watched, TICK).is_err() {
            thread::sleep(TICK);
        }
        watched.iter().map(is_ready).collect()
    }

    fn forget_finished(&mut self) {
        self.visits.retain(|(_, thread)| !thread.is_finished());
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTS_MAX {
            let Some((socket, peer)) = self.source.next() else {
                return;
            };
            let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
            // A socket that cannot be set up is gone.
            if let Ok(one) = Pending::new(socket, peer, self.clock.now())
                && let Some(silent) = self.look(one)
            {
                self.make_room();
                self.pending.push_back(silent);
            }
        }
    }

    fn look_at(&mut self, ready: &[bool]) {
        let waiting = std::mem::take(&mut self.pending);
        for (index, one) in waiting.into_iter().enumerate() {
            let silent = match ready.get(index) {
                Some(true) => self.look(one),
                _ => Some(one),
            };
            self.pending.extend(silent);
        }
    }

    /// Gives the connection back while it has not shown what it is.
    fn look(&mut self, mut one: Pending) -> Option<Pending> {
        match one.look(&self.house.identity) {
            Found::Nothing => return Some(one),
            Found::Gone => {}
            Found::Wrong(reason) => self.turn_away(one.peer, &reason),
            Found::Stream(greeting) => self.take_stream(&greeting, one),
            Found::Caller => self.take_caller(one),
            Found::Control(hello, exporter) => self.take_control(&hello, &exporter, one),
        }
        None
    }

    fn take_stream(&mut self, greeting: &Greeting, one: Pending) {
        let peer = one.peer;
        let (socket, tls) = one.into_parts();
        if let Err(reason) = self.house.desk.hand_over(greeting, socket, tls) {
            self.turn_away(peer, &reason);
        }
    }

    fn take_caller(&mut self, one: Pending) {
        let peer = one.peer;
        let (socket, _) = one.into_parts();
        if let Err(reason) = self.house.desk.call((socket, peer)) {
            self.turn_away(peer, &reason);
        }
    }

    fn take_control(&mut self, hello: &[u8], exporter: &Exporter, mut one: Pending) {
        let peer = one.peer;
        let bound = self.house.limits.conversations;
        let handler = &self.house.handler;
        let answered = answer_hello(hello, exporter, SOFTWARE, |name| handler.find(name));
        let refused = match answered {
            Err((error, answer)) => (error.into(), answer),
            Ok(_) if self.visits.len() >= bound => (TurnedAway::Busy(bound), busy(bound)),
            Ok((admitted, answer)) => {
                let begun = self.begin(admitted, &answer, one);
                return begun.unwrap_or_else(|error| {
                    self.turn_away(peer, &TurnedAway::Broken(error.to_string()));
                });
            }
        };
        // Best effort: a peer that is gone needs no answer.
        let _ = one.answer(&refused.1);
        one.close();
        self.turn_away(peer, &refused.0);
    }

    fn begin(&mut self, admitted: Admitted, answer: &[u8], mut one: Pending) -> io::Result<()> {
        let peer = one.peer;
        one.answer(answer)?;
        let (socket, tls) = one.into_parts();
        let Some(tls) = tls else {
            return Err(ErrorKind::InvalidInput.into());
        };
        let streams = self.house.desk.expect(admitted.session_key.clone())?;
        let silence = self.house.limits.silence;
        let conversation = Conversation::start(Arc::new(socket), tls, silence)?;
        let handle = conversation.handle();
        let visit = Visit {
            peer,
            admitted,
            conversation,
            streams,
        };
        let handler = Arc::clone(&self.house.handler);
        let thread = thread::Builder::new()
            .name("copy".to_owned())
            .spawn(move || handler.serve(visit))?;
        self.visits.push((handle, thread));
        Ok(())
    }

    /// Drops the oldest connection of the address that has most of them.
    fn make_room(&mut self) {
        let bound = self.house.limits.waiting;
        while self.pending.len() >= bound {
            let addresses = self.pending.iter().map(|one| one.peer.ip());
            let position = crowd::oldest_of_largest(addresses);
            let Some(oldest) = position.and_then(|at| self.pending.remove(at)) else {
                return;
            };
            self.turn_away(oldest.peer, &TurnedAway::Crowded(bound));
        }
    }

    fn drop_silent(&mut self) {
        let (now, patience) = (self.clock.now(), self.house.limits.patience);
        while let Some(one) = self.pending.front()
            && now.since(one.since) >= patience
        {
            self.turn_away(one.peer, &TurnedAway::Silent(patience));
            self.pending.pop_front();
        }
    }

    fn turn_away(&self, peer: SocketAddr, reason: &TurnedAway) {
        self.house.handler.turned_away(peer, reason);
    }
}

fn busy(bound: usize) -> Vec<u8> {
    refusal(&Refusal {
        what: TurnedAway::Busy(bound).to_string(),
        hint: Some("try again when one of them is done".to_owned()),
    })
}
