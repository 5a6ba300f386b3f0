//! One generator for each thing that is left to chance.

use rand_core::SeedableRng;
use rand_pcg::Pcg64;

/// What a generator decides.
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
    /// What a source of cross traffic does.
    Source = 5,
    /// What congestion control leaves to chance.
    Control = 6,
}

/// A seed for one purpose, and for the thing with this number among its like. Seeds, purposes and
/// numbers that lie side by side give seeds that have nothing to do with each other.
pub(crate) fn derive(seed: u64, purpose: Purpose, number: u64) -> u64 {
    mix(mix(mix(seed) ^ purpose as u64) ^ number)
}

/// The generator for one purpose.
pub(crate) fn generator(seed: u64, purpose: Purpose, number: u64) -> Pcg64 {
    Pcg64::seed_from_u64(derive(seed, purpose, number))
}

/// Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators": the output of
/// splitmix64.
fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_mixer_is_the_published_one() {
        // The first output of splitmix64 from state 0.
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn neighbours_share_no_seed() {
        let purposes = [Purpose::Forward, Purpose::Backward, Purpose::Source];
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
