//! One generator for each thing that is left to chance.

use link::derive_seed;
use rand_core::SeedableRng;
use rand_pcg::Pcg64;

/// What a generator decides; sources of cross traffic have number 5 (`link::CrossSource`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Losses of the forward link.
    Forward = 1,
    /// Losses of the link back.
    Backward = 2,
    /// When flows begin.
    Starts = 3,
    /// How long hosts hesitate.
    Jitter = 4,
    /// What congestion control leaves to chance.
    Control = 6,
}

/// A seed for one purpose, and for the thing with this number among its like.
pub(crate) fn derive(seed: u64, purpose: Purpose, number: u64) -> u64 {
    derive_seed(seed, purpose as u64, number)
}

/// The generator for one purpose.
pub(crate) fn generator(seed: u64, purpose: Purpose, number: u64) -> Pcg64 {
    Pcg64::seed_from_u64(derive(seed, purpose, number))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn neighbours_share_no_seed() {
        let purposes = [Purpose::Forward, Purpose::Backward, Purpose::Control];
        let mut seen = BTreeSet::new();
        for seed in 0..100 {
            for purpose in purposes {
                for number in 0..100 {
                    assert!(seen.insert(derive(seed, purpose, number)));
                }
            }
        }
    }
}
