//! Accepts connections, identifies each, and rejects those that do not belong to a copy.
//!
//! One thread looks at all of them without waiting for any, so that a peer that says little or
//! nothing costs a place among a bounded number for a bounded time, and no thread. Once identified,
//! a session gets a thread, and a stream goes to its session.

mod source;
mod turned_away;

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use units::Span;
use wire::copying::{Admitted, Exporter, Greeting, KeyName, Refusal, answer_hello, refusal};

use super::conversation::Conversation;
use super::desk::Desk;
use super::handle::StreamHandle;
use super::identity::Identity;
use super::pending::{Found, Pending};
use super::{CopyHandler, SOFTWARE, Visit};
use sockets::Clock;
use sockets::eviction;
use sockets::poll::{is_ready, readable, wait};

pub use source::Intake;
pub(crate) use source::Source;
pub use turned_away::TurnedAway;

/// How soon a stop is noticed.
const TICK: Duration = Duration::from_millis(100);
/// Connections taken before those that wait are looked at again.
const ACCEPTS_MAX: usize = 64;

/// What is granted to those who have not shown who they are, and how many conversations there may
/// be.
#[derive(Debug, Clone, Copy)]
pub struct DoorLimits {
    /// Connections that have not shown yet what they are; one more drops the oldest of the address
    /// that has most. Each may take some 40 KiB.
    pub waiting: usize,
    /// How long one may take to show it.
    pub patience: Span,
    /// Conversations at the same time.
    pub conversations: usize,
    /// Those of them under one name of a token.
    pub conversations_per_name: usize,
    /// How long a conversation may be silent.
    pub silence: Span,
}

/// 512 connections of 40 KiB are 20 MiB. Ends say something twice a second; a path that is out for
/// ten seconds and then takes TCP five more to notice is not given up.
impl Default for DoorLimits {
    fn default() -> Self {
        DoorLimits {
            waiting: 512,
            patience: Span::from_secs(10),
            conversations: 64,
            conversations_per_name: 8,
            silence: Span::from_secs(15),
        }
    }
}

/// What the threads of one port share.
pub(super) struct House {
    pub identity: Identity,
    pub limits: DoorLimits,
    pub handler: Arc<dyn CopyHandler>,
    pub desk: Arc<Desk>,
}

/// A conversation with its thread.
struct Running {
    name: KeyName,
    handle: StreamHandle,
    thread: JoinHandle<()>,
}

/// Accepts the connections of copies, on the thread that runs it.
pub struct Door {
    source: Source,
    house: Arc<House>,
    clock: Clock,
    pending: VecDeque<Pending>,
    visits: Vec<Running>,
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

    /// An acceptor behind the port of another server.
    ///
    /// # Errors
    /// When this process has no descriptor left.
    pub fn behind(
        identity: Identity,
        limits: DoorLimits,
        handler: Arc<dyn CopyHandler>,
    ) -> io::Result<(Intake, Door)> {
        let (intake, source) = Intake::new()?;
        let house = House {
            identity,
            limits,
            handler,
            desk: Arc::default(),
        };
        Ok((intake, Door::new(source, Arc::new(house))))
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
        for visit in self.visits.drain(..) {
            visit.handle.shut_down();
            // A handler that panicked has said so on stderr; the others go on.
            let _ = visit.thread.join();
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
        self.visits.retain(|visit| !visit.thread.is_finished());
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
        let handler = &self.house.handler;
        let answered = answer_hello(hello, exporter, SOFTWARE, |name| handler.find(name));
        let refused = match answered {
            Err((error, answer)) => (error.into(), answer),
            Ok((admitted, answer)) => match self.busy(&admitted.key_name) {
                Some(busy) => {
                    let told = told(&busy);
                    (busy, told)
                }
                None => {
                    let begun = self.begin(admitted, &answer, one);
                    return begun.unwrap_or_else(|error| {
                        self.turn_away(peer, &TurnedAway::Broken(error.to_string()));
                    });
                }
            },
        };
        // Best effort: a peer that is gone needs no answer.
        let _ = one.answer(&refused.1);
        one.close();
        self.turn_away(peer, &refused.0);
    }

    /// Why there is no place for one more conversation under that name.
    fn busy(&self, name: &KeyName) -> Option<TurnedAway> {
        let limits = &self.house.limits;
        let (all, most) = (limits.conversations, limits.conversations_per_name);
        if self.visits.len() >= all {
            return Some(TurnedAway::Busy(all));
        }
        let own = self.visits.iter().filter(|visit| visit.name == *name);
        (own.count() >= most).then(|| TurnedAway::BusyName(name.clone(), most))
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
        let name = admitted.key_name.clone();
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
        self.visits.push(Running {
            name,
            handle,
            thread,
        });
        Ok(())
    }

    /// Drops the oldest connection of the address that has most of them.
    fn make_room(&mut self) {
        let bound = self.house.limits.waiting;
        while self.pending.len() >= bound {
            let addresses = self.pending.iter().map(|one| one.peer.ip());
            let position = eviction::oldest_of_largest(addresses);
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

fn told(busy: &TurnedAway) -> Vec<u8> {
    refusal(&Refusal {
        what: busy.to_string(),
        hint: Some("try again when one of them is done".to_owned()),
    })
}
