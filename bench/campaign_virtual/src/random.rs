//! Draws from a seed, the same on every machine.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// A generator of its own for each purpose.
#[derive(Debug, Clone)]
pub struct Random(Pcg64);

impl Random {
    /// * `purpose`, `number`: tell this generator from others of the same seed.
    pub fn new(seed: u64, purpose: u64, number: usize) -> Self {
        let apart = (purpose << 48) ^ (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Random(Pcg64::seed_from_u64(seed ^ apart))
    }

    /// From 0 up to 1, never 0 itself.
    pub fn part(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.part()
    }

    /// All orders of magnitude between the two as often.
    pub fn between_logarithms(&mut self, low: f64, high: f64) -> f64 {
        libm::exp(self.between(libm::log(low), libm::log(high)))
    }

    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(self.part())
    }

    /// Mean 0, variance 1 (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(self.part()));
        radius * libm::cos(std::f64::consts::TAU * self.part())
    }
}
