//! Accepts the streams of copies that come over UDP.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

use quic_net::{Arrival, Server, ServerLimits};
use wire::copy::{GREETING_LENGTH, Greeting};

use super::acceptor::{Rejection, Shared};
use super::channel::Channel;

/// From so many connections on that have not said what they are for, new ones have to show first
/// that they receive at their address.
const UNVALIDATED_MAX: usize = 32;

/// Accepts streams over UDP, for the sessions of an [`Acceptor`](super::Acceptor).
pub struct UdpAcceptor {
    server: Server,
    shared: Arc<Shared>,
}

impl UdpAcceptor {
    pub(super) fn new(socket: UdpSocket, shared: Arc<Shared>) -> io::Result<Self> {
        let limits = ServerLimits {
            waiting: shared.limits.waiting,
            unvalidated: UNVALIDATED_MAX,
            timeout: shared.limits.timeout.into(),
        };
        let server = Server::new(socket, shared.identity.settings(), limits)?;
        Ok(UdpAcceptor { server, shared })
    }

    /// Serves until `is_stopped`, on the thread that runs it.
    ///
    /// * `others`: takes a datagram that is not of QUIC, and returns whether it was one.
    pub fn run(self, others: &dyn Fn(&[u8], SocketAddr) -> bool, is_stopped: &dyn Fn() -> bool) {
        let shared = self.shared;
        let mut arrived = |arrival: Arrival| {
            let peer = arrival.peer;
            if let Err(reason) = hand_over(&shared, arrival) {
                shared.handler.rejected(peer, &reason);
            }
        };
        self.server
            .run(GREETING_LENGTH, &mut arrived, others, is_stopped);
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
