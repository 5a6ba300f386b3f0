//! Accepts what comes over UDP: streams of copies, those of another server on the port, and control
//! connections of both.

use std::cell::{Cell, RefCell};
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use copy_protocol::{GREETING_LENGTH, Greeting};
use quic_net::{Arrival, Server, ServerLimits};

use super::acceptor::{AcceptLimits, Acceptor, Handover, Rejection, Shared};
use super::channel::Channel;
use super::handshaking::is_of_a_copy;
use super::identity::Identity;
use super::udp_relay::{RELAY_MAGIC, Relay, relay};
use sockets::eviction;

/// From so many connections on that have not said what they are for, new ones have to show first
/// that they receive at their address.
const UNVALIDATED_MAX: usize = 32;

/// Control connections at the same time, and those of one address. Each has two threads here.
const RELAYS_MAX: usize = 256;
const RELAYS_OF_ADDRESS_MAX: usize = 64;
/// How long the last bytes of this end may take when it stops.
const LAST_BYTES_MAX: Duration = Duration::from_secs(1);

/// Accepts what comes over UDP.
pub struct UdpAcceptor {
    server: Server,
    timeout: Duration,
    copies: Option<Arc<Shared>>,
    control: Option<Handover>,
}

/// What a connection is by its first bytes.
enum Kind<'a> {
    /// A control connection, which goes on as over TCP.
    Control(&'a Handover),
    /// A stream of a copy.
    Copy(&'a Shared),
    /// A stream of another server on the port.
    Other,
}

/// Control connections, the oldest first.
#[derive(Default)]
struct Relays {
    all: Vec<(IpAddr, Relay)>,
    /// How long one may take to identify itself.
    timeout: Duration,
}

/// A stream that is not of a copy.
#[derive(Debug)]
pub struct StreamOfOthers {
    /// Where it comes from; it receives there.
    pub peer: SocketAddr,
    /// The first bytes that came.
    pub first: Vec<u8>,
    /// What follows them. [`Channel::admit`] lets more than a little follow.
    pub channel: Channel,
}

impl UdpAcceptor {
    /// At a bound socket.
    ///
    /// * `limits`: how many connections may wait that have not said what they are for, and for how
    ///   long.
    ///
    /// # Errors
    /// When the socket cannot be used.
    pub fn new(socket: UdpSocket, identity: &Identity, limits: &AcceptLimits) -> io::Result<Self> {
        let limits = ServerLimits {
            waiting: limits.waiting,
            unvalidated: UNVALIDATED_MAX,
            timeout: limits.timeout.into(),
        };
        Ok(UdpAcceptor {
            timeout: limits.timeout,
            server: Server::new(socket, identity.settings(), limits)?,
            copies: None,
            control: None,
        })
    }

    /// Hands control connections over to an acceptor as if they had come over TCP. Without, none
    /// are served.
    #[must_use]
    pub fn with_control(self, control: Handover) -> Self {
        UdpAcceptor {
            control: Some(control),
            ..self
        }
    }

    /// Passes streams of copies to the sessions of an acceptor that has the same identity.
    #[must_use]
    pub fn with_copies(self, acceptor: &Acceptor) -> Self {
        UdpAcceptor {
            copies: Some(acceptor.shared()),
            ..self
        }
    }

    /// Serves until `is_stopped`, on the thread that runs it.
    ///
    /// * `first`: bytes by which a stream that is not of a copy shows what it is for.
    /// * `take`: takes those.
    /// * `others`: takes a datagram that is not of QUIC, and returns whether it was one.
    pub fn run(
        self,
        first: usize,
        take: &mut dyn FnMut(StreamOfOthers),
        others: &dyn Fn(&[u8], SocketAddr) -> bool,
        is_stopped: &dyn Fn() -> bool,
    ) {
        let UdpAcceptor {
            server,
            timeout,
            copies,
            control,
        } = self;
        let kind = |heard: &[u8]| match heard.first() {
            Some(byte) if !is_of_a_copy(*byte) => Kind::Other,
            _ if heard.starts_with(&RELAY_MAGIC) => {
                control.as_ref().map_or(Kind::Other, Kind::Control)
            }
            _ => copies.as_deref().map_or(Kind::Other, Kind::Copy),
        };
        let wanted = |heard: &[u8]| match (heard, kind(heard)) {
            ([], _) => 1,
            (_, Kind::Control(_)) => RELAY_MAGIC.len(),
            (heard, _) if heard.len() < RELAY_MAGIC.len() => RELAY_MAGIC.len(),
            (_, Kind::Copy(_)) => GREETING_LENGTH,
            (_, Kind::Other) => first,
        };
        let relays = RefCell::new(Relays {
            all: Vec::new(),
            timeout,
        });
        let mut arrived = |arrival: Arrival| match kind(&arrival.first) {
            Kind::Control(control) => relays.borrow_mut().begin(arrival, control),
            Kind::Copy(copies) => {
                let peer = arrival.peer;
                if let Err(reason) = hand_over(copies, arrival) {
                    copies.handler.rejected(peer, &reason);
                }
            }
            Kind::Other => take(StreamOfOthers {
                peer: arrival.peer,
                first: arrival.first,
                channel: Channel::over_udp(arrival.stream),
            }),
        };
        let stopped_at = Cell::new(None);
        let is_stopped = || {
            is_stopped() && {
                let since: Instant = stopped_at.get().unwrap_or_else(Instant::now);
                stopped_at.set(Some(since));
                relays.borrow().are_quiet() || since.elapsed() >= LAST_BYTES_MAX
            }
        };
        server.run(&wanted, &mut arrived, others, &is_stopped);
    }
}

impl Relays {
    /// A host without a descriptor, thread or loopback address left ends the connection, as does
    /// one that has too many.
    fn begin(&mut self, arrival: Arrival, control: &Handover) {
        let peer = arrival.peer;
        if !self.has_room_for(peer.ip()) {
            return;
        }
        if let Ok((socket, relay)) = relay(arrival.stream) {
            self.all.push((peer.ip(), relay));
            control.give(socket, peer);
        }
    }

    /// One more than may be ends one of that address where it has too many, and otherwise of the
    /// address that has most: the oldest to which nothing was said or that is closed here, or else
    /// the oldest that may not have identified itself yet.
    fn has_room_for(&mut self, address: IpAddr) -> bool {
        self.all.retain(|(_, relay)| !relay.is_over());
        let own = self.all.iter().filter(|(one, _)| *one == address).count();
        let is_own = own >= RELAYS_OF_ADDRESS_MAX;
        if !is_own && self.all.len() < RELAYS_MAX {
            return true;
        }
        let bounded = |one: IpAddr| !is_own || one == address;
        let unused = |one, relay: &Relay| bounded(one) && !relay.is_used();
        let young = |one, relay: &Relay| bounded(one) && relay.age() < self.timeout;
        let oldest = self.oldest(unused).or_else(|| self.oldest(young));
        oldest.is_some_and(|at| {
            self.all.remove(at).1.shut_down();
            true
        })
    }

    /// The oldest of those that may be ended, of the address that has most of them.
    fn oldest(&self, may_end: impl Fn(IpAddr, &Relay) -> bool) -> Option<usize> {
        let may_end: Vec<usize> = (0..self.all.len())
            .filter(|at| may_end(self.all[*at].0, &self.all[*at].1))
            .collect();
        let addresses = may_end.iter().map(|at| self.all[*at].0);
        let oldest = eviction::oldest_of_largest(addresses)?;
        may_end.get(oldest).copied()
    }

    /// Whether no more bytes of this end are on their way.
    fn are_quiet(&self) -> bool {
        self.all.iter().all(|(_, relay)| relay.has_delivered())
    }
}

fn hand_over(shared: &Shared, arrival: Arrival) -> Result<(), Rejection> {
    let Some(first) = arrival.first.first_chunk() else {
        return Err(Rejection::NoSession);
    };
    let greeting = Greeting::decode(first)?;
    let channel = Channel::over_udp(arrival.stream);
    shared.registry.hand_over(&greeting, channel)
}
