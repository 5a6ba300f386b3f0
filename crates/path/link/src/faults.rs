//! What a link does to packets beyond losing them: cuts and corruption.

use std::collections::VecDeque;

use netpath::LinkSpec;
use units::Time;

use crate::Packet;
use crate::random::{Purpose, Random};

/// The cuts that are not over yet. Times asked for must never go back.
#[derive(Debug)]
pub(crate) struct Cuts(VecDeque<(Time, Time)>);

impl Cuts {
    pub(crate) fn new(spec: &LinkSpec) -> Self {
        let cuts = spec.cuts.iter();
        Cuts(cuts.map(|cut| (cut.begin(), cut.end())).collect())
    }

    /// Whether the link is cut.
    #[inline]
    pub(crate) fn strike(&mut self, now: Time) -> bool {
        while self.0.front().is_some_and(|(_, end)| *end <= now) {
            self.0.pop_front();
        }
        self.0.front().is_some_and(|(begin, _)| *begin <= now)
    }
}

/// Decides packet by packet which ones are corrupted; the same seed corrupts the same ones.
#[derive(Debug)]
pub(crate) struct Corruption {
    rate: f64,
    random: Random,
}

impl Corruption {
    pub(crate) fn new(spec: &LinkSpec, seed: u64) -> Self {
        Corruption {
            rate: spec.corruption,
            random: Random::new(seed, Purpose::Corruption),
        }
    }

    #[inline]
    pub(crate) fn pass<P: Packet>(&mut self, packet: &mut P) {
        if self.rate > 0.0 && self.random.chance(self.rate) {
            packet.corrupt(self.random.bits());
        }
    }
}
