//! Accepts connections, identifies each, and rejects those that do not belong to a copy.
//!
//! One thread looks at all of them without waiting for any, so that a peer that says little or
//! nothing costs a place among a bounded number for a bounded time, and no thread. Once identified,
//! a session gets a thread, and a stream goes to its session.

mod queue;
mod rejection;
mod session;
mod source;

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use copy_protocol::{
    Admitted, Exporter, Greeting, Key, KeyName, NoPlace, Purpose, Refusal, Rights, answer_hello,
    no_place, refusal,
};
use units::Span;

use super::handle::StreamHandle;
use super::handshaking::{Handshaking, Identified};
use super::identity::Identity;
use super::session_registry::SessionRegistry;
use super::{Channel, ChannelHandler, CopyHandler, SOFTWARE};
use sockets::Clock;
use sockets::eviction;
use sockets::poll::{is_ready, readable, wait};

use queue::Queue;
use session::Session;

pub use rejection::Rejection;
pub use source::{Handover, Source};

/// How soon a stop is noticed.
const TICK: Duration = Duration::from_millis(100);
/// Connections accepted before the waiting ones are read again.
const ACCEPTS_MAX: usize = 64;

/// Limits on connections that are not identified, and on the number of sessions.
#[derive(Debug, Clone, Copy)]
pub struct AcceptLimits {
    /// Connections that are not identified yet; one more drops the oldest of the address
    /// that has most. Each may take some 40 KiB.
    pub waiting: usize,
    /// How long a connection may take to identify itself.
    pub timeout: Span,
    /// Conversations at the same time.
    pub conversations: usize,
    /// Those of them under one name of a token.
    pub conversations_per_name: usize,
    /// How long a conversation may be silent.
    pub silence: Span,
    /// Sessions of access to files at the same time.
    pub remotes: usize,
    /// Those of them under one name of a token.
    pub remotes_per_name: usize,
}

/// 512 connections of 40 KiB are 20 MiB. Ends say something twice a second; a path that is out for
/// ten seconds and then takes TCP five more to notice is not given up. Each worker of a cluster job
/// may hold a session of access to files for as long as it runs.
impl Default for AcceptLimits {
    fn default() -> Self {
        AcceptLimits {
            waiting: 512,
            timeout: Span::from_secs(10),
            conversations: 64,
            conversations_per_name: 8,
            silence: Span::from_secs(15),
            remotes: 256,
            remotes_per_name: 64,
        }
    }
}

/// Who serves the authenticated connections of one port.
#[derive(Clone)]
pub enum Handler {
    /// Conversations of copies, with their streams.
    Copies(Arc<dyn CopyHandler>),
    /// Bytes both ways.
    Channels(Arc<dyn ChannelHandler>),
}

impl From<Arc<dyn CopyHandler>> for Handler {
    fn from(handler: Arc<dyn CopyHandler>) -> Self {
        Handler::Copies(handler)
    }
}

impl From<Arc<dyn ChannelHandler>> for Handler {
    fn from(handler: Arc<dyn ChannelHandler>) -> Self {
        Handler::Channels(handler)
    }
}

impl Handler {
    fn find(&self, name: &KeyName) -> Option<(Key, Rights)> {
        match self {
            Handler::Copies(copies) => copies.find(name),
            Handler::Channels(channels) => channels.find(name),
        }
    }

    /// Why nothing is served for that purpose, where that is so.
    fn unserved(&self, purpose: Purpose) -> Option<Rejection> {
        let copies = match self {
            Handler::Copies(copies) => Some(copies),
            Handler::Channels(_) => None,
        };
        match purpose {
            Purpose::Copy => None,
            Purpose::Remote => {
                let remote = copies.and_then(|copies| copies.remote());
                remote.is_none().then_some(Rejection::NoRemote)
            }
            Purpose::Grant | Purpose::Push => {
                let third_party = copies.and_then(|copies| copies.third_party());
                third_party.is_none().then_some(Rejection::NoThirdParty)
            }
            Purpose::Pipe => {
                let pipes = copies.and_then(|copies| copies.pipes());
                pipes.is_none().then_some(Rejection::NoPipes)
            }
        }
    }

    /// The name whose places a session takes.
    fn holder(&self, name: &KeyName) -> KeyName {
        match self {
            Handler::Copies(copies) => copies.holder(name),
            Handler::Channels(_) => name.clone(),
        }
    }

    fn copies_max(&self, holder: &KeyName) -> Option<u16> {
        match self {
            Handler::Copies(copies) => copies.copies_max(holder),
            Handler::Channels(_) => None,
        }
    }

