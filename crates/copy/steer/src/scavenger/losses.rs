//! Which losses are congestion: those that a lower rate does not have.
//!
//! Some paths lose packets without congestion, such as radio links, and a lower rate would not
//! help. Those losses have the same share at any rate, so the loss rate at low rates is the
//! ordinary one. The decision uses the whole sequence of packets and losses, not single rounds: a
//! flow that fills a short queue loses a few packets every few seconds.
//!
//! Source: Page, "Continuous inspection schemes", Biometrika 41, 1954 (sums of log likelihood
//! ratios that never fall below zero, here of Poisson distributions).

/// Prior: a path loses one packet in this many.
const PRIOR_PACKETS: f64 = 1_000.0;
/// Packets at low rates after which the older half is forgotten.
const REMEMBERED: f64 = 100_000.0;
/// Congestion has at least this multiple of the ordinary loss rate.
const TIMES: f64 = 4.0;
/// Congestion has at least this loss rate: fewer losses do no harm.
const LEAST: f64 = 2e-3;
/// Likelihood ratio at which losses count as congestion.
const LIKELIHOOD: f64 = 1e5;

/// The ordinary loss rate, and the evidence against it in the last packets.
#[derive(Debug, Clone, Default)]
pub(super) struct Losses {
    lost: f64,
    packets: f64,
    /// Log likelihood ratio of congestion for the last packets.
    evidence: f64,
    /// Losses and packets of the last round of the first growth.
    start: (f64, f64),
}

impl Losses {
    /// Takes losses and packets at a low rate.
    pub fn note_ordinary(&mut self, lost: f64, packets: f64) {
        self.lost += lost;
        self.packets += packets;
        if self.packets > REMEMBERED {
            self.lost /= 2.0;
            self.packets /= 2.0;
        }
    }

    /// Takes a round of the first growth. No cut followed the round before it, so the path was not
    /// full then, and its losses were ordinary.
    pub fn on_round_of_start(&mut self, lost: f64, packets: f64) {
        let (lost, packets) = std::mem::replace(&mut self.start, (lost, packets));
        self.note_ordinary(lost, packets);
    }

    /// The path may have been full in the last round of the first growth.
    pub fn forget_start(&mut self) {
        self.start = (0.0, 0.0);
    }

    /// Ordinary losses per packet.
    pub fn ordinary(&self) -> f64 {
        (self.lost + 1.0) / (self.packets + PRIOR_PACKETS)
    }

    /// Takes losses and packets at any rate.
    pub fn note(&mut self, lost: f64, packets: f64) {
        let ordinary = self.ordinary();
        let congested = (TIMES * ordinary).max(LEAST);
        let gain = lost * (congested / ordinary).ln() - packets * (congested - ordinary);
        self.evidence = (self.evidence + gain).max(0.0);
    }

    /// Whether the last losses are congestion.
    pub fn are_congestion(&self) -> bool {
        self.evidence > LIKELIHOOD.ln()
    }

    /// Starts the sum anew, after a cut.
    pub fn forget_last(&mut self) {
        self.evidence = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of 100 packets until it is taken for congestion, of at most `most`.
    fn rounds(losses: &mut Losses, share: f64, most: u32) -> Option<u32> {
        (1..=most).find(|_| {
            losses.note(100.0 * share, 100.0);
            losses.are_congestion()
        })
    }

    #[test]
    fn a_few_among_many_are_ordinary_until_more_is_known() {
        let mut losses = Losses::default();
        assert_eq!(rounds(&mut losses, 1e-3, 10_000), None);
        // Each brings 0.4 ln 4 - 100 * 0.003 = 0.2545 of ln 1e5 = 11.51.
        assert_eq!(rounds(&mut losses, 4e-3, 100), Some(46));
        // A hundred thousand without any: 1 in 101,000; ten losses at once are enough, and three.
        let mut losses = Losses::default();
        losses.note_ordinary(0.0, 99_999.0);
        losses.note(2.0, 300.0);
        assert!(!losses.are_congestion(), "{losses:?}");
        losses.note(1.0, 300.0);
        assert!(losses.are_congestion(), "{losses:?}");
        losses.forget_last();
        assert!(!losses.are_congestion());
    }

    #[test]
    fn a_path_that_loses_as_much_at_low_rates_is_not_congested() {
        let mut losses = Losses::default();
        // 1.2 ln 4 - 0.3 = 1.36 in each round.
        assert_eq!(rounds(&mut losses.clone(), 0.012, 100), Some(9));
        losses.note_ordinary(100.0, 10_000.0);
        assert_eq!(rounds(&mut losses, 0.012, 10_000), None);
        assert!(rounds(&mut losses, 0.03, 1_000).is_some());
    }
}
