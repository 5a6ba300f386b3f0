//! What the streams of tests over UDP may hold in memory.
//!
//! Over TCP the kernel bounds that (`tcp_mem`). Over UDP a client that leaves out the first of many
//! packets makes the server keep all others, for as long as a test may stand still. So all tests
//! share [`ALL`], each gets [`ONE_MAX`] while there is plenty, and half of what is left then.

use std::sync::{Mutex, MutexGuard, PoisonError};

use units::Bytes;

/// All tests together.
const ALL: Bytes = Bytes::from_mib(1024);
/// One test, in each direction: twice 10 Gbit/s for 100 ms.
const ONE_MAX: Bytes = Bytes::from_mib(256);
/// A test with less than that would measure its bound.
const ONE_MIN: Bytes = Bytes::from_mib(16);

/// What is held.
#[derive(Debug, Default)]
pub(super) struct UdpMemory(Mutex<Bytes>);

/// The part of one test, given back when dropped.
#[derive(Debug)]
pub(super) struct ReservedMemory<'a> {
    all: &'a UdpMemory,
    bytes: Bytes,
}

impl UdpMemory {
    /// A part for one test; `None` where too little is left.
    pub fn reserve(&self) -> Option<ReservedMemory<'_>> {
        let mut held = self.lock();
        let half = Bytes::new((ALL - *held).get() / 2);
        let bytes = half.min(ONE_MAX);
        if bytes < ONE_MIN {
            return None;
        }
        *held += bytes;
        Some(ReservedMemory { all: self, bytes })
    }

    fn lock(&self) -> MutexGuard<'_, Bytes> {
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
        *held = *held - self.bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_share_a_bound_and_give_their_part_back() {
        let all = UdpMemory::default();
        let parts: Vec<_> = std::iter::from_fn(|| all.reserve()).collect();
        let mib: Vec<u64> = parts.iter().map(|part| part.bytes().get() >> 20).collect();
        assert_eq!(mib, [256, 256, 256, 128, 64, 32, 16]);
        drop(parts);
        assert_eq!(all.reserve().map(|part| part.bytes()), Some(ONE_MAX));
    }
}