    fn time_left(&self) -> Vec<(KeyName, Option<Span>)> {
        match self {
            Handler::Copies(copies) => copies.time_left(),
            Handler::Channels(_) => Vec::new(),
        }
    }

    pub(super) fn rejected(&self, peer: SocketAddr, reason: &Rejection) {
        match self {
            Handler::Copies(copies) => copies.rejected(peer, reason),
            Handler::Channels(channels) => channels.rejected(peer, reason),
        }
    }
}

/// What the threads of one port share.
pub(super) struct Shared {
    pub identity: Identity,
    pub limits: AcceptLimits,
    pub handler: Handler,
    pub registry: Arc<SessionRegistry>,
}

/// A conversation with its thread.
struct Running {
    holder: KeyName,
    place: Place,
    handle: StreamHandle,
    thread: JoinHandle<()>,
}

/// What a session takes a place among.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Copies, those that another host commands included, and pipes.
    Copy,
    /// Sessions that only ask.
    Session,
}

impl Place {
    fn of(purpose: Purpose) -> Self {
        match purpose {
            Purpose::Copy | Purpose::Push | Purpose::Pipe => Place::Copy,
            Purpose::Remote | Purpose::Grant => Place::Session,
        }
    }
}

/// Why a session is not served.
struct Refused {
    reason: Rejection,
    /// The frame for the near end.
    told: Vec<u8>,
    /// One that waits asks again every few seconds: it is told of once.
    is_news: bool,
}

impl Refused {
    fn new(reason: Rejection, told: Vec<u8>) -> Self {
        Refused {
            reason,
            told,
            is_news: true,
        }
    }
}

/// Accepts the connections of copies, on the thread that runs it.
pub struct Acceptor {
    source: Source,
    shared: Arc<Shared>,
    clock: Clock,
    handshaking: VecDeque<Handshaking>,
    sessions: Vec<Running>,
    /// Copies that wait for a place.
    queue: Queue,
}

impl Acceptor {
    pub(super) fn new(source: Source, shared: Arc<Shared>) -> Self {
        Acceptor {
            source,
            shared,
            clock: Clock::start(),
            handshaking: VecDeque::new(),
            sessions: Vec::new(),
            queue: Queue::default(),
        }
    }

    /// An acceptor behind the port of another server.
    ///
    /// # Errors
    /// When this process has no descriptor left.
    pub fn behind(
        identity: Identity,
        limits: AcceptLimits,
        handler: Arc<dyn CopyHandler>,
    ) -> io::Result<(Handover, Acceptor)> {
        let (handover, source) = Handover::new()?;
        let shared = Shared {
            identity,
            limits,
            handler: Handler::Copies(handler),
            registry: Arc::default(),
        };
        Ok((handover, Acceptor::new(source, Arc::new(shared))))
    }

    /// What an acceptor of streams over UDP passes them to.
    pub(super) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// Serves until `is_stopped`; then conversations are broken and their handlers waited for.
    pub fn run(mut self, is_stopped: &dyn Fn() -> bool) {
        while !is_stopped() {
            let ready = self.wait();
            self.forget_finished();
            self.look_at(&ready);
            self.drop_silent();
            self.accept();
        }
        for accepted in self.sessions.drain(..) {
            accepted.handle.shut_down();
            // A handler that panicked has said so on stderr; the others go on.
            let _ = accepted.thread.join();
        }
    }

    /// Which of the waiting connections have data.
    fn wait(&self) -> Vec<bool> {
        let mut watched: Vec<_> = self.handshaking.iter().map(Handshaking::watched).collect();
        watched.push(readable(self.source.watched()));
        if wait(&mut watched, TICK).is_err() {
            thread::sleep(TICK);
        }
        watched.iter().map(is_ready).collect()
    }

    fn forget_finished(&mut self) {
        self.sessions
            .retain(|accepted| !accepted.thread.is_finished());
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTS_MAX {
            let Some((socket, peer)) = self.source.next() else {
                return;
            };
            let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
            // A socket that cannot be set up is gone.
            if let Ok(one) = Handshaking::new(socket, peer, self.clock.now())
                && let Some(silent) = self.look(one)
            {
                self.make_room();
                self.handshaking.push_back(silent);
            }
        }
    }

    fn look_at(&mut self, ready: &[bool]) {
        let waiting = std::mem::take(&mut self.handshaking);
        for (index, one) in waiting.into_iter().enumerate() {
            let silent = match ready.get(index) {
                Some(true) => self.look(one),
                _ => Some(one),
            };
            self.handshaking.extend(silent);
        }
    }

