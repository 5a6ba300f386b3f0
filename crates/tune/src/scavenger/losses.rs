//! Which losses are congestion: those that a lower rate does not have.
//!
//! Paths lose packets for reasons of their own, radio links for one, and giving way to nobody would help nobody. Those
//! losses come at the same share whatever is sent, so the share at low rates is what is ordinary.

/// A path is taken to lose one packet in this many until more is known.
const PRIOR_PACKETS: f64 = 1_000.0;
/// Packets at low rates after which the older half is forgotten.
const REMEMBERED: f64 = 100_000.0;
/// Losses beyond the expected number, in its standard deviations, that are no chance: one round in a thousand.
const DEVIATIONS: f64 = 3.0;

/// Packets and losses while little was sent.
#[derive(Debug, Clone, Default)]
pub(super) struct Losses {
    lost: f64,
    packets: f64,
}

impl Losses {
    /// Takes in what happened while the rate was low.
    pub fn note_ordinary(&mut self, lost: f64, packets: f64) {
        self.lost += lost;
        self.packets += packets;
        if self.packets > REMEMBERED {
            self.lost /= 2.0;
            self.packets /= 2.0;
        }
    }

    /// Losses per packet that the path has by itself.
    pub fn ordinary(&self) -> f64 {
        (self.lost + 1.0) / (self.packets + PRIOR_PACKETS)
    }

    /// Whether so many losses among so many packets are more than ordinary ones by chance.
    ///
    /// The number of losses is Poisson's while they are rare: its standard deviation is the root of its mean.
    pub fn are_congestion(&self, lost: f64, packets: f64) -> bool {
        let expected = self.ordinary() * packets;
        lost > expected + DEVIATIONS * expected.sqrt() + 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_among_many_are_ordinary_until_more_is_known() {
        let mut losses = Losses::default();
        // One in a thousand is expected: 1 + 3 + 1.
        assert!(!losses.are_congestion(5.0, 1_000.0));
        assert!(losses.are_congestion(6.0, 1_000.0));
        // A hundred thousand without any: 1 in 101,000.
        losses.note_ordinary(0.0, 99_999.0);
        assert!(losses.are_congestion(2.0, 1_000.0));
        assert!(!losses.are_congestion(1.0, 1_000.0));
    }

    #[test]
    fn a_path_that_loses_as_much_at_low_rates_is_not_congested() {
        let mut losses = Losses::default();
        assert!(losses.are_congestion(12.0, 1_000.0));
        losses.note_ordinary(100.0, 10_000.0);
        assert!(!losses.are_congestion(12.0, 1_000.0));
        assert!(losses.are_congestion(30.0, 1_000.0));
    }
}
