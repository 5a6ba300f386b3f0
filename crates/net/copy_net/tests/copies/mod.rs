//! A listening end on loopback for the length of a test, and one that connects.
#![allow(dead_code, reason = "each test file uses its own part")]

pub mod raw;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use copy_net::{
    AcceptLimits, AcceptedSession, CopyHandler, DialError, Dialed, Dialer, Fingerprint, Listener,
    Rejection,
};
use copy_protocol::{Key, KeyName, Rights, Secret, Token};
use units::Address;

/// Longest wait for something that has to happen.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// What the listening end told.
pub struct Told {
    token: Token,
    sessions: Mutex<Sender<AcceptedSession>>,
    rejected: Mutex<Sender<Rejection>>,
}

impl CopyHandler for Told {
    fn find(&self, name: &KeyName) -> Option<(Key, Rights)> {
        (*name == self.token.name).then(|| (self.token.secret.key(), Rights::ALL))
    }

    fn serve(&self, accepted: AcceptedSession) {
        let _ = self.sessions.lock().unwrap().send(accepted);
    }

    fn rejected(&self, _peer: SocketAddr, reason: &Rejection) {
        let _ = self.rejected.lock().unwrap().send(reason.clone());
    }
}

/// Serves each session to its end.
struct Keeping(Arc<Told>);

impl CopyHandler for Keeping {
    fn find(&self, name: &KeyName) -> Option<(Key, Rights)> {
        self.0.find(name)
    }

    fn serve(&self, accepted: AcceptedSession) {
        while accepted
            .conversation
            .receive(TIMEOUT)
            .is_ok_and(|heard| heard.is_some())
        {}
    }

    fn rejected(&self, peer: SocketAddr, reason: &Rejection) {
        self.0.rejected(peer, reason);
    }
}

pub fn token(fill: u8) -> Token {
    Token {
        name: KeyName::new("ana").unwrap(),
        secret: Secret::new([fill; 32]),
    }
}

/// A listening end that takes the token of 1s.
pub struct Far {
    pub address: SocketAddr,
    pub fingerprint: Fingerprint,
    sessions: Receiver<AcceptedSession>,
    rejected: Receiver<Rejection>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// A handler and what it tells.
pub fn handler() -> (Arc<Told>, Receiver<AcceptedSession>, Receiver<Rejection>) {
    let (accepted, sessions) = channel();
    let (away, rejected) = channel();
    let told = Told {
        token: token(1),
        sessions: Mutex::new(accepted),
        rejected: Mutex::new(away),
    };
    (Arc::new(told), sessions, rejected)
}

impl Far {
    pub fn start() -> Self {
        Self::with(AcceptLimits::default())
    }

    pub fn with(limits: AcceptLimits) -> Self {
        Self::keeping(limits, false)
    }

    /// `keeps_visits`: conversations last until the other end closes them, instead of being handed
    /// to the test.
    pub fn keeping(limits: AcceptLimits, keeps_visits: bool) -> Self {
        let listener = Listener::bind(None).unwrap();
        let address = SocketAddr::new(testkit::loopback(), listener.port());
        let fingerprint = listener.fingerprint();
        let (handler, sessions, rejected) = handler();
        let handler: Arc<dyn CopyHandler> = match keeps_visits {
            true => Arc::new(Keeping(handler)),
            false => handler,
        };
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let run = move || listener.run(limits, handler, &|| told.load(Ordering::Relaxed));
        Far {
            address,
            fingerprint,
            sessions,
            rejected,
            stop,
            thread: Some(thread::spawn(run)),
        }
    }

    pub fn place(&self) -> Address {
        self.address.to_string().parse().unwrap()
    }

    pub fn dial(&self, token: &Token) -> Result<Dialed, DialError> {
        Dialer::default().control(&[self.place()], token)
    }

    /// Both ends of a conversation.
    pub fn meet(&self) -> (Dialed, AcceptedSession) {
        let dialed = self.dial(&token(1)).unwrap();
        (dialed, self.accepted())
    }

    pub fn accepted(&self) -> AcceptedSession {
        self.sessions
            .recv_timeout(TIMEOUT)
            .expect("a session in time")
    }

    pub fn rejected(&self) -> Rejection {
        let reason = self.rejected.recv_timeout(TIMEOUT);
        reason.expect("a rejection in time")
    }

    /// All rejections by now.
    pub fn all_rejected(&self) -> Vec<Rejection> {
        self.rejected.try_iter().collect()
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().unwrap();
        assert!(thread.join().is_ok(), "the listening thread panicked");
    }
}
