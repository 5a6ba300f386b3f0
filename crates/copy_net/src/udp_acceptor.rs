//! Accepts what comes over UDP: streams of copies, those of another server on the port, and control
//! connections of both.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;

use quic_net::{Arrival, Server, ServerLimits};
use wire::copy::{GREETING_LENGTH, Greeting};

use super::acceptor::{AcceptLimits, Acceptor, Handover, Rejection, Shared};
use super::channel::Channel;
use super::handshaking::is_of_a_copy;
use super::identity::Identity;
use super::udp_relay::{RELAY_MAGIC, Relay, relay};
use sockets::eviction;

/// From so many connections on that have not said what they are for, new ones have to show first
/// that they receive at their address.
const UNVALIDATED_MAX: usize = 32;

/// Control connections at the same time; one more ends the oldest of the address that has most.
/// Each has two threads here.
const RELAYS_MAX: usize = 128;

/// Accepts what comes over UDP.
pub struct UdpAcceptor {
    server: Server,
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
struct Relays(Vec<(IpAddr, Relay)>);

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
        let mut relays = Relays::default();
        let mut arrived = |arrival: Arrival| match kind(&arrival.first) {
            Kind::Control(control) => relays.begin(arrival, control),
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
        server.run(&wanted, &mut arrived, others, is_stopped);
    }
}

impl Relays {
    /// A host without a descriptor or thread left ends the connection.
    fn begin(&mut self, arrival: Arrival, control: &Handover) {
        self.0.retain(|(_, relay)| !relay.is_over());
        let addresses = self.0.iter().map(|(address, _)| *address);
        if self.0.len() >= RELAYS_MAX
            && let Some(oldest) = eviction::oldest_of_largest(addresses)
        {
            self.0.remove(oldest).1.shut_down();
        }
        let peer = arrival.peer;
        if let Ok((socket, relay)) = relay(arrival.stream) {
            self.0.push((peer.ip(), relay));
            control.give(socket, peer);
        }
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