    /// Returns the connection while it is not identified.
    fn look(&mut self, mut one: Handshaking) -> Option<Handshaking> {
        match one.look(&self.shared.identity) {
            Identified::Nothing => return Some(one),
            Identified::Closed => {}
            Identified::Wrong(reason) => self.reject(one.peer, &reason),
            Identified::Stream(greeting) => self.take_stream(&greeting, one),
            Identified::Caller => self.take_caller(one),
            Identified::Control(hello, exporter) => self.take_control(&hello, &exporter, one),
        }
        None
    }

    fn take_stream(&mut self, greeting: &Greeting, one: Handshaking) {
        let peer = one.peer;
        let (socket, tls) = one.into_parts();
        let channel = Channel::new(Arc::new(socket), tls);
        tracing::debug!(%peer, number = greeting.number, "a stream arrives");
        if let Err(reason) = self.shared.registry.hand_over(greeting, channel) {
            self.reject(peer, &reason);
        }
    }

    fn take_caller(&mut self, one: Handshaking) {
        let peer = one.peer;
        let (socket, _) = one.into_parts();
        if let Err(reason) = self.shared.registry.call((socket, peer)) {
            self.reject(peer, &reason);
        }
    }

    fn take_control(&mut self, hello: &[u8], exporter: &Exporter, mut one: Handshaking) {
        let peer = one.peer;
        let handler = &self.shared.handler;
        let answered = answer_hello(hello, exporter, SOFTWARE, |name| handler.find(name));
        let refused = match answered {
            Err((error, answer)) => Refused::new(error.into(), answer),
            Ok((admitted, answer)) => match self.refused(&admitted, peer.ip()) {
                Some(refused) => refused,
                None => {
                    let begun = self.begin(admitted, &answer, one);
                    return begun.unwrap_or_else(|error| {
                        self.reject(peer, &Rejection::Broken(error.to_string()));
                    });
                }
            },
        };
        // Best effort: a peer that is gone needs no answer.
        let _ = one.answer(&refused.told);
        one.close();
        if refused.is_news {
            self.reject(peer, &refused.reason);
        }
    }

    /// Why a session is not served: what it is for, that one more is too many, or that others wait
    /// before it.
    fn refused(&mut self, admitted: &Admitted, address: IpAddr) -> Option<Refused> {
        if let Some(unserved) = self.shared.handler.unserved(admitted.purpose) {
            return Some(refused_for(admitted.version, unserved));
        }
        let holder = self.shared.handler.holder(&admitted.key_name);
        match Place::of(admitted.purpose) {
            Place::Copy => self.queued(admitted.version, &holder, address),
            Place::Session => self
                .full(Place::Session, &holder)
                .map(|full| refused_for(admitted.version, full)),
        }
    }

    /// The bound that one more session would break.
    fn full(&self, place: Place, holder: &KeyName) -> Option<Rejection> {
        let limits = &self.shared.limits;
        let (is_full, is_own_full) = (self.free(place) == 0, self.is_own_full(place, holder));
        let (name, own) = (holder.clone(), self.own_most(place, holder));
        match place {
            Place::Copy if is_full => Some(Rejection::Busy(limits.conversations)),
            Place::Session if is_full => Some(Rejection::BusyRemote(limits.remotes)),
            Place::Copy if is_own_full => Some(Rejection::BusyName(name, own)),
            Place::Session if is_own_full => Some(Rejection::BusyRemoteName(name, own)),
            Place::Copy | Place::Session => None,
        }
    }

    /// Places that are free.
    fn free(&self, place: Place) -> usize {
        let most = match place {
            Place::Copy => self.shared.limits.conversations,
            Place::Session => self.shared.limits.remotes,
        };
        let alike = self.sessions.iter().filter(|one| one.place == place);
        most.saturating_sub(alike.count())
    }

    /// Whether a name has all places that one may have.
    fn is_own_full(&self, place: Place, holder: &KeyName) -> bool {
        self.own_taken(place, holder) >= self.own_most(place, holder)
    }

    /// Places that a name may have.
    fn own_most(&self, place: Place, holder: &KeyName) -> usize {
        let limits = &self.shared.limits;
        match place {
            Place::Copy => {
                let own = self.shared.handler.copies_max(holder);
                own.map_or(limits.conversations_per_name, usize::from)
            }
            Place::Session => limits.remotes_per_name,
        }
    }

    /// Places that a name has.
    fn own_taken(&self, place: Place, holder: &KeyName) -> usize {
        let alike = self.sessions.iter().filter(|one| one.place == place);
        alike.filter(|one| one.holder == *holder).count()
    }

