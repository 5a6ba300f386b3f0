//! Seeded draws.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// What a link draws for. Each purpose has a sequence of its own, so that a link which draws for
/// one more thing draws the same for the others as before.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    WireLoss,
    EarlyDrop,
    Load,
    Corruption,
    Reorder,
    Rate,
}

/// A seed for one purpose, and for the thing with this number among its like. Seeds, purposes and
/// numbers that lie side by side give seeds that have nothing to do with each other.
pub fn derive_seed(seed: u64, purpose: u64, number: u64) -> u64 {
    mix(mix(mix(seed) ^ purpose) ^ number)
}

/// Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators": the output of
/// splitmix64.
fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A seeded sequence.
#[derive(Debug)]
pub(crate) struct Random(Pcg64);

impl Random {
    pub(crate) fn new(seed: u64, purpose: Purpose) -> Self {
        let apart = match purpose {
            Purpose::WireLoss => 0,
            // The golden ratio's fraction: differs from every seed that people choose nearby.
            Purpose::EarlyDrop => 0x9E37_79B9_7F4A_7C15,
            // The fraction of the square root of 2.
            Purpose::Load => 0x6A09_E667_F3BC_C908,
            // That of the square root of 5.
            Purpose::Corruption => 0x3C6E_F372_FE94_F82B,
            // That of the square root of 3.
            Purpose::Reorder => 0xBB67_AE85_84CA_A73B,
            // That of the square root of 7.
            Purpose::Rate => 0xA54F_F53A_5F1D_36F1,
        };
        Random(Pcg64::seed_from_u64(seed ^ apart))
    }

    /// 64 random bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// True with this probability: 53 random bits against it, so 0 and 1 are exact.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// From 0 to below 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An exponential draw with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        // libm's logarithm is the same on every machine, the platform's need not be.
        -libm::log(1.0 - self.uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mixer_is_the_published_one() {
        // The first output of splitmix64 from state 0.
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
    }
}
