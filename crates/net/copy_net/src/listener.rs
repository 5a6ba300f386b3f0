//! A port for copies alone: of a far end that ssh started, or of a near end to which
//! streams come.

use std::io;
use std::ops::RangeInclusive;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use copy_protocol::{SessionKey, Token};
use errors::{Fault, Hint};
use sockets::{Deadline, ListenAt};
use thiserror::Error;
use units::Via;

use super::acceptor::{AcceptLimits, Acceptor, Handler, Shared, Source};
use super::dialer::{ControlSocket, DialError, Dialed, Dialer};
use super::fingerprint::Fingerprint;
use super::identity::Identity;
use super::session_registry::{Caller, IncomingStreams, SessionRegistry};

/// How long one caller may take to show that it is the far end: a stranger that says nothing more
/// leaves time for others. Three round trips of the longest paths.
const CALLER_MAX: Duration = Duration::from_secs(2);
/// How soon a wait for a caller that was given up ends.
const TICK: Duration = Duration::from_millis(100);

/// A listening port, for all addresses of this host.
pub struct Listener {
    source: Source,
    port: u16,
    identity: Identity,
    registry: Arc<SessionRegistry>,
}

/// Connections that arrive at the [`Listener`] of a near end.
#[derive(Debug)]
pub struct Callbacks {
    callers: Mutex<Receiver<Caller>>,
    registry: Arc<SessionRegistry>,
    port: u16,
}

impl Callbacks {
    /// Waits for the far end to connect and opens a conversation on that connection.
    ///
    /// * `is_given_up`: asked ten times a second.
    ///
    /// # Errors
    /// When it does not come in time, or the last connection was not the far end.
    pub fn control(
        &self,
        dialer: &Dialer,
        token: &Token,
        is_given_up: &dyn Fn() -> bool,
    ) -> Result<Dialed, DialError> {
        let deadline = Deadline::after(dialer.timeout.into(), is_given_up);
        let mut failure = None;
        let callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let left = deadline.left();
            let Ok((socket, peer)) = callers.recv_timeout(left.min(TICK)) else {
                if !left.is_zero() {
                    continue;
                }
                let port = self.port;
                let after = dialer.timeout;
                return Err(failure.unwrap_or(DialError::NotCalled { port, after }));
            };
            // Streams come from there, so that there is nowhere to connect to.
            let until = deadline.at_most(Instant::now() + CALLER_MAX);
            let connection = ControlSocket {
                socket,
                peer,
                via: Via::default(),
                goodbye: None,
            };
            match dialer.open(connection, token, None, until, &mut |_| ()) {
                Ok(dialed) => return Ok(dialed),
                Err(error) => failure = Some(error),
            }
        }
    }

    /// The streams of a conversation that was opened here or elsewhere: the other end knows its key
    /// and connects.
    pub fn expect(&self, key: SessionKey) -> IncomingStreams {
        self.registry.expect_any(key)
    }
}

/// Why this host cannot listen.
#[derive(Debug, Error)]
pub enum ListenError {
    /// Not even one that the kernel would choose.
    #[error("cannot listen on any port")]
    None(#[source] io::Error),
    /// None of those that were allowed.
    #[error("none of the ports {first} to {last} can be listened on")]
    Range {
        /// Lowest.
        first: u16,
        /// Highest.
        last: u16,
        /// Why not on the last one.
        source: io::Error,
    },
    /// No certificate can be made.
    #[error("this host gives no random numbers for a key")]
    Identity(#[source] io::Error),
}

impl Hint for ListenError {
    fn fault(&self) -> Fault {
        Fault::Run
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            ListenError::Range { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied => {
                    Some("ports below 1024 are for root: choose higher ones")
                }
                _ => Some("other copies may use all of them: allow more ports, or wait"),
            },
            ListenError::None(_) | ListenError::Identity(_) => None,
        };
        hint.map(str::to_owned)
    }
}

impl Listener {
    /// Takes the first free port of `ports`, or one that the kernel chooses.
    ///
    /// # Errors
    /// When there is none.
    pub fn bind(ports: Option<RangeInclusive<u16>>) -> Result<Self, ListenError> {
        let socket = match ports {
            None => ListenAt::from(0).tcp().map_err(ListenError::None)?,
            Some(ports) => first_free(&ports)?,
        };
        let port = socket.local_addr().map_err(ListenError::None)?.port();
        Ok(Listener {
            source: Source::Listener(socket),
            port,
            identity: Identity::generate().map_err(ListenError::Identity)?,
            registry: Arc::default(),
        })
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Fingerprint by which the other end knows this one.
    pub fn fingerprint(&self) -> Fingerprint {
        self.identity.fingerprint()
    }

    /// For an end that opens a session over a connection of the other one.
    pub fn callbacks(&self) -> Callbacks {
        Callbacks {
            callers: Mutex::new(self.registry.expect_callers()),
            registry: Arc::clone(&self.registry),
            port: self.port,
        }
    }

    /// Serves until `is_stopped`. Conversations are then broken and their handlers waited for.
    pub fn run(
        self,
        limits: AcceptLimits,
        handler: impl Into<Handler>,
        is_stopped: &dyn Fn() -> bool,
    ) {
        let shared = Shared {
            identity: self.identity,
            limits,
            handler: handler.into(),
            registry: self.registry,
        };
        Acceptor::new(self.source, Arc::new(shared)).run(is_stopped);
    }
}

fn first_free(ports: &RangeInclusive<u16>) -> Result<std::net::TcpListener, ListenError> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for port in ports.clone() {
        match ListenAt::from(port).tcp() {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(ListenError::Range {
        first: *ports.start(),
        last: *ports.end(),
        source: last,
    })
}
