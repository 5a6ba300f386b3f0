//! The connections of a session: made when they are needed, and made anew when they are lost.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use copy_net::{DialedRemote, Dialer, StreamDialer};
use copy_protocol::{Rights, Token, remote::Welcome};
use sockets::{Clock, StreamOptions};
use units::{Address, Span};

use crate::RemoteError;
use crate::adaptation::Adaptation;
use crate::connection::{Connection, Use};
use crate::options::RemoteOptions;
use crate::slot::{Slot, TICK, lock};

/// Pause before the first new try at a far end that is gone; each one doubles it.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// Pause after a stream could not be made.
const STREAM_PAUSE: Duration = Duration::from_secs(5);

/// The connections of a session.
#[derive(Debug)]
pub(crate) struct Pool {
    address: Address,
    token: Token,
    pub options: RemoteOptions,
    state: Mutex<State>,
    changed: Condvar,
    clock: Clock,
    me: Weak<Pool>,
}

#[derive(Debug)]
struct State {
    link: Link,
    connections: Vec<Arc<Connection>>,
    /// How many there should be at most; `None` before the first session.
    adaptation: Option<Adaptation>,
    /// Streams that are being made.
    connecting: usize,
    no_streams_until: Option<Instant>,
    next_number: u32,
}

/// The session.
#[derive(Debug)]
enum Link {
    Down,
    Connecting,
    Refused(RemoteError),
    Up(Box<Session>),
}

/// What is known of a session.
#[derive(Debug, Clone)]
struct Session {
    streams: StreamDialer,
    welcome: Welcome,
    rights: Rights,
    software: String,
}

/// What the far end lets this one do.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub rights: Rights,
    pub removes: bool,
    pub software: String,
}

impl Pool {
    pub fn new(address: Address, token: Token, options: RemoteOptions) -> Arc<Self> {
        Arc::new_cyclic(|me| Pool {
            address,
            token,
            options,
            state: Mutex::new(State {
                link: Link::Down,
                connections: Vec::new(),
                adaptation: None,
                connecting: 0,
                no_streams_until: None,
                next_number: 0,
            }),
            changed: Condvar::new(),
            clock: Clock::start(),
            me: me.clone(),
        })
    }

