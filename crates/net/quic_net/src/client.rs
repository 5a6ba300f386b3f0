//! The end that connects: a socket and a thread for one connection.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use quinn_proto::{ClientConfig, Endpoint, Incoming};
use sockets::FarEnd;
use sockets::processor;
use thiserror::Error;

use crate::config;
use crate::connection::{Connection, Ended, State, canonical};
use crate::controller::PathState;
use crate::driver::{Answer, Driver, DriverHandler};
use crate::socket::{PacketSocket, packet_max, towards};
use crate::stream::Stream;

/// The name in the certificate of the other end, which says nothing.
const NAME: &str = "trunkline";

/// How often a caller is asked whether it still waits.
const TICK: Duration = Duration::from_millis(100);

/// Why there is no connection.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// The host says that no program takes datagrams there.
    #[error("no program takes UDP there")]
    Refused,
    /// Nothing came back in time.
    #[error("nothing came back over UDP")]
    Silent,
    /// Something answered, and not as it should.
    #[error("{0}")]
    Wrong(String),
    /// This host has no socket or thread for it.
    #[error(transparent)]
    Here(#[from] io::Error),
}

/// Connects to a server, by `end` at the latest. What is read and written then goes over the one
/// stream of the connection.
///
/// * `is_given_up`: asked ten times a second; a server that has not answered then is silent.
///
/// # Errors
/// When no server answers, or another one than `tls` accepts.
pub fn connect(
    far: impl Into<FarEnd>,
    tls: rustls::ClientConfig,
    end: Instant,
    is_given_up: &dyn Fn() -> bool,
) -> Result<Stream, ConnectError> {
    let far = far.into();
    let path = Arc::new(PathState::default());
    let config = config::client(tls, packet_max(far.address), &path)?;
    let connection = begin(far, config, path)?;
    let stream = Stream::new(Arc::clone(&connection));
    let mut state = connection.lock();
    loop {
        match &state.ended {
            Some(Ended::Broken(ErrorKind::ConnectionRefused, _)) => {
                return Err(ConnectError::Refused);
            }
            Some(Ended::Broken(ErrorKind::TimedOut, _)) => return Err(ConnectError::Silent),
            Some(ended) => return Err(ConnectError::Wrong(ended.error().to_string())),
            None if state.stream.is_some() => break,
            None => {}
        }
        let now = Instant::now();
        if now >= end || is_given_up() {
            return Err(ConnectError::Silent);
        }
        let waited = connection.wait(state, Some(end.min(now + TICK)));
        state = waited.map_err(|_| ConnectError::Silent)?;
    }
    drop(state);
    Ok(stream)
}

/// Starts the thread of a connection.
fn begin(
    far: FarEnd,
    config: ClientConfig,
    path: Arc<PathState>,
) -> Result<Arc<Connection>, ConnectError> {
    let peer = canonical(far.address);
    let far = FarEnd {
        address: peer,
        ..far
    };
    let socket = towards(&far)?;
    let local = socket.local_addr()?;
    let socket = PacketSocket::new(socket)?;
    let finds_packet_size = socket.finds_packet_size();
    let endpoint = Endpoint::new(config::endpoint(), None, finds_packet_size, None);
    let mut driver = Driver::new(socket, local, endpoint)?;
    let made = driver
        .endpoint()
        .connect(Instant::now(), config, peer, NAME);
    let (handle, proto) = made.map_err(|error| ConnectError::Wrong(error.to_string()))?;
    let connection = driver.add(handle, proto, path);
    let driven = Arc::clone(&connection);
    thread::Builder::new()
        .name("quic".to_owned())
        .spawn(move || drive(driver, &driven))?;
    Ok(connection)
}

/// Until the connection is over. Its last word is sent once: a peer that misses it finds out from
/// the time limit.
fn drive(mut driver: Driver, connection: &Connection) {
    while connection.lock().ended.is_none() {
        match driver.turn(&mut Nothing) {
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                let mut state = connection.lock();
                // Later it may be a forged or passing message, and the peer's silence will tell.
                if state.proto.is_handshaking() {
                    state.end(Ended::Broken(error.kind(), error.to_string()));
                }
            }
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                let ended = Ended::Broken(error.kind(), error.to_string());
                connection.lock().end(ended);
            }
            _ => {}
        }
        if let Some(used) = processor::of_thread() {
            connection.set_driver_cpu(used);
        }
    }
    driver.end(&mut Nothing);
}

/// This end is connected to by none.
struct Nothing;

impl DriverHandler for Nothing {
    fn incoming(&mut self, incoming: Incoming) -> Answer {
        Answer::Refuse(incoming)
    }

    fn accepted(&mut self, _connection: &Arc<Connection>) {}

    fn take(&mut self, _datagram: &[u8], _from: SocketAddr) -> bool {
        false
    }

    fn on_change(&mut self, _connection: &Arc<Connection>, _state: &mut State) {}

    fn on_turn(&mut self) {}
}
