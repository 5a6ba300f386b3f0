//! Finding the server and connecting to it.

use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use copy_net::{
    Channel, TCP_FIRST_WAIT, UDP_WAIT, dial_control_over_udp, dial_udp, udp_wait_after,
};
use measure_protocol::{Cookie, numbered_greeting};
use nix::poll::{PollFd, PollFlags};
use observe::{RunObserver, Transport};
use socket2::{Domain, Socket};
use sockets::Deadline;
use sockets::FarEnd;
use sockets::connect::{ConnectError, connect_any};
use sockets::options::{OptionError, StreamOptions, is_out_of_descriptors};
use units::{Address, Span};

use super::ClientError;
use crate::control_connection::ControlConnection;

/// Longest wait for a connection: three tries of the kernel, one second apart and then two.
const CONNECT_WAIT: Span = Span::from_secs(5);
/// Retries of a refused stream: a stock server opens its listener anew for some options.
const REFUSED_RETRIES: u32 = 5;
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// The control connection, over the first of the host's addresses that answers. For streams over
/// UDP it is over UDP, too, where no TCP connection can be made.
pub(crate) fn control(
    address: &Address,
    streams: Transport,
    watch: &dyn RunObserver,
) -> Result<(ControlConnection, SocketAddr), ClientError> {
    let is_unanswered = |error: &ClientError| {
        matches!(
            error,
            ClientError::Refused { .. } | ClientError::Silent { .. } | ClientError::Connect { .. }
        )
    };
    match streams {
        Transport::Tcp => over_tcp(address, CONNECT_WAIT, watch),
        Transport::Udp => {
            let began = Instant::now();
            match over_tcp(address, TCP_FIRST_WAIT, watch) {
                Err(unanswered) if is_unanswered(&unanswered) => {
                    let wait = udp_wait_after(began.elapsed());
                    over_udp(address, wait, unanswered, watch)
                }
                other => other,
            }
        }
    }
}

/// * `unanswered`: what became of TCP, which is told where UDP fails, too.
fn over_udp(
    address: &Address,
    wait: Span,
    unanswered: ClientError,
    watch: &dyn RunObserver,
) -> Result<(ControlConnection, SocketAddr), ClientError> {
    let is_given_up = || watch.is_cancelled();
    let dialed = dial_control_over_udp(&resolve(address)?, &address.via, wait, &is_given_up);
    let (relayed, peer) = dialed.map_err(|found| match is_given_up() {
        true => ClientError::Cancelled,
        false => unanswered.and_over_udp(found),
    })?;
    Ok((ControlConnection::over_udp(relayed)?, peer))
}

fn over_tcp(
    address: &Address,
    wait: Span,
    watch: &dyn RunObserver,
) -> Result<(ControlConnection, SocketAddr), ClientError> {
    let is_given_up = || watch.is_cancelled();
    let deadline = Deadline::after(wait.into(), &is_given_up);
    let options = StreamOptions {
        via: address.via.clone(),
        ..StreamOptions::default()
    };
    match connect_any(&resolve(address)?, &options, deadline) {
        Ok((stream, peer)) => {
            tracing::debug!(%peer, "connected over TCP");
            Ok((ControlConnection::new(stream)?, peer))
        }
        Err(ConnectError::Option(error)) => Err(error.into()),
        Err(ConnectError::Unreachable(_)) if is_given_up() => Err(ClientError::Cancelled),
        Err(ConnectError::Unreachable(mut tried)) => {
            tracing::warn!(%address, ?tried, "no address answers over TCP");
            let nowhere = || io::Error::new(ErrorKind::NotFound, "the name has no address");
            let last = tried.pop().map_or_else(nowhere, |(_, error)| error);
            Err(explain(address.clone(), wait, last))
        }
    }
}

/// Refuses a connection to itself.
///
/// Without a listener on a port of this host, the kernel may choose that port as the source;
/// both ends are then the same socket, which TCP takes for two that open at once (RFC 9293 section
/// 3.5).
fn met_a_server(stream: TcpStream) -> io::Result<TcpStream> {
    match stream.local_addr()? == stream.peer_addr()? {
        true => Err(ErrorKind::ConnectionRefused.into()),
        false => Ok(stream),
    }
}

/// The host's addresses.
pub(crate) fn resolve(address: &Address) -> Result<Vec<SocketAddr>, ClientError> {
    sockets::resolve(address).map_err(|source| ClientError::UnknownHost {
        host: address.host.clone(),
        source,
    })
}

fn explain(address: Address, wait: Span, source: io::Error) -> ClientError {
    match source.kind() {
        ErrorKind::ConnectionRefused => ClientError::Refused { address },
        ErrorKind::TimedOut | ErrorKind::WouldBlock => ClientError::Silent {
            address,
            after: wait,
        },
        _ => ClientError::Connect { address, source },
    }
}

/// How streams are opened, and told apart by the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opened {
    /// One after another: the server knows them by the order of their arrival.
    InOrder,
    /// All within one round trip, each with a number behind the cookie.
    AtOnce,
    /// Over UDP, with the same number.
    OverUdp,
}

/// What every stream of a test has in common.
pub(super) struct Opening<'a> {
    pub peer: SocketAddr,
    pub cookie: &'a Cookie,
    pub options: &'a StreamOptions,
    pub total: u16,
    pub watch: &'a dyn RunObserver,
}

