//! Which losses are congestion: those that a lower rate does not have.
//!
//! Paths lose packets for reasons of their own, radio links for one, and giving way to nobody would help nobody. Those
//! losses come at the same share whatever is sent, so the share at low rates is what is ordinary. Whether it has become
//! congestion is asked of the whole sequence of packets and losses, not of each round: a flow that fills a short queue
//! loses a few packets every few seconds.
//!
//! Source: Page, "Continuous inspection schemes", Biometrika 41, 1954 (the sums of log likelihood ratios that are never below zero,
//! here of Poisson's distribution).

/// A path is taken to lose one packet in this many until more is known.
const PRIOR_PACKETS: f64 = 1_000.0;
/// Packets at low rates after which the older half is forgotten.
const REMEMBERED: f64 = 100_000.0;
/// Congestion is at least so many times the ordinary losses ...
const TIMES: f64 = 4.0;
/// ... and at least this share: fewer losses are no burden.
const LEAST: f64 = 2e-3;
/// So many times as likely as ordinary ones losses must be as congestion.
const LIKELIHOOD: f64 = 1e5;

/// Packets and losses: those while little was sent, and how the last ones look beside them.
#[derive(Debug, Clone, Default)]
pub(super) struct Losses {
    lost: f64,
    packets: f64,
    /// Logarithm of how much more likely congestion explains the last packets.
    evidence: f64,
    /// Losses and packets of the last round of the start.
    start: (f64, f64),
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

    /// Takes in a round of the start: the one before it was not followed by a cut two rounds later, so the path was not full then.
    pub fn on_round_of_start(&mut self, lost: f64, packets: f64) {
        let (lost, packets) = std::mem::replace(&mut self.start, (lost, packets));
        self.note_ordinary(lost, packets);
    }

    /// The path may have been full in the last round of the start.
    pub fn forget_start(&mut self) {
        self.start = (0.0, 0.0);
    }

    /// Losses per packet that the path has by itself.
    pub fn ordinary(&self) -> f64 {
        (self.lost + 1.0) / (self.packets + PRIOR_PACKETS)
    }

    /// Takes in what happened, at whatever rate.
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

    /// Something was done about them: what comes now is looked at afresh.
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
