//! One TCP connection to any of several addresses.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags};
use socket2::{Domain, Socket};

use crate::Deadline;
use crate::options::{OptionError, StreamOptions};
use crate::poll::is_ready;

/// How much later the next address is tried while the one before has not answered: "Connection
/// Attempt Delay" of RFC 8305, section 5.
const STAGGER: Duration = Duration::from_millis(250);

/// What became of each address.
pub type Tried = Vec<(SocketAddr, io::Error)>;

/// Why there is no connection.
#[derive(Debug)]
pub enum ConnectError {
    /// This host refuses an option.
    Option(OptionError),
    /// No address answered.
    Unreachable(Tried),
}

/// An attempt that is under way.
struct Attempt {
    socket: Socket,
    peer: SocketAddr,
}

impl Attempt {
    fn watched(&self) -> PollFd<'_> {
        PollFd::new(self.socket.as_fd(), PollFlags::POLLOUT)
    }
}

/// Connects to whichever of `addresses` answers first, those in front having a head start.
///
/// An address that leads nowhere thus costs a quarter of a second, not the time until TCP gives it
/// up.
///
/// # Errors
/// When none answers, with what became of each; when this host refuses an option.
pub fn connect_any(
    addresses: &[SocketAddr],
    options: &StreamOptions,
    deadline: Deadline<'_>,
) -> Result<(TcpStream, SocketAddr), ConnectError> {
    let mut waiting = addresses.iter();
    let mut attempts: Vec<Attempt> = Vec::new();
    let mut tried = Tried::new();
    loop {
        if let Some(peer) = waiting.next() {
            match begin(*peer, options).map_err(ConnectError::Option)? {
                Ok(attempt) => attempts.push(attempt),
                Err(error) => tried.push((*peer, error)),
            }
        }
        let next = match waiting.as_slice().is_empty() {
            true => deadline,
            false => deadline.at_most(Instant::now() + STAGGER),
        };
        if let Some(connected) = first_of(&mut attempts, next, &mut tried) {
            return Ok(connected);
        }
        if waiting.as_slice().is_empty() && attempts.is_empty() || deadline.is_over() {
            let late = attempts.into_iter().map(|one| one.peer);
            tried.extend(late.map(|peer| (peer, ErrorKind::TimedOut.into())));
            return Err(ConnectError::Unreachable(tried));
        }
    }
}

/// Begins to connect.
fn begin(peer: SocketAddr, options: &StreamOptions) -> Result<io::Result<Attempt>, OptionError> {
    let socket = options.socket(Domain::for_address(peer))?;
    let begun = socket
        .set_nonblocking(true)
        .and_then(|()| socket.connect(&peer.into()));
    Ok(match begun {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
        _ => Ok(Attempt { socket, peer }),
    })
}

/// The first attempt that succeeds in time; returns early when none is left.
fn first_of(
    attempts: &mut Vec<Attempt>,
    deadline: Deadline<'_>,
    tried: &mut Tried,
) -> Option<(TcpStream, SocketAddr)> {
    while !attempts.is_empty() {
        let mut watched: Vec<_> = attempts.iter().map(Attempt::watched).collect();
        let waited = deadline.wait(&mut watched);
        let ready = waited.map_or(None, |_| watched.iter().position(is_ready));
        let Some(at) = ready else {
            if deadline.is_over() {
                return None;
            }
            continue;
        };
        let one = attempts.swap_remove(at);
        match settle(&one.socket) {
            Ok(()) => return Some((one.socket.into(), one.peer)),
            Err(error) => tried.push((one.peer, error)),
        }
    }
    None
}

/// Whether it is connected, and not to itself: without a listener on a port of this host, the
/// kernel may choose that port as the source, and both ends are then the same socket (RFC 9293,
/// section 3.5).
fn settle(socket: &Socket) -> io::Result<()> {
    if let Some(error) = socket.take_error()? {
        return Err(error);
    }
    match socket.local_addr()?.as_socket() == socket.peer_addr()?.as_socket() {
        true => Err(ErrorKind::ConnectionRefused.into()),
        false => socket.set_nonblocking(false),
    }
}