impl Opening<'_> {
    /// Opens all streams.
    pub(super) fn streams(&self, opened: Opened) -> Result<Vec<Channel>, ClientError> {
        let numbers = 0..self.total;
        let sockets = match opened {
            Opened::OverUdp => return numbers.map(|number| self.over_udp(number)).collect(),
            Opened::InOrder => numbers
                .map(|number| self.one(number))
                .collect::<Result<_, _>>()?,
            Opened::AtOnce => self.all_at_once()?,
        };
        let channels = sockets.into_iter().map(Channel::plain);
        Ok(channels.collect::<Result<_, _>>()?)
    }

    fn far_end(&self) -> FarEnd {
        FarEnd {
            address: self.peer,
            via: self.options.via.clone(),
        }
    }

    fn over_udp(&self, position: u16) -> Result<Channel, ClientError> {
        if self.watch.is_cancelled() {
            return Err(ClientError::Cancelled);
        }
        let is_given_up = || self.watch.is_cancelled();
        let dialled = dial_udp(self.far_end(), None, UDP_WAIT, &is_given_up);
        let mut channel = dialled.map_err(|error| match is_given_up() {
            true => ClientError::Cancelled,
            false => error.into(),
        })?;
        let greeting = numbered_greeting(self.cookie, position);
        let greeted = channel.write_all(&greeting);
        greeted.map_err(|source| self.failure(position, source))?;
        // Over UDP a pace is a number, and no option that a kernel could refuse.
        channel.handle().set_pacing(self.options.pacing)?;
        Ok(channel)
    }

    fn all_at_once(&self) -> Result<Vec<TcpStream>, ClientError> {
        let is_given_up = || self.watch.is_cancelled();
        let deadline = Deadline::after(CONNECT_WAIT.into(), &is_given_up);
        let begun = (0..self.total).map(|position| self.begin(position));
        let begun = begun.collect::<Result<Vec<_>, _>>()?;
        let sockets = (0..self.total).zip(begun);
        let streams = sockets.map(|(position, socket)| {
            let greeting = numbered_greeting(self.cookie, position);
            complete(socket, deadline, &greeting).map_err(|source| self.failure(position, source))
        });
        streams.collect()
    }

    fn begin(&self, position: u16) -> Result<Socket, ClientError> {
        let socket = self.socket(position)?;
        let begun = socket
            .set_nonblocking(true)
            .and_then(|()| socket.connect(&self.peer.into()));
        match begun {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => {
                Err(self.failure(position, error))
            }
            _ => Ok(socket),
        }
    }

    fn one(&self, position: u16) -> Result<TcpStream, ClientError> {
        if self.watch.is_cancelled() {
            return Err(ClientError::Cancelled);
        }
        let mut retries = 0;
        loop {
            let socket = self.socket(position)?;
            let connected = socket
                .connect_timeout(&self.peer.into(), CONNECT_WAIT.into())
                .and_then(|()| greet(socket, self.cookie.as_bytes()));
            match connected {
                Err(error) if is_refusal(&error) && retries < REFUSED_RETRIES => {
                    retries += 1;
                    std::thread::sleep(RETRY_PAUSE);
                }
                other => return other.map_err(|source| self.failure(position, source)),
            }
        }
    }

    fn socket(&self, position: u16) -> Result<Socket, ClientError> {
        let socket = self.options.socket(Domain::for_address(self.peer));
        socket.map_err(|error| match error {
            OptionError::Socket(source) if is_out_of_descriptors(&source) => {
                ClientError::Descriptors {
                    number: usize::from(position) + 1,
                    total: self.total.into(),
                    source,
                }
            }
            other => other.into(),
        })
    }

    fn failure(&self, position: u16, source: io::Error) -> ClientError {
        ClientError::Stream {
            number: usize::from(position) + 1,
            total: self.total.into(),
            peer: self.peer,
            source,
        }
    }
}

/// Waits for a connection that was begun.
fn complete(socket: Socket, deadline: Deadline<'_>, greeting: &[u8]) -> io::Result<TcpStream> {
    let mut watched = [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)];
    if deadline.wait(&mut watched)? == 0 {
        return Err(ErrorKind::TimedOut.into());
    }
    match socket.take_error()? {
        Some(error) => Err(error),
        None => greet(socket, greeting),
    }
}

fn is_refusal(error: &io::Error) -> bool {
    error.kind() == ErrorKind::ConnectionRefused
}

/// The greeting is the first thing on the connection and always fits its empty buffer.
fn greet(socket: Socket, greeting: &[u8]) -> io::Result<TcpStream> {
    let mut stream = met_a_server(socket.into())?;
    stream.write_all(greeting)?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::Type;

    /// Both ends of it are the same.
    fn connected_to_itself() -> Socket {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
        socket.bind(&any_port.into()).unwrap();
        socket.connect(&socket.local_addr().unwrap()).unwrap();
        socket
    }

    #[test]
    fn a_connection_to_itself_counts_as_refused() {
        let error = met_a_server(connected_to_itself().into()).unwrap_err();
        assert!(is_refusal(&error));
        let error = greet(connected_to_itself(), b"hello").unwrap_err();
        assert!(is_refusal(&error));
    }
}
