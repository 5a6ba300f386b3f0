//! Where an acceptor's connections come from.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use nix::sys::eventfd::{EfdFlags, EventFd};

use super::TICK;

/// Connections on their way from another acceptor: more than may wait there (`AcceptLimits`),
/// since that one may be late on a busy host while strangers come by the hundred.
const INTAKE_MAX: usize = 1024;

/// Where the connections of an acceptor come from.
#[derive(Debug)]
pub enum Source {
    /// A port of its own.
    Listener(TcpListener),
    /// Another acceptor, which has looked at their first byte.
    Acceptor(Receiver<(TcpStream, SocketAddr)>, Arc<EventFd>),
}

/// Hands connections over to another acceptor.
#[derive(Debug, Clone)]
pub struct Handover {
    sender: SyncSender<(TcpStream, SocketAddr)>,
    bell: Arc<EventFd>,
}

impl Handover {
    /// A handover, and the source from which the other acceptor takes what was handed over.
    ///
    /// # Errors
    /// When this process has no descriptor left.
    pub fn new() -> io::Result<(Handover, Source)> {
        let (sender, receiver) = sync_channel(INTAKE_MAX);
        let flags = EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC;
        let bell = Arc::new(EventFd::from_value_and_flags(0, flags)?);
        let source = Source::Acceptor(receiver, Arc::clone(&bell));
        Ok((Handover { sender, bell }, source))
    }

    /// Hands over a connection; one too many is closed.
    pub fn give(&self, socket: TcpStream, peer: SocketAddr) {
        if self.sender.try_send((socket, peer)).is_ok() {
            // A bell that cannot count further rings already.
            let _ = self.bell.write(1);
        }
    }
}

impl Source {
    /// Readable when there may be one.
    pub fn watched(&self) -> BorrowedFd<'_> {
        match self {
            Source::Listener(listener) => listener.as_fd(),
            Source::Acceptor(_, bell) => bell.as_fd(),
        }
    }

    /// The next one that has come, with where it came from.
    pub fn next(&self) -> Option<(TcpStream, SocketAddr)> {
        match self {
            Source::Listener(listener) => loop {
                match listener.accept() {
                    Ok(accepted) => return Some(accepted),
                    Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                    Err(error) if error.kind() == ErrorKind::WouldBlock => return None,
                    // No descriptor left: the connection stays in the backlog until one is free.
                    Err(_) => {
                        thread::sleep(TICK);
                        return None;
                    }
                }
            },
            Source::Acceptor(receiver, bell) => {
                let _ = bell.read();
                receiver.try_recv().ok()
            }
        }
    }
}
