//! Loss on the wire: independent, or in bursts.

use netpath::Loss;

use crate::random::{Purpose, Random};

/// Decides packet by packet which ones are lost; the same seed loses the same ones.
#[derive(Debug)]
pub(crate) struct WireLoss {
    model: Loss,
    random: Random,
    state: State,
}

/// The state of the Gilbert-Elliott chain; always good for the other models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Good,
    Bad,
}

impl WireLoss {
    pub(crate) fn new(model: Loss, seed: u64) -> Self {
        WireLoss {
            model,
            random: Random::new(seed, Purpose::WireLoss),
            state: State::Good,
        }
    }

    /// Whether the next packet is lost.
    #[inline]
    pub(crate) fn strikes(&mut self) -> bool {
        match self.model {
            Loss::None => false,
            Loss::Random { rate } => self.random.chance(rate),
            Loss::GilbertElliott {
                enter,
                leave,
                loss_bad,
                loss_good,
            } => {
                let (change, other) = match self.state {
                    State::Good => (enter, State::Bad),
                    State::Bad => (leave, State::Good),
                };
                if self.random.chance(change) {
                    self.state = other;
                }
                match self.state {
                    State::Good => self.random.chance(loss_good),
                    State::Bad => self.random.chance(loss_bad),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: usize = 200_000;

    fn losses(model: Loss, seed: u64) -> Vec<bool> {
        let mut loss = WireLoss::new(model, seed);
        (0..PACKETS).map(|_| loss.strikes()).collect()
    }

    fn rate(losses: &[bool]) -> f64 {
        losses.iter().filter(|lost| **lost).count() as f64 / losses.len() as f64
    }

    #[test]
    fn independent_loss_has_its_rate() {
        // Four standard deviations of 200,000 draws at 1 %: 0.0009.
        let seen = rate(&losses(Loss::Random { rate: 0.01 }, 1));
        assert!((seen - 0.01).abs() < 0.0009, "{seen}");
    }

    #[test]
    fn bursts_have_their_rate_and_length() {
        let model = Loss::GilbertElliott {
            enter: 0.002,
            leave: 0.25,
            loss_bad: 1.0,
            loss_good: 0.0,
        };
        let lost = losses(model, 2);
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let length = lost.iter().filter(|lost| **lost).count() as f64 / bursts as f64;
        // About 400 bursts of mean 4 and deviation 3.5: four standard errors are 0.7 packets.
        assert!((length - 4.0).abs() < 0.7, "{length}");
        assert!(
            (rate(&lost) - model.mean_rate()).abs() < 0.0022,
            "{}",
            rate(&lost)
        );
    }

    #[test]
    fn the_same_seed_loses_the_same_packets() {
        let model = Loss::Random { rate: 0.5 };
        assert_eq!(losses(model, 7), losses(model, 7));
        assert_ne!(losses(model, 7), losses(model, 8));
    }

    #[test]
    fn a_seed_loses_the_packets_that_it_always_lost() {
        // Written down from the first version: results that quote a seed stay reproducible.
        let lost = losses(Loss::Random { rate: 0.01 }, 1);
        let first: Vec<_> = (0..PACKETS).filter(|index| lost[*index]).take(5).collect();
        assert_eq!(first, [158, 220, 223, 245, 299]);
    }

    #[test]
    fn zero_and_one_are_exact() {
        assert_eq!(rate(&losses(Loss::Random { rate: 0.0 }, 3)), 0.0);
        assert_eq!(rate(&losses(Loss::Random { rate: 1.0 }, 3)), 1.0);
    }
}
