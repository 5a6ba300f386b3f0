//! Which test the datagrams are of with which clients open their streams.
//!
//! Such a datagram names no test. So of each host one test at a time waits for its greetings;
//! another one begins when the first has all of its streams, which takes some round trips.
//! Greetings of a host of which no test waits, and more than the test has streams, open nothing and
//! are not answered.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, MutexGuard, PoisonError};

use measure_protocol::iperf3::datagram::{is_hello, repeated_hello};

use super::probe_demux::uniform;

/// Hosts whose greetings are waited for.
#[derive(Debug, Default)]
pub(super) struct Greeters(Mutex<BTreeMap<IpAddr, Waiting>>);

/// What has come from a host.
#[derive(Debug)]
struct Waiting {
    /// How many its test still wants.
    missing: u16,
    /// Where greetings came from; one that is repeated is no other.
    known: BTreeSet<SocketAddr>,
    /// Those that no stream was opened for yet.
    new: VecDeque<SocketAddr>,
    bell: UnixStream,
}

/// The turn of one test, until dropped.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    greeters: &'a Greeters,
    host: IpAddr,
    rings: UnixStream,
}

impl Greeters {
    /// Whether a datagram opens a stream, or would.
    pub fn greet(&self, datagram: &[u8], from: SocketAddr) -> bool {
        if !is_hello(datagram) && datagram != repeated_hello() {
            return false;
        }
        let from = uniform(from);
        if let Some(waiting) = self.lock().get_mut(&from.ip())
            && waiting.missing > 0
            && waiting.known.insert(from)
        {
            waiting.missing -= 1;
            waiting.new.push_back(from);
            // A full bell rings already.
            let _ = waiting.bell.write(&[1]);
        }
        true
    }

    /// The turn of a test of `host` with so many streams; `None` while it is another's.
    pub fn turn(&self, host: IpAddr, streams: u16) -> io::Result<Option<Turn<'_>>> {
        let mut all = self.lock();
        if all.contains_key(&host) {
            return Ok(None);
        }
        let (bell, rings) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        rings.set_nonblocking(true)?;
        let waiting = Waiting {
            missing: streams,
            known: BTreeSet::new(),
            new: VecDeque::new(),
            bell,
        };
        all.insert(host, waiting);
        drop(all);
        Ok(Some(Turn {
            greeters: self,
            host,
            rings,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<IpAddr, Waiting>> {
        // A map is intact even when another thread panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn<'_> {
    /// Where the next greeting came from.
    pub fn next(&mut self) -> Option<SocketAddr> {
        let mut rings = [0; 64];
        // The bell only wakes: what it says is in the list.
        while matches!(self.rings.read(&mut rings), Ok(1..)) {}
        self.greeters.lock().get_mut(&self.host)?.new.pop_front()
    }
}

impl AsFd for Turn<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.rings.as_fd()
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.greeters.lock().remove(&self.host);
    }
}

#[cfg(test)]
mod tests {
    use measure_protocol::iperf3::datagram::HELLO;

    use super::*;

    fn from(port: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 7], port))
    }

    #[test]
    fn a_test_gets_as_many_greetings_as_it_has_streams_each_once() {
        let greeters = Greeters::default();
        assert!(greeters.greet(&HELLO, from(1)));
        let mut turn = greeters.turn(from(0).ip(), 2).unwrap().unwrap();
        assert_eq!(turn.next(), None, "it came before its test");
        for port in [1, 1, 2, 1, 3, 4] {
            assert!(greeters.greet(&HELLO, from(port)));
        }
        greeters.greet(&HELLO, "192.0.2.8:9".parse().unwrap());
        assert_eq!(
            [turn.next(), turn.next(), turn.next()],
            [Some(from(1)), Some(from(2)), None]
        );
    }

    #[test]
    fn a_host_has_one_turn_at_a_time_and_others_have_theirs() {
        let greeters = Greeters::default();
        let first = greeters.turn(from(0).ip(), 1).unwrap().unwrap();
        assert!(greeters.turn(from(0).ip(), 1).unwrap().is_none());
        assert!(
            greeters
                .turn("192.0.2.8".parse().unwrap(), 1)
                .unwrap()
                .is_some()
        );
        drop(first);
        assert!(greeters.turn(from(0).ip(), 1).unwrap().is_some());
        assert!(greeters.lock().is_empty());
    }

    #[test]
    fn other_datagrams_are_of_others() {
        let greeters = Greeters::default();
        assert!(!greeters.greet(b"987", from(1)) && !greeters.greet(&[1; 16], from(1)));
        assert!(greeters.greet(&[0x15, 0xCD, 0x5B, 0x07], from(1)));
        assert!(greeters.greet(&repeated_hello(), from(1)));
    }
}