    /// Connects, where there is no session.
    ///
    /// # Errors
    /// When that fails for longer than `patience`, or cannot succeed, or `is_stopped`.
    pub fn connect(
        &self,
        patience: Span,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Facts, RemoteError> {
        let end = Instant::now() + Duration::from(patience);
        let mut pause = PAUSE;
        loop {
            match self.connect_once(is_stopped) {
                Ok(facts) => return Ok(facts),
                Err(RemoteError::Unreachable { may_pass: true, .. }) if Instant::now() < end => {}
                Err(error) => return Err(error),
            }
            let until = (Instant::now() + pause).min(end);
            while Instant::now() < until {
                if is_stopped() {
                    return Err(RemoteError::Cancelled);
                }
                thread::sleep(TICK.min(until.saturating_duration_since(Instant::now())));
            }
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// One try, by whichever thread comes first.
    fn connect_once(&self, is_stopped: &dyn Fn() -> bool) -> Result<Facts, RemoteError> {
        let mut state = self.lock();
        let mut has_waited = false;
        loop {
            match &state.link {
                Link::Up(session) => return Ok(session.facts()),
                Link::Refused(error) if has_waited => return Err(error.clone()),
                Link::Down | Link::Refused(_) => {
                    state.link = Link::Connecting;
                    self.dial_aside(&mut state);
                }
                Link::Connecting => {}
            }
            if is_stopped() {
                return Err(RemoteError::Cancelled);
            }
            has_waited = true;
            let waited = self.changed.wait_timeout(state, TICK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Dials on a thread of its own: callers may give up waiting.
    fn dial_aside(&self, state: &mut State) {
        let me = self.me.clone();
        let (address, token, timeout) = (
            self.address.clone(),
            self.token.clone(),
            self.options.connect_timeout,
        );
        let work = move || {
            let dialed = dial(&address, &token, timeout);
            if let Some(pool) = me.upgrade() {
                pool.on_dialed(dialed);
            }
        };
        let spawned = thread::Builder::new()
            .name("remote-dial".to_owned())
            .spawn(work);
        if let Err(error) = spawned {
            state.link = Link::Refused(no_thread(&error));
        }
    }

    fn on_dialed(&self, dialed: Result<(Session, Arc<Connection>), RemoteError>) {
        let mut state = self.lock();
        state.link = match dialed {
            Ok((session, connection)) => match connection.start(self.end()) {
                Ok(()) => {
                    // What was found is kept when the same far end comes back.
                    state
                        .adaptation
                        .get_or_insert_with(|| self.adaptation(&session));
                    state.connections = vec![connection];
                    state.next_number = 0;
                    state.no_streams_until = None;
                    Link::Up(Box::new(session))
                }
                Err(error) => Link::Refused(no_thread(&error)),
            },
            Err(error) => Link::Refused(error),
        };
        drop(state);
        self.changed.notify_all();
    }

    /// Begins with as many as a copy begins with, or as the caller wants.
    fn adaptation(&self, session: &Session) -> Adaptation {
        Adaptation::new(
            self.options.streams,
            self.options.remembered,
            session.welcome.streams_max,
            session.streams.rtt(),
        )
    }

    /// Makes connections until there is one for each of so many requests, as far as the session may
    /// have them.
    pub fn want(&self, requests: usize) {
        let mut state = self.lock();
        let State {
            link: Link::Up(_),
            adaptation: Some(adaptation),
            connections,
            connecting,
            ..
        } = &mut *state
        else {
            return;
        };
        let common: Vec<&Arc<Connection>> = common(connections).collect();
        if requests > common.len() && *connecting == 0 {
            let delivered = common.iter().map(|one| one.delivered()).sum();
            adaptation.on_demand(common.len(), delivered, self.clock.now());
        }
        let wanted = requests.min(adaptation.connections());
        for _ in common.len() + *connecting..wanted {
            self.make_stream(&mut state, Use::Common);
        }
    }

    /// Gives a request to the connection that has least to do. `false` when none has room, or none
    /// is there.
    pub fn ask(&self, slot: &Arc<Slot>) -> bool {
        let state = self.lock();
        let most = state.adaptation.as_ref().map_or(1, Adaptation::connections);
        let loads = common(&state.connections).take(most);
        let least = loads
            .filter_map(|one| one.load().map(|load| (load, Arc::clone(one))))
            .min_by_key(|(load, _)| *load);
        drop(state);
        least.is_some_and(|(_, connection)| connection.ask(slot))
    }

    /// Whether a connection has nothing to do.
    pub fn has_idle(&self) -> bool {
        let state = self.lock();
        common(&state.connections).any(|one| one.load().is_some_and(|(_, open)| open == 0))
    }

    /// Gives a long listing a connection of its own, once there is one; where the far end takes no
    /// more, one that others use.
    pub fn ask_alone(&self, slot: &Arc<Slot>) -> bool {
        let mut state = self.lock();
        if state.is_paused() {
            drop(state);
            return self.ask(slot);
        }
        let mut free = state.connections.iter().filter(|one| {
            one.used_for == Use::Listing && one.load().is_some_and(|(_, open)| open == 0)
        });
        match free.next().cloned() {
            Some(connection) => {
                drop(state);
                connection.ask(slot)
            }
            None => {
                self.make_stream(&mut state, Use::Listing);
                false
            }
        }
    }

    /// Makes a stream aside, unless the far end has just refused one.
    fn make_stream(&self, state: &mut State, used_for: Use) {
        let Link::Up(session) = &state.link else {
            return;
        };
        let is_made_already = used_for == Use::Listing && state.connecting > 0;
        if state.is_paused() || is_made_already {
            return;
        }
        let (dialer, number) = (session.streams.clone(), state.next_number);
        let number_of_session = session.welcome.session;
        state.next_number += 1;
        state.connecting += 1;
        let me = self.me.clone();
        let work = move || {
            let options = StreamOptions::default();
            let channel = dialer.stream(number_of_session, number, &options, false);
            let connection = channel
                .map_err(|error| error.to_string())
                .and_then(|channel| {
                    Connection::new(channel, dialer.rtt(), used_for, false)
                        .map_err(|error| error.to_string())
                });
            if let Some(pool) = me.upgrade() {
                pool.on_stream(number_of_session, connection.ok().map(Arc::new));
            }
        };
        let spawned = thread::Builder::new()
            .name("remote-stream".to_owned())
            .spawn(work);
        if spawned.is_err() {
            state.connecting -= 1;
            state.no_streams_until = Some(Instant::now() + STREAM_PAUSE);
        }
    }

    fn on_stream(&self, session: u64, connection: Option<Arc<Connection>>) {
        let mut state = self.lock();
        state.connecting = state.connecting.saturating_sub(1);
        let is_current = matches!(&state.link, Link::Up(up) if up.welcome.session == session);
        let started = connection.filter(|one| is_current && one.start(self.end()).is_ok());
        match started {
            Some(connection) => state.connections.push(connection),
            None if is_current => {
                state.no_streams_until = Some(Instant::now() + STREAM_PAUSE);
            }
            None => {}
        }
        drop(state);
        self.changed.notify_all();
    }

    /// What a connection does at its end.
    fn end(&self) -> impl FnOnce(&Arc<Connection>) + Send + 'static {
        let pool = self.me.clone();
        move |connection| {
            if let Some(pool) = pool.upgrade() {
                pool.on_end(connection);
            }
        }
    }

    /// A connection is over; the session is with its first. A far end that takes no more streams
    /// closes them.
    fn on_end(&self, connection: &Arc<Connection>) {
        let mut state = self.lock();
        if !connection.has_answered() {
            state.no_streams_until = Some(Instant::now() + STREAM_PAUSE);
        }
        let is_ours = state
            .connections
            .iter()
            .any(|one| Arc::ptr_eq(one, connection));
        state
            .connections
            .retain(|one| !Arc::ptr_eq(one, connection));
        if is_ours && connection.is_first {
            state.link = Link::Down;
            for other in state.connections.drain(..) {
                other.shut_down();
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Waits until a connection has come or gone, at most a little while.
    pub fn wait(&self) {
        let state = self.lock();
        drop(self.changed.wait_timeout(state, TICK));
    }

    /// Whether there is a session.
    pub fn is_up(&self) -> bool {
        matches!(self.lock().link, Link::Up(_))
    }

    /// Round trip to the far end, as far as it is known.
    pub fn rtt(&self) -> Option<Span> {
        match &self.lock().link {
            Link::Up(session) => session.streams.rtt(),
            _ => None,
        }
    }

    /// How long the connection that was heard last has been silent.
    pub fn silent_for(&self) -> Option<Span> {
        let state = self.lock();
        state.connections.iter().map(|one| one.silent_for()).min()
    }

    /// Connections in use.
    pub fn connections(&self) -> usize {
        self.lock().connections.len()
    }

    /// Breaks connections whose answers have been due for too long.
    pub fn break_stalled(&self) {
        let state = self.lock();
        let timeout = self.options.answer_timeout;
        for one in state
            .connections
            .iter()
            .filter(|one| one.is_stalled(timeout))
        {
            one.shut_down();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    /// The far end has just refused a stream.
    fn is_paused(&self) -> bool {
        self.no_streams_until
            .is_some_and(|until| Instant::now() < until)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for connection in self.lock().connections.drain(..) {
            connection.close();
        }
    }
}

impl Session {
    fn facts(&self) -> Facts {
        Facts {
            rights: self.rights,
            removes: self.welcome.removes,
            software: self.software.clone(),
        }
    }
}

/// Those that any request may use.
fn common(all: &[Arc<Connection>]) -> impl Iterator<Item = &Arc<Connection>> {
    all.iter().filter(|one| one.used_for == Use::Common)
}

fn dial(
    address: &Address,
    token: &Token,
    timeout: Span,
) -> Result<(Session, Arc<Connection>), RemoteError> {
    let dialer = Dialer {
        timeout,
        ..Dialer::default()
    };
    let dialed = dialer.remote(std::slice::from_ref(address), token);
    let DialedRemote {
        peer,
        admitted,
        channel,
        streams,
    } = dialed.map_err(|error| RemoteError::from(&error))?;
    let unreachable = |what: String| RemoteError::Unreachable {
        what: format!("{peer}: {what}"),
        hint: None,
        may_pass: true,
    };
    let connection = Connection::new(channel, streams.rtt(), Use::Common, true);
    let connection = connection.map_err(|error| unreachable(error.to_string()))?;
    let welcome = connection.welcome(timeout.into()).map_err(unreachable)?;
    let session = Session {
        streams,
        welcome,
        rights: admitted.rights,
        software: admitted.software,
    };
    Ok((session, Arc::new(connection)))
}

fn no_thread(error: &std::io::Error) -> RemoteError {
    RemoteError::Unreachable {
        what: format!("this host has no thread left: {error}"),
        hint: None,
        may_pass: true,
    }
}
