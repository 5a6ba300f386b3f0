//! Beginnings of TCP connections: the far kernel answers each with an acceptance or a refusal, one
//! round trip later.
//!
//! They are reset as soon as that is known, so that neither end keeps anything of them. The kernel
//! repeats an unanswered beginning after a second (RFC 6298 section 2), and an answer could then be
//! to either; so none counts that took as long.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use sockets::FarEnd;
use sockets::poll::{is_ready, wait};

/// Answers within this are to the first segment.
const UNREPEATED: Duration = Duration::from_millis(950);

/// Connections that were begun.
#[derive(Debug)]
pub struct TcpConnects {
    host: FarEnd,
    pending: Mutex<VecDeque<Pending>>,
}

#[derive(Debug)]
struct Pending {
    sequence: u64,
    since: Instant,
    socket: Socket,
}

impl TcpConnects {
    /// To a port of `host`.
    pub(super) fn to(host: FarEnd) -> Self {
        TcpConnects {
            host,
            pending: Mutex::default(),
        }
    }

    pub(super) fn send(&self, sequence: u64) -> io::Result<()> {
        let socket = Socket::new(
            Domain::for_address(self.host.address),
            Type::STREAM,
            Some(Protocol::TCP),
        )?;
        socket.set_nonblocking(true)?;
        socket.set_linger(Some(Duration::ZERO))?;
        self.host.prepare(&SockRef::from(&socket))?;
        let since = Instant::now();
        match socket.connect(&self.host.address.into()) {
            Err(error) if !is_begun(&error) => return Err(error),
            _ => {}
        }
        self.pending().push_back(Pending {
            sequence,
            since,
            socket,
        });
        Ok(())
    }

    pub(super) fn receive(&self) -> Option<Option<u64>> {
        let mut pending = self.pending();
        while pending
            .front()
            .is_some_and(|one| one.since.elapsed() > UNREPEATED)
        {
            pending.pop_front();
        }
        let mut watched: Vec<PollFd<'_>> = pending.iter().map(Pending::watched).collect();
        wait(&mut watched, Duration::ZERO).ok()?;
        let ready = watched.iter().position(is_ready)?;
        drop(watched);
        let one = pending.remove(ready)?;
        Some(one.is_answered().then_some(one.sequence))
    }

    fn pending(&self) -> MutexGuard<'_, VecDeque<Pending>> {
        // A queue is intact even when another thread panicked.
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wait(&self, limit: Duration) {
        let pending = self.pending();
        let mut watched: Vec<PollFd<'_>> = pending.iter().map(Pending::watched).collect();
        match watched.is_empty() {
            true => thread::sleep(limit),
            // A failed wait is a short one: the loop looks at the clock again.
            false => drop(wait(&mut watched, limit)),
        }
    }
}

impl Pending {
    fn watched(&self) -> PollFd<'_> {
        PollFd::new(self.socket.as_fd(), PollFlags::POLLOUT)
    }

    /// A router on the way may have complained instead.
    fn is_answered(&self) -> bool {
        match self.socket.take_error() {
            Ok(None) => true,
            Ok(Some(error)) => error.kind() == ErrorKind::ConnectionRefused,
            Err(_) => false,
        }
    }
}

/// A refusal that comes at once shows when the socket is looked at, as a later one does.
fn is_begun(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EINPROGRESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{SocketAddr, TcpListener};

    fn answers(host: SocketAddr) -> Vec<u64> {
        let connects = TcpConnects::to(host.into());
        (0..3).for_each(|sequence| connects.send(sequence).unwrap());
        let end = Instant::now() + Duration::from_secs(30);
        let mut answered = Vec::new();
        while answered.len() < 3 && Instant::now() < end {
            connects.wait(Duration::from_millis(100));
            answered.extend(std::iter::from_fn(|| connects.receive()).flatten());
        }
        answered.sort_unstable();
        answered
    }

    #[test]
    fn a_port_answers_with_or_without_a_listener() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap();
        assert_eq!(answers(host), [0, 1, 2]);
        drop(listener);
        assert_eq!(answers(host), [0, 1, 2]);
    }
}
