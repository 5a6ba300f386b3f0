//! Made-up rate series of known shape; one value stands for 100 ms, full rate is 100.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg32;

/// The full rate throughout.
pub fn constant(length: usize) -> Vec<f64> {
    vec![100.0; length]
}

/// Slow start from 1/256 of the full rate at 165 ms of round-trip time, then the full rate.
///
/// `growth` is the factor of a round trip: 2, or 1.5 with delayed acknowledgements. It takes
/// 165 ms x log(256) / log(growth): 14 intervals at 2, 23 at 1.5.
pub fn slow_start(length: usize, growth: f64) -> Vec<f64> {
    let rate = |i| 100.0 / 256.0 * growth.powf(i as f64 * 0.1 / 0.165);
    (0..length).map(|i| rate(i).min(100.0)).collect()
}

/// Reno's saw-tooth between half and full rate, beginning at the bottom.
pub fn saw_tooth(length: usize, period: usize) -> Vec<f64> {
    let share = |i: usize| (i % period) as f64 / period as f64;
    (0..length).map(|i| 50.0 + 50.0 * share(i)).collect()
}

/// A straight rise between two rates.
pub fn rising(length: usize, from: f64, to: f64) -> Vec<f64> {
    (0..length)
        .map(|i| from + (to - from) * i as f64 / length as f64)
        .collect()
}

/// Slow start to 140, a fall to half the rate and a recovery over two seconds.
pub fn overshoot(length: usize) -> Vec<f64> {
    let recovery = |i: usize| 100.0 - 50.0 * (-(i as f64 - 15.0) / 8.0).exp();
    let ramp = slow_start(length, 2.0);
    let rate = |(i, rate): (usize, &f64)| if i < 15 { rate * 1.4 } else { recovery(i) };
    ramp.iter().enumerate().map(rate).collect()
}

/// Half a second at 40 % of the rate.
pub fn with_dip(mut rates: Vec<f64>, at: usize) -> Vec<f64> {
    rates
        .iter_mut()
        .skip(at)
        .take(5)
        .for_each(|rate| *rate *= 0.4);
    rates
}

/// Every other interval empty-handed, as when the round trip is longer than the interval.
pub fn in_bursts(rates: Vec<f64>) -> Vec<f64> {
    let burst = |(i, rate)| if i % 2 == 0 { rate * 0.4 } else { rate * 1.6 };
    rates.into_iter().enumerate().map(burst).collect()
}

/// Relative noise of standard deviation `spread`, correlated at 0.7 from one value to the next.
pub fn with_noise(rates: Vec<f64>, spread: f64, seed: u64) -> Vec<f64> {
    let mut random = Pcg32::seed_from_u64(seed);
    let fresh = spread * (1.0_f64 - 0.7 * 0.7).sqrt();
    let mut state = spread * gaussian(&mut random);
    let mut noisy = |rate: f64| {
        state = 0.7 * state + fresh * gaussian(&mut random);
        (rate * (1.0 + state)).max(0.0)
    };
    rates.into_iter().map(&mut noisy).collect()
}

/// Close to a standard normal value: twelve uniform ones summed.
fn gaussian(random: &mut Pcg32) -> f64 {
    let uniform = |_| f64::from(random.next_u32()) / f64::from(u32::MAX);
    (0..12).map(uniform).sum::<f64>() - 6.0
}
