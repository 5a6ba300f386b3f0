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
    CopyHandler, DialError, Dialed, Dialer, DoorLimits, Fingerprint, Listener, TurnedAway, Visit,
};
use sockets::Address;
use wire::copying::{Key, KeyName, Rights, Secret, Token};

/// Longest wait for something that has to happen.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// What the listening end told.
pub struct Told {
    token: Token,
    visits: Mutex<Sender<Visit>>,
    turned_away: Mutex<Sender<TurnedAway>>,
}

impl CopyHandler for Told {
    fn find(&self, name: &KeyName) -> Option<(Key, Rights)> {
        (*name == self.token.name).then(|| (self.token.secret.key(), Rights::ALL))
    }

    fn serve(&self, visit: Visit) {
        let _ = self.visits.lock().unwrap().send(visit);
    }

    fn turned_away(&self, _peer: SocketAddr, reason: &TurnedAway) {
        let _ = self.turned_away.lock().unwrap().send(reason.clone());
    }
}

/// Serves each visit to its end.
struct Keeping(Arc<Told>);

impl CopyHandler for Keeping {
    fn find(&self, name: &KeyName) -> Option<(Key, Rights)> {
        self.0.find(name)
    }

    fn serve(&self, visit: Visit) {
        while visit
            .conversation
            .receive(PATIENCE)
            .is_ok_and(|heard| heard.is_some())
        {}
    }

    fn turned_away(&self, peer: SocketAddr, reason: &TurnedAway) {
        self.0.turned_away(peer, reason);
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
    visits: Receiver<Visit>,
    turned_away: Receiver<TurnedAway>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// A handler and what it tells.
pub fn handler() -> (Arc<Told>, Receiver<Visit>, Receiver<TurnedAway>) {
    let (visit, visits) = channel();
    let (away, turned_away) = channel();
    let told = Told {
        token: token(1),
        visits: Mutex::new(visit),
        turned_away: Mutex::new(away),
    };
    (Arc::new(told), visits, turned_away)
}

impl Far {
    pub fn start() -> Self {
        Self::with(DoorLimits::default())
    }

    pub fn with(limits: DoorLimits) -> Self {
        Self::keeping(limits, false)
    }

    /// `keeps_visits`: conversations last until the other end closes them, instead of being handed
    /// to the test.
    pub fn keeping(limits: DoorLimits, keeps_visits: bool) -> Self {
        let listener = Listener::bind(None).unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], listener.port()));
        let fingerprint = listener.fingerprint();
        let (handler, visits, turned_away) = handler();
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
            visits,
            turned_away,
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
    pub fn meet(&self) -> (Dialed, Visit) {
        let dialed = self.dial(&token(1)).unwrap();
        (dialed, self.visit())
    }

    pub fn visit(&self) -> Visit {
        self.visits.recv_timeout(PATIENCE).expect("a visit in time")
    }

    pub fn turned_away(&self) -> TurnedAway {
        let reason = self.turned_away.recv_timeout(PATIENCE);
        reason.expect("somebody turned away in time")
    }

    /// Who was turned away by now.
    pub fn all_turned_away(&self) -> Vec<TurnedAway> {
        self.turned_away.try_iter().collect()
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().unwrap();
        assert!(thread.join().is_ok(), "the listening thread panicked");
    }
}
