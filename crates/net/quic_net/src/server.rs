//! The end that is connected to: one socket for all connections of a port.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use quinn_proto::{Endpoint, Incoming, ServerConfig};

use crate::config;
use crate::connection::{Connection, State, canonical};
use crate::controller::PathState;
use crate::driver::{Answer, Driver, DriverHandler};
use crate::socket::{PacketSocket, packet_max};
use crate::stream::Stream;

/// Pause after an error of the socket, which may last.
const PAUSE: Duration = Duration::from_millis(100);

/// Limits on connections that have not said yet what they are for.
#[derive(Debug, Clone, Copy)]
pub struct ServerLimits {
    /// So many at most; one more is refused.
    pub waiting: usize,
    /// From so many on, a peer has to show that it receives at its address before it gets a place
    /// (Retry, RFC 9000, section 8.1.2). Below, it is answered with at most three times the bytes
    /// that it sent until it has (section 8).
    pub unvalidated: usize,
    /// How long each may take.
    pub timeout: Duration,
}

/// A connection that has said what it is for.
#[derive(Debug)]
pub struct Arrival {
    /// Where the other end is.
    pub peer: SocketAddr,
    /// The first bytes of the stream.
    pub first: Vec<u8>,
    /// What follows them. [`Stream::trust`] lets more than a little follow.
    pub stream: Stream,
}

/// A UDP port that takes connections.
pub struct Server {
    driver: Driver,
    config: ServerConfig,
    limits: ServerLimits,
}

impl Server {
    /// Takes connections at a bound socket.
    ///
    /// # Errors
    /// When the socket, or this host's random numbers, fail.
    pub fn new(
        socket: UdpSocket,
        tls: rustls::ServerConfig,
        limits: ServerLimits,
    ) -> io::Result<Self> {
        let config = config::server(tls)?;
        let local = socket.local_addr()?;
        let socket = PacketSocket::new(socket)?;
        let shared = Some(Arc::new(config.clone()));
        let finds_packet_size = socket.finds_packet_size();
        let endpoint = Endpoint::new(config::endpoint(), shared, finds_packet_size, None);
        Ok(Server {
            driver: Driver::new(socket, local, endpoint)?,
            config,
            limits,
        })
    }

    /// Serves until `is_stopped`; then all connections are ended.
    ///
    /// * `first`: how many bytes it takes a connection to show what it is for, from those that have
    ///   come of them; the number grows with the bytes at most.
    /// * `arrived`: takes those that have shown it.
    /// * `others`: takes a datagram that is not QUIC's, and returns whether it was one.
    pub fn run(
        mut self,
        first: &dyn Fn(&[u8]) -> usize,
        arrived: &mut dyn FnMut(Arrival),
        others: &dyn Fn(&[u8], SocketAddr) -> bool,
        is_stopped: &dyn Fn() -> bool,
    ) {
        let mut handler = Waiting {
            config: self.config,
            limits: self.limits,
            first,
            waiting: BTreeMap::new(),
            complete: Vec::new(),
            arrived,
            others,
        };
        while !is_stopped() {
            if self.driver.turn(&mut handler).is_err() {
                thread::sleep(PAUSE);
            }
        }
        self.driver.end(&mut handler);
    }
}

/// Connections that have not said what they are for.
struct Waiting<'a> {
    config: ServerConfig,
    limits: ServerLimits,
    first: &'a dyn Fn(&[u8]) -> usize,
    waiting: BTreeMap<usize, Hearing>,
    complete: Vec<(Arc<Connection>, Vec<u8>)>,
    arrived: &'a mut dyn FnMut(Arrival),
    others: &'a dyn Fn(&[u8], SocketAddr) -> bool,
}

/// What was heard of one.
struct Hearing {
    connection: Arc<Connection>,
    since: Instant,
    heard: Vec<u8>,
}

impl Hearing {
    /// How many of the first bytes have not come; `None` when all have.
    fn missing(&self, first: &dyn Fn(&[u8]) -> usize) -> Option<usize> {
        let missing = first(&self.heard).checked_sub(self.heard.len());
        missing.filter(|missing| *missing > 0)
    }

    /// Reads what of the first bytes has come. Returns whether it is of no more use.
    fn listen(&mut self, first: &dyn Fn(&[u8]) -> usize, state: &mut State) -> bool {
        let Some(stream) = state.stream else {
            return state.ended.is_some();
        };
        let mut receive = state.proto.recv_stream(stream);
        let Ok(mut chunks) = receive.read(true) else {
            return true;
        };
        while let Some(missing) = self.missing(first)
            && let Ok(Some(chunk)) = chunks.next(missing)
        {
            self.heard.extend_from_slice(&chunk.bytes);
        }
        let _ = chunks.finalize();
        state.ended.is_some()
    }
}

impl DriverHandler for Waiting<'_> {
    fn incoming(&mut self, incoming: Incoming) -> Answer {
        let count = self.waiting.len();
        let is_known = incoming.remote_address_validated() || !incoming.may_retry();
        if count >= self.limits.waiting {
            return Answer::Refuse(incoming);
        }
        if count >= self.limits.unvalidated && !is_known {
            return Answer::Retry(incoming);
        }
        let path = Arc::new(PathState::default());
        let packet_max = packet_max(incoming.remote_address());
        let config = config::accepted(&self.config, packet_max, &path);
        Answer::Accept(incoming, Arc::new(config), path)
    }

    fn take(&mut self, datagram: &[u8], from: SocketAddr) -> bool {
        (self.others)(datagram, from)
    }

    fn accepted(&mut self, connection: &Arc<Connection>) {
        let hearing = Hearing {
            connection: Arc::clone(connection),
            since: Instant::now(),
            heard: Vec::new(),
        };
        self.waiting.insert(connection.number, hearing);
    }

    fn on_change(&mut self, connection: &Arc<Connection>, state: &mut State) {
        let number = connection.number;
        let Some(hearing) = self.waiting.get_mut(&number) else {
            return;
        };
        let is_over = hearing.listen(self.first, state);
        if is_over || hearing.missing(self.first).is_none() {
            let hearing = self.waiting.remove(&number);
            let complete = hearing.filter(|hearing| hearing.missing(self.first).is_none());
            self.complete
                .extend(complete.map(|hearing| (hearing.connection, hearing.heard)));
        }
    }

    fn on_turn(&mut self) {
        for (connection, first) in self.complete.drain(..) {
            (self.arrived)(Arrival {
                peer: canonical(connection.peer),
                first,
                stream: Stream::new(connection),
            });
        }
        let limit = self.limits.timeout;
        self.waiting.retain(|_, hearing| {
            let is_late = hearing.since.elapsed() >= limit;
            if is_late {
                hearing.connection.shut_down();
            }
            !is_late
        });
    }
}