    /// Until a place may be free for a copy of that name with so many others before it, by what the
    /// running ones have left. Those that do not know what they have left count as the last to end;
    /// none where one of them would have to.
    fn until_free(&self, name: &KeyName, ahead: usize) -> Option<Span> {
        let all = self.shared.handler.time_left();
        let end_of = |nth: usize, is_in: &dyn Fn(&KeyName) -> bool| {
            let known = all.iter().filter(|(holder, _)| is_in(holder));
            let mut known: Vec<Span> = known.filter_map(|(_, left)| *left).collect();
            known.sort();
            known.get(nth).copied()
        };
        let (own, most) = (
            self.own_taken(Place::Copy, name),
            self.own_most(Place::Copy, name),
        );
        let free = self.free(Place::Copy);
        let waits_for_own = own >= most;
        let waits_for_any = ahead >= free;
        let own_end = waits_for_own.then(|| end_of(own - most, &|holder| holder == name));
        let any_end = waits_for_any.then(|| end_of(ahead - free, &|_| true));
        // Both are waited for; where one of them is not known, neither is their maximum.
        let ends: Option<Vec<Span>> = [own_end, any_end].into_iter().flatten().collect();
        ends?.into_iter().max()
    }

    /// A copy that has to wait gets a ticket, and places go to those who asked first.
    fn queued(&mut self, version: u16, name: &KeyName, address: IpAddr) -> Option<Refused> {
        let now = self.clock.now();
        let mut queue = std::mem::take(&mut self.queue);
        let may_come = |name: &KeyName| !self.is_own_full(Place::Copy, name);
        let ahead = queue.ahead(name, address, now, may_come);
        let full = self.full(Place::Copy, name);
        let turn = || (ahead >= self.free(Place::Copy)).then_some(Rejection::Queued(ahead));
        let refused = full.or_else(turn).map(|reason| {
            let left = self.until_free(name, ahead);
            let told = NoPlace {
                what: reason.to_string(),
                ahead: u16::try_from(ahead).unwrap_or(u16::MAX),
                seconds: left.map(|left| left.as_secs_f64().ceil() as u32),
            };
            Refused {
                told: no_place(version, &told),
                is_news: queue.wait(name, address, now),
                reason,
            }
        });
        if refused.is_none() {
            queue.leave(name, address);
        }
        self.queue = queue;
        refused
    }

    fn begin(&mut self, admitted: Admitted, answer: &[u8], mut one: Handshaking) -> io::Result<()> {
        let peer = one.peer;
        let (name, purpose) = (&admitted.key_name, admitted.purpose);
        tracing::info!(%peer, %name, ?purpose, "both ends know each other");
        one.answer(answer)?;
        let (socket, tls) = one.into_parts();
        let Some(tls) = tls else {
            return Err(ErrorKind::InvalidInput.into());
        };
        let socket = Arc::new(socket);
        let handle = StreamHandle::new(&socket);
        let (holder, purpose) = (
            self.shared.handler.holder(&admitted.key_name),
            admitted.purpose,
        );
        let session = Session {
            peer,
            admitted,
            socket,
            tls,
        };
        let thread = session.start(&self.shared)?;
        self.sessions.push(Running {
            holder,
            place: Place::of(purpose),
            handle,
            thread,
        });
        Ok(())
    }

    /// Drops the oldest connection of the address that has most of them.
    fn make_room(&mut self) {
        let bound = self.shared.limits.waiting;
        while self.handshaking.len() >= bound {
            let addresses = self.handshaking.iter().map(|one| one.peer.ip());
            let position = eviction::oldest_of_largest(addresses);
            let Some(oldest) = position.and_then(|at| self.handshaking.remove(at)) else {
                return;
            };
            self.reject(oldest.peer, &Rejection::Crowded(bound));
        }
    }

    fn drop_silent(&mut self) {
        let (now, timeout) = (self.clock.now(), self.shared.limits.timeout);
        while let Some(one) = self.handshaking.front()
            && now.since(one.since) >= timeout
        {
            self.reject(one.peer, &Rejection::Silent(timeout));
            self.handshaking.pop_front();
        }
    }

    fn reject(&self, peer: SocketAddr, reason: &Rejection) {
        tracing::info!(%peer, %reason, "connection rejected");
        self.shared.handler.rejected(peer, reason);
    }
}

/// A refusal, with what the near end can do.
fn refused_for(version: u16, reason: Rejection) -> Refused {
    let hint = match reason {
        Rejection::NoRemote => "copy whole files with `trunkline copy`",
        Rejection::NoPipes => "copy files with `trunkline copy`",
        Rejection::NoThirdParty => "copy from or to the host that you are on",
        _ => "try again when one of them is done",
    };
    let told = Refusal {
        what: reason.to_string(),
        hint: Some(hint.to_owned()),
    };
    let told = refusal(version, &told);
    Refused::new(reason, told)
}
