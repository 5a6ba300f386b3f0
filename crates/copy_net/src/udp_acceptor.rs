//! Accepts streams that come over UDP: those of copies, and those of another server on the port.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

use quic_net::{Arrival, Server, ServerLimits};
use wire::copy::{GREETING_LENGTH, Greeting};

use super::acceptor::{AcceptLimits, Acceptor, Rejection, Shared};
use super::channel::Channel;
use super::handshaking::is_of_a_copy;
use super::identity::Identity;

/// From so many connections on that have not said what they are for, new ones have to show first
/// that they receive at their address.
const UNVALIDATED_MAX: usize = 32;

/// Accepts streams over UDP.
pub struct UdpAcceptor {
    server: Server,
    copies: Option<Arc<Shared>>,
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
            server: Server::new(socket, identity.settings(), limits)?,
            copies: None,
        })
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
        let copies = self.copies;
        let is_copy = |heard: &[u8]| {
            let begins = heard.first().is_some_and(|byte| is_of_a_copy(*byte));
            copies.as_ref().filter(|_| begins)
        };
        let wanted = |heard: &[u8]| match (heard, is_copy(heard)) {
            ([], _) => 1,
            (_, Some(_)) => GREETING_LENGTH,
            (_, None) => first,
        };
        let mut arrived = |arrival: Arrival| match is_copy(&arrival.first) {
            Some(copies) => {
                let peer = arrival.peer;
                if let Err(reason) = hand_over(copies, arrival) {
                    copies.handler.rejected(peer, &reason);
                }
            }
            None => take(StreamOfOthers {
                peer: arrival.peer,
                first: arrival.first,
                channel: Channel::over_udp(arrival.stream),
            }),
        };
        self.server.run(&wanted, &mut arrived, others, is_stopped);
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
