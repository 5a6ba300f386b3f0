//! Hosts that sleep between packets: what comes seldom is handed over late.

use std::collections::BTreeMap;

use rand_core::Rng;
use rand_pcg::Pcg32;
use steer::StreamReading;
use steer::scavenger::PERIOD;
use units::{Bytes, Span};

/// Seconds that a packet waits at the most while packets come in each millisecond ...
const AWAKE: f64 = 1.2e-3;
/// Seconds that are added when no packets come.
const ASLEEP: f64 = 2.8e-3;

pub struct Hosts {
    random: Pcg32,
    /// By stream: bytes that had arrived when it was read last.
    arrived: BTreeMap<u32, u64>,
    /// By stream: what the smoothed round trip has of it, in seconds.
    smoothed: BTreeMap<u32, f64>,
}

impl Hosts {
    pub fn new(seed: u64) -> Self {
        Hosts {
            random: Pcg32::new(seed, 7),
            arrived: BTreeMap::new(),
            smoothed: BTreeMap::new(),
        }
    }

    /// Adds to the round trips of a copy what its packets waited since they were read last.
    pub fn hand_over_late(&mut self, readings: &mut [StreamReading]) {
        let new = readings.iter().map(|one| {
            let arrived = one.tcp.bytes_arrived.map_or(0, Bytes::get);
            let before = self.arrived.insert(one.stream, arrived).unwrap_or(0);
            (arrived - before).div_ceil(1448)
        });
        let packets: Vec<u64> = new.collect();
        let density = packets.iter().sum::<u64>() as f64 / (PERIOD.as_secs_f64() * 1e3);
        for (one, packets) in readings.iter_mut().zip(packets) {
            let late = self.late(one.stream, packets.div_ceil(2), density);
            one.tcp.rtt = one.tcp.rtt.map(|rtt| rtt + late);
        }
    }

    /// What the smoothed round trip of a stream has more than the path's, after so many
    /// acknowledgements while so many packets came in each millisecond.
    fn late(&mut self, stream: u32, acknowledgements: u64, density: f64) -> Span {
        let most = AWAKE + ASLEEP * (1.0 - density.min(1.0));
        let smoothed = self.smoothed.entry(stream).or_default();
        for _ in 0..acknowledgements {
            let one = most * f64::from(self.random.next_u32()) / f64::from(u32::MAX);
            *smoothed += (one - *smoothed) / 8.0;
        }
        Span::from_secs_f64(*smoothed)
    }
}
