//! What the streams of tests over UDP may hold in memory.
//!
//! Over TCP the kernel bounds that (`tcp_mem`). Over UDP a client that leaves out the first of many
//! packets makes the server keep all others, for as long as a test may stand still. So all tests
//! share [`ALL`], those of one address [`ADDRESS`]; each gets [`ONE_MAX`] while there is plenty,
//! and half of what is left then.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use units::Bytes;

/// All tests together.
const ALL: Bytes = Bytes::from_mib(1024);
/// Those of one address.
const ADDRESS: Bytes = Bytes::from_mib(512);
/// One test, in each direction: twice 10 Gbit/s for 100 ms.
const ONE_MAX: Bytes = Bytes::from_mib(256);
/// A test with less than that would measure its bound.
const ONE_MIN: Bytes = Bytes::from_mib(16);

/// What the tests of each address hold.
#[derive(Debug, Default)]
pub(super) struct UdpMemory(Mutex<BTreeMap<IpAddr, Bytes>>);

/// The part of one test, given back when dropped.
#[derive(Debug)]
pub(super) struct ReservedMemory<'a> {
    all: &'a UdpMemory,
    address: IpAddr,
    bytes: Bytes,
}

impl UdpMemory {
    /// A part for one test; `None` where too little is left.
    ///
    /// * `address`: of the client.
    pub fn reserve(&self, address: IpAddr) -> Option<ReservedMemory<'_>> {
        let mut held = self.lock();
        let all: Bytes = held.values().copied().sum();
        let own = held.get(&address).copied().unwrap_or(Bytes::ZERO);
        let left = (ALL - all).min(ADDRESS - own);
        let bytes = Bytes::new(left.get() / 2).min(ONE_MAX);
        if bytes < ONE_MIN {
            return None;
        }
        held.insert(address, own + bytes);
        Some(ReservedMemory {
            all: self,
            address,
            bytes,
        })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<IpAddr, Bytes>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReservedMemory<'_> {
    /// How much it is.
    pub fn bytes(&self) -> Bytes {
        self.bytes
    }
}

impl Drop for ReservedMemory<'_> {
    fn drop(&mut self) {
        let mut held = self.all.lock();
        if let Some(own) = held.get_mut(&self.address) {
            *own = *own - self.bytes;
        }
        held.retain(|_, own| *own > Bytes::ZERO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(address: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, address])
    }

    /// MiB of all tests that one address can begin.
    fn all_of<'a>(memory: &'a UdpMemory, address: u8) -> (Vec<ReservedMemory<'a>>, Vec<u64>) {
        let parts: Vec<_> = std::iter::from_fn(|| memory.reserve(from(address))).collect();
        let mib = parts.iter().map(|part| part.bytes().get() >> 20).collect();
        (parts, mib)
    }

    #[test]
    fn tests_share_a_bound_and_give_their_part_back() {
        let memory = UdpMemory::default();
        let (first, mib) = all_of(&memory, 1);
        assert_eq!(mib, [256, 128, 64, 32, 16]);
        // 528 MiB are left, 512 of them for the next address.
        let (second, mib) = all_of(&memory, 2);
        assert_eq!(mib, [256, 128, 64, 32, 16]);
        assert_eq!(all_of(&memory, 3).1, [16]);
        drop((first, second));
        assert_eq!(
            memory.reserve(from(1)).map(|part| part.bytes()),
            Some(ONE_MAX)
        );
        assert!(memory.lock().is_empty());
    }
}
