//! Beginnings of TCP connections, from one port to one port, one at a time.
//!
//! Each probe is a connection of its own, since Linux hands the router's message only to one that
//! still begins. All have the same ports, as each is gone before the next. One that the far end
//! accepts is reset before the handshake is over: the kernel is asked not to acknowledge at once,
//! and the program behind the port never hears of it, which matters to servers that serve one
//! client at a time.

use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use sockets::FarEnd;
use units::Span;

use super::{Answer, ProbeFlow, Said, answer, message, socket_options};
use sockets::poll::{is_ready, wait};

/// The kernel repeats the beginning of a connection after 1 s (RFC 6298 section 2.1); an answer
/// could then be one to either.
const TIMEOUT_MAX: Span = Span::from_millis(990);

/// The ports of a flow, and its last connection.
#[derive(Debug)]
pub(crate) struct TcpFlow {
    far: FarEnd,
    /// Never connected: keeps the port from being given to others.
    holder: Socket,
    beginning: Option<(u64, Socket)>,
}

impl TcpFlow {
    /// To `far`.
    pub(crate) fn open(far: &FarEnd) -> io::Result<Self> {
        Ok(TcpFlow {
            holder: bound(far, 0)?,
            far: far.clone(),
            beginning: None,
        })
    }

    fn begin(&self, hops: u8) -> io::Result<Socket> {
        let socket = bound(&self.far, socket_options::port(&self.holder)?)?;
        socket.set_nonblocking(true)?;
        socket_options::set_hops(&socket, self.far.ip(), hops)?;
        socket_options::listen_to_routers(&socket, self.far.ip())?;
        // The two that keep the program behind the port out of it: acknowledge late, and close with
        // a reset.
        socket.set_tcp_quickack(false)?;
        socket.set_linger(Some(Duration::ZERO))?;
        match socket.connect(&self.far.address.into()) {
            Err(error) if !is_answer(&error) => Err(error),
            _ => Ok(socket),
        }
    }
}

/// A socket that shares `port` with others that are not connected at the same time.
fn bound(far: &FarEnd, port: u16) -> io::Result<Socket> {
    let domain = Domain::for_address(far.address);
    let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    far.prepare_at(&SockRef::from(&socket), port)?;
    Ok(socket)
}

/// Not yet, or already: what connecting tells of a connection that was begun.
fn is_answer(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EINPROGRESS | libc::ECONNREFUSED | libc::EAGAIN)
    )
}

impl ProbeFlow for TcpFlow {
    fn at_once(&self) -> usize {
        1
    }

    fn timeout_max(&self) -> Span {
        TIMEOUT_MAX
    }

    fn is_rate_limited(&self) -> bool {
        false
    }

    fn send(&mut self, number: u64, hops: u8) -> io::Result<()> {
        // The one before has to be gone, or the ports would be taken.
        self.beginning = None;
        self.beginning = Some((number, self.begin(hops)?));
        Ok(())
    }

    fn receive(&mut self) -> Option<Answer> {
        let (number, socket) = self.beginning.as_ref()?;
        let answer = told(*number, socket, self.far.ip())?;
        // Closing resets it.
        self.beginning = None;
        Some(answer)
    }

    fn wait(&self, limit: Duration) {
        // A failed wait is a short one: the loop looks at the clock again.
        let _ = match &self.beginning {
            Some((_, socket)) => wait(&mut [writable(socket)], limit),
            None => wait(&mut [], limit),
        };
    }
}

fn writable(socket: &Socket) -> PollFd<'_> {
    PollFd::new(socket.as_fd(), PollFlags::POLLOUT)
}

/// What became of a beginning; `None` where nothing did yet.
fn told(number: u64, socket: &Socket, far: IpAddr) -> Option<Answer> {
    while let Some(message) = message::notice(socket.as_fd()) {
        // The kernel gives a connection only what is about it.
        let answer = answer(&message, far, |_| Some(number));
        if answer.is_some() {
            return answer;
        }
    }
    let mut descriptors = [writable(socket)];
    wait(&mut descriptors, Duration::ZERO).ok()?;
    let ready = descriptors.iter().any(is_ready);
    let arrived = match socket.take_error() {
        // Accepted, or refused by a reset.
        Ok(None) => ready,
        Ok(Some(error)) => error.kind() == io::ErrorKind::ConnectionRefused,
        Err(_) => false,
    };
    arrived.then_some(Answer {
        probe: Some(number),
        age: Span::ZERO,
        said: Said::Arrived(far),
    })
}
