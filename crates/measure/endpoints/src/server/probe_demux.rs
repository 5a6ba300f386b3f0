//! Openers of probing sessions, from the socket that receives all datagrams.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use measure_protocol::EchoToken;
use measure_protocol::trains::{Datagram, DatagramKind};

/// Openers that wait for their session; more are repeats.
const WAITING_MAX: usize = 16;

/// Who waits for openers, by token.
#[derive(Debug, Default)]
pub(super) struct ProbeDemux(Mutex<BTreeMap<u64, Bell>>);

/// The way to one session.
#[derive(Debug)]
struct Bell {
    /// Address of the session's control connection: only openers from there count.
    host: IpAddr,
    openers: SyncSender<Opener>,
    rope: UnixStream,
}

/// A client has shown where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Opener {
    /// Its address, as the server sees it.
    pub from: SocketAddr,
    /// The train that it is for.
    pub train: u32,
}

/// The session's end; nothing gets through once it is dropped.
#[derive(Debug)]
pub(super) struct Door<'a> {
    demux: &'a ProbeDemux,
    token: EchoToken,
    openers: Receiver<Opener>,
    rings: UnixStream,
}

impl ProbeDemux {
    /// Waits for openers with `token` that come from `host`.
    pub(super) fn wait(&self, token: EchoToken, host: IpAddr) -> io::Result<Door<'_>> {
        let (rope, rings) = UnixStream::pair()?;
        rope.set_nonblocking(true)?;
        rings.set_nonblocking(true)?;
        let (sender, openers) = sync_channel(WAITING_MAX);
        let bell = Bell {
            host,
            openers: sender,
            rope,
        };
        self.lock().insert(token.0, bell);
        Ok(Door {
            demux: self,
            token,
            openers,
            rings,
        })
    }

    /// Tells the session that a datagram opens, if there is one and it comes from its client's
    /// host.
    pub(super) fn knock(&self, datagram: &[u8], from: SocketAddr) {
        let read = Datagram::decode(datagram).ok();
        let Some(opener) = read.filter(|read| read.kind == DatagramKind::Opener) else {
            return;
        };
        let mut bells = self.lock();
        let Some(bell) = bells.get_mut(&opener.token.0) else {
            return;
        };
        let from = uniform(from);
        if from.ip() != bell.host {
            return;
        }
        let train = opener.train;
        match bell.openers.try_send(Opener { from, train }) {
            // A full bell rings already.
            Ok(()) => drop(bell.rope.write(&[1])),
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Bell>> {
        // A map is intact even when another thread panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Door<'_> {
    /// The next opener that has come.
    pub(super) fn next(&mut self) -> Option<Opener> {
        let mut rings = [0; 64];
        // The bell only wakes: what it says is in the queue.
        while matches!(self.rings.read(&mut rings), Ok(1..)) {}
        self.openers.try_recv().ok()
    }
}

impl AsFd for Door<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.rings.as_fd()
    }
}

impl Drop for Door<'_> {
    fn drop(&mut self) {
        self.demux.lock().remove(&self.token.0);
    }
}

/// An IPv4 host that an IPv6 socket sees, under its own address.
pub(super) fn uniform(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical() {
        IpAddr::V4(ip) => SocketAddr::new(ip.into(), address.port()),
        // Left as it is: a link-local one has an interface, too.
        IpAddr::V6(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opener(token: u64, train: u32) -> [u8; 24] {
        Datagram {
            kind: DatagramKind::Opener,
            token: EchoToken(token),
            train,
            packet: 0,
        }
        .encode()
    }

    #[test]
    fn only_the_clients_host_with_the_right_token_gets_through() {
        let demux = ProbeDemux::default();
        let host = "192.0.2.7".parse().unwrap();
        let from: SocketAddr = "[::ffff:192.0.2.7]:4000".parse().unwrap();
        let mut door = demux.wait(EchoToken(5), host).unwrap();
        demux.knock(&opener(6, 1), from);
        demux.knock(&opener(5, 1), "192.0.2.8:4000".parse().unwrap());
        demux.knock(&opener(5, 1)[..23], from);
        let packet = Datagram {
            kind: DatagramKind::Packet,
            ..Datagram::decode(&opener(5, 1)).unwrap()
        };
        demux.knock(&packet.encode(), from);
        assert_eq!(door.next(), None);
        demux.knock(&opener(5, 9), from);
        let from = "192.0.2.7:4000".parse().unwrap();
        assert_eq!(door.next(), Some(Opener { from, train: 9 }));
    }

    #[test]
    fn a_flood_of_openers_is_bounded_and_ends_with_the_session() {
        let demux = ProbeDemux::default();
        let from: SocketAddr = "192.0.2.7:4000".parse().unwrap();
        let mut door = demux.wait(EchoToken(5), from.ip()).unwrap();
        (0..1_000).for_each(|train| demux.knock(&opener(5, train), from));
        let through = std::iter::from_fn(|| door.next()).count();
        assert_eq!(through, WAITING_MAX);
        drop(door);
        demux.knock(&opener(5, 1), from);
        assert!(demux.lock().is_empty());
    }
}
