//! Registry of the sessions that wait for streams, and the streams that arrived.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use copy_protocol::{Exporter, Greeting, SessionKey, StreamNumbers};

use super::acceptor::Rejection;
use super::channel::Channel;
use sockets::options::StreamOptions;
use sockets::random;

/// Streams that may wait for their session to take them.
const ARRIVALS_MAX: usize = 256;
/// Callers that may wait: strangers among them are rejected one by one.
const CALLERS_MAX: usize = 16;

/// The sessions that expect streams.
#[derive(Debug, Default)]
pub(super) struct SessionRegistry {
    /// By session; `None` for the one that does not know its number yet.
    expected: Mutex<BTreeMap<Option<u64>, Expected>>,
    /// Where connections go on which this end speaks first.
    callers: Mutex<Option<SyncSender<Caller>>>,
    count: AtomicU64,
}

/// A far end that called back: this end speaks first.
pub(super) type Caller = (TcpStream, SocketAddr);

#[derive(Debug)]
struct Expected {
    id: u64,
    key: SessionKey,
    numbers: StreamNumbers,
    plain: bool,
    options: StreamOptions,
    arrivals: SyncSender<ArrivedStream>,
}

/// A stream with the session that it belongs to.
#[derive(Debug)]
pub struct ArrivedStream {
    /// Its number; no other stream of the conversation has it.
    pub number: u32,
    /// The stream.
    pub channel: Channel,
}

/// The streams that arrive for one session, until this is dropped.
#[derive(Debug)]
pub struct IncomingStreams {
    registry: Arc<SessionRegistry>,
    id: u64,
    session: Option<u64>,
    arrivals: Mutex<Receiver<ArrivedStream>>,
}

impl IncomingStreams {
    /// The number that the other end's streams have to carry; `None` where they may carry any,
    /// because their key says enough.
    pub fn session(&self) -> Option<u64> {
        self.session
    }

    /// The next stream; `None` when none comes within `timeout`.
    pub fn next(&self, timeout: Duration) -> Option<ArrivedStream> {
        let arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        arrivals.recv_timeout(timeout).ok()
    }

    /// Allows or forbids streams in the clear from now on. At first they are forbidden.
    pub fn allow_plain(&self, plain: bool) {
        self.change(|expected| expected.plain = plain);
    }

    /// Socket options of streams that arrive from now on.
    pub fn set_options(&self, options: StreamOptions) {
        self.change(|expected| expected.options = options);
    }

    fn change(&self, change: impl FnOnce(&mut Expected)) {
        self.registry.lock().get_mut(&self.session).map(change);
    }
}

impl Drop for IncomingStreams {
    fn drop(&mut self) {
        let mut all = self.registry.lock();
        // The same conversation may have been opened anew meanwhile.
        if all.get(&self.session).is_some_and(|one| one.id == self.id) {
            all.remove(&self.session);
        }
    }
}

impl SessionRegistry {
    /// Expects streams under a random number.
    pub(super) fn expect(self: &Arc<Self>, key: SessionKey) -> io::Result<IncomingStreams> {
        let session = random::number()?;
        Ok(self.expect_as(Some(session), key))
    }

    /// Expects streams of any number; they know the key.
    pub(super) fn expect_any(self: &Arc<Self>, key: SessionKey) -> IncomingStreams {
        self.expect_as(None, key)
    }

    fn expect_as(self: &Arc<Self>, session: Option<u64>, key: SessionKey) -> IncomingStreams {
        let (sender, arrivals) = sync_channel(ARRIVALS_MAX);
        let id = self.count.fetch_add(1, Ordering::Relaxed);
        let expected = Expected {
            id,
            key,
            numbers: StreamNumbers::default(),
            plain: false,
            options: StreamOptions::default(),
            arrivals: sender,
        };
        self.lock().insert(session, expected);
        IncomingStreams {
            registry: Arc::clone(self),
            id,
            session,
            arrivals: Mutex::new(arrivals),
        }
    }

    /// Where callers go from now on.
    pub(super) fn expect_callers(&self) -> Receiver<Caller> {
        let (sender, callers) = sync_channel(CALLERS_MAX);
        *self.callers() = Some(sender);
        callers
    }

    /// Hands over a connection on which this end is to speak first.
    pub(super) fn call(&self, caller: Caller) -> Result<(), Rejection> {
        let given = self.callers().as_ref().map(|to| to.try_send(caller));
        match given {
            Some(Ok(())) => Ok(()),
            Some(Err(TrySendError::Full(_))) => Err(Rejection::Crowd(CALLERS_MAX)),
            Some(Err(TrySendError::Disconnected(_))) | None => Err(Rejection::NotCalled),
        }
    }

    fn callers(&self) -> MutexGuard<'_, Option<SyncSender<Caller>>> {
        self.callers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Option<u64>, Expected>> {
        // Each change is complete, even when another thread panicked.
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a stream to its session, if its greeting is right, new, and in the clear only
    /// where that was agreed on.
    pub(super) fn hand_over(&self, greeting: &Greeting, channel: Channel) -> Result<(), Rejection> {
        let broken = |error: io::Error| Rejection::Broken(error.to_string());
        let exporter = channel.exporter().map_err(broken)?;
        let mut all = self.lock();
        let number = Some(greeting.session);
        let session = if all.contains_key(&number) {
            number
        } else {
            None
        };
        let Some(expected) = all.get_mut(&session) else {
            return Err(Rejection::NoSession);
        };
        expected.check(greeting, exporter.as_ref())?;
        channel.take_on(&expected.options).map_err(broken)?;
        let number = greeting.number;
        let arrival = ArrivedStream { number, channel };
        match expected.arrivals.try_send(arrival) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_)) => Err(Rejection::Crowd(ARRIVALS_MAX)),
            Err(TrySendError::Disconnected(_)) => Err(Rejection::NoSession),
        }
    }
}

impl Expected {
    fn check(&mut self, greeting: &Greeting, exporter: Option<&Exporter>) -> Result<(), Rejection> {
        if !self.key.accepts(greeting, exporter) {
            return Err(Rejection::NotOurs);
        }
        if exporter.is_none() && !self.plain {
            return Err(Rejection::Plain);
        }
        match self.numbers.take(greeting.number) {
            true => Ok(()),
            false => Err(Rejection::Repeated(greeting.number)),
        }
    }
}
