//! Finding the server and connecting to it.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use socket2::Domain;
use units::Span;
use wire::Cookie;

use super::ClientError;
use crate::Address;
use crate::control::ControlSocket;
use crate::options::StreamOptions;

/// Longest wait for a connection: three tries of the kernel, one second apart and then two.
const CONNECT_WAIT: Span = Span::from_secs(5);
/// A stock server opens its listener anew for some options; whoever comes in that moment is refused.
const REFUSED_RETRIES: u32 = 5;
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// The control connection, over the first of the host's addresses that answers.
pub(super) fn control(address: &Address) -> Result<(ControlSocket, SocketAddr), ClientError> {
    let mut last = None;
    for peer in resolve(address)? {
        match TcpStream::connect_timeout(&peer, CONNECT_WAIT.into()) {
            Ok(stream) => return Ok((ControlSocket::new(stream)?, peer)),
            Err(error) => last = Some(error),
        }
    }
    let nowhere = || io::Error::new(ErrorKind::NotFound, "the name has no address");
    Err(explain(address.clone(), last.unwrap_or_else(nowhere)))
}

fn resolve(address: &Address) -> Result<Vec<SocketAddr>, ClientError> {
    let found = (address.host.as_str(), address.port).to_socket_addrs();
    let found = found.map_err(|source| ClientError::UnknownHost {
        host: address.host.clone(),
        source,
    });
    Ok(found?.collect())
}

fn explain(address: Address, source: io::Error) -> ClientError {
    match source.kind() {
        ErrorKind::ConnectionRefused => ClientError::Refused { address },
        ErrorKind::TimedOut | ErrorKind::WouldBlock => ClientError::Silent {
            address,
            after: CONNECT_WAIT,
        },
        _ => ClientError::Connect { address, source },
    }
}

/// All streams, one after another: the order of their arrival is all that tells them apart.
pub(super) fn streams(
    peer: SocketAddr,
    cookie: &Cookie,
    options: &StreamOptions,
    total: usize,
) -> Result<Vec<TcpStream>, ClientError> {
    let mut streams = Vec::with_capacity(total);
    for number in 1..=total {
        let stream = stream(peer, cookie, options).map_err(|error| match error {
            StreamError::Option(error) => ClientError::Option(error),
            StreamError::Io(source) => ClientError::Stream {
                number,
                total,
                peer,
                source,
            },
        })?;
        streams.push(stream);
    }
    Ok(streams)
}

enum StreamError {
    Option(crate::options::OptionError),
    Io(io::Error),
}

fn stream(
    peer: SocketAddr,
    cookie: &Cookie,
    options: &StreamOptions,
) -> Result<TcpStream, StreamError> {
    let mut retries = 0;
    let stream = loop {
        let socket = options.socket(Domain::for_address(peer));
        let socket = socket.map_err(StreamError::Option)?;
        match socket.connect_timeout(&peer.into(), CONNECT_WAIT.into()) {
            Ok(()) => break TcpStream::from(socket),
            Err(error) if is_refusal(&error) && retries < REFUSED_RETRIES => {
                retries += 1;
                std::thread::sleep(RETRY_PAUSE);
            }
            Err(error) => return Err(StreamError::Io(error)),
        }
    };
    greet(&stream, cookie).map_err(StreamError::Io)?;
    Ok(stream)
}

fn is_refusal(error: &io::Error) -> bool {
    error.kind() == ErrorKind::ConnectionRefused
}

/// The cookie is the first thing on the connection and always fits its empty buffer.
fn greet(mut stream: &TcpStream, cookie: &Cookie) -> io::Result<()> {
    io::Write::write_all(&mut stream, cookie.as_bytes())
}
