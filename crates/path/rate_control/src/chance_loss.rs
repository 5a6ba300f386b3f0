//! What a path loses by chance, whatever is sent.
//!
//! A round that loses too much is followed by rounds with less on the way. What a policer or this
//! sender's own queue dropped is then no longer lost. What others' packets in a full queue cost
//! goes on, but the round trips are long. Losses that go on while they are short are of the path.

/// The share of a round's bytes whose loss shows that too much was on the way ("BBRLossThresh",
/// version 2, section 2.7).
pub const LOSS_MAX: f64 = 0.02;

/// Rounds over which the losses by chance are averaged, and the weight of those after which they
/// are known: sixteen rounds, of which older ones count less.
const ROUNDS: f64 = 64.0;
const ROUNDS_MIN: f64 = 14.0;

/// A stretch is as many rounds as it takes to lose so many packets, or to send so many.
const STRETCH_LOST: f64 = 20.0;
const STRETCH_PACKETS: f64 = 2_000.0;
/// Each of so many stretches in a row has to lose packets.
const STRETCHES: usize = 8;
/// A round may lose so many times the share of the stretch that lost least.
const ABOVE_LEAST: f64 = 2.0;
/// Losses above this share count as those of a full queue in any case; version 1 keeps no rate
/// above it.
const BY_CHANCE_MAX: f64 = 0.2;
/// If the bound of a round's losses grows by this factor, the path was misjudged, and the model
/// begins again; but not within so many rounds.
const MISJUDGED: f64 = 1.25;
const BEGINS_AGAIN_AFTER: f64 = 100.0;

/// Sums over earlier rounds, of which older ones count less, and the last stretches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChanceLoss {
    rounds: f64,
    packets: f64,
    lost: f64,
    /// Of the numbers lost in each round.
    squares: f64,
    stretch: Stretch,
    /// Shares lost in the last stretches, the oldest first.
    shares: [f64; STRETCHES],
    /// The bound by which the rate was found, and the rounds since then.
    judged_by: f64,
    rounds_since: f64,
}

/// A round that is over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoundSeen {
    pub packets: f64,
    pub lost: f64,
    /// Packets waited in a queue, which may have been full.
    pub is_queued: bool,
    /// The model may begin again now.
    pub may_begin: bool,
}

/// Packets of rounds without a queue.
#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    packets: f64,
    lost: f64,
}

impl ChanceLoss {
    /// No packet was sent yet.
    pub fn new() -> Self {
        ChanceLoss {
            rounds: 0.0,
            packets: 0.0,
            lost: 0.0,
            squares: 0.0,
            stretch: Stretch::default(),
            shares: [0.0; STRETCHES],
            judged_by: LOSS_MAX,
            rounds_since: BEGINS_AGAIN_AFTER,
        }
    }

    /// A round is over. Of one that met a full queue no more than [`share_max`](Self::share_max)
    /// counts.
    ///
    /// Returns whether the model is to begin again: the path loses more by chance than was thought,
    /// so that the rate was held back by losses that say nothing of it.
    pub fn add(&mut self, round: RoundSeen) -> bool {
        let RoundSeen { packets, lost, .. } = round;
        self.rounds_since += 1.0;
        let is_news = !round.is_queued && self.adds_stretch(packets, lost);
        if is_news && self.was_misjudged() && round.may_begin {
            *self = ChanceLoss {
                shares: self.shares,
                judged_by: self.share_max(),
                rounds_since: 0.0,
                ..ChanceLoss::new()
            };
            return true;
        }
        let lost = lost.min(self.share_max() * packets);
        let kept = 1.0 - 1.0 / ROUNDS;
        self.rounds = kept * self.rounds + 1.0;
        self.packets = kept * self.packets + packets;
        self.lost = kept * self.lost + lost;
        self.squares = kept * self.squares + lost * lost;
        false
    }

    /// The share of a round that may be lost: [`LOSS_MAX`], or twice what each stretch lost.
    pub fn share_max(&self) -> f64 {
        let least = self.shares.iter().copied().fold(BY_CHANCE_MAX, f64::min);
        (ABOVE_LEAST * least).clamp(LOSS_MAX, BY_CHANCE_MAX)
    }

    /// The most of so many packets whose loss chance explains, once that is known: three standard
    /// deviations above its mean, and two packets. Both grow where earlier rounds had few packets
    /// to know the mean by.
    pub fn most_of(&self, packets: f64) -> Option<f64> {
        let is_known = self.rounds >= ROUNDS_MIN && self.packets > 0.0;
        is_known.then(|| {
            let unsure = 1.0 + packets / self.packets;
            let mean = self.lost / self.packets * packets;
            let variance = self.dispersion() * mean;
            mean + 3.0 * (variance * unsure).sqrt() + 2.0 * unsure
        })
    }

    /// Variance over mean of what a round loses: 1 where each packet is lost by itself (a Poisson
    /// distribution), the packets of a burst where they are lost together.
    fn dispersion(&self) -> f64 {
        let mean = self.lost / self.rounds;
        let variance = self.squares / self.rounds - mean * mean;
        match mean > 0.0 {
            true => (variance / mean).max(1.0),
            false => 1.0,
        }
    }

    /// Returns whether a stretch is over.
    fn adds_stretch(&mut self, packets: f64, lost: f64) -> bool {
        self.stretch.packets += packets;
        self.stretch.lost += lost;
        let Stretch { packets, lost } = self.stretch;
        if lost < STRETCH_LOST && packets < STRETCH_PACKETS {
            return false;
        }
        self.stretch = Stretch::default();
        self.shares.rotate_left(1);
        if let Some(last) = self.shares.last_mut() {
            *last = lost / packets;
        }
        true
    }

    fn was_misjudged(&mut self) -> bool {
        let share = self.share_max();
        if share * MISJUDGED.powi(2) < self.judged_by {
            self.judged_by = share;
        }
        share > MISJUDGED * self.judged_by && self.rounds_since >= BEGINS_AGAIN_AFTER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `share_max` is after so many rounds, and how often the model began again.
    fn after(rounds: usize, chance: &mut ChanceLoss, lost: f64, is_queued: bool) -> (f64, usize) {
        let round = RoundSeen {
            packets: 1_000.0,
            lost,
            is_queued,
            may_begin: true,
        };
        let began = (0..rounds).filter(|_| chance.add(round)).count();
        (chance.share_max(), began)
    }

    #[test]
    fn losses_without_a_queue_are_of_the_path() {
        let chance = &mut ChanceLoss::new();
        assert_eq!(after(7, chance, 50.0, false), (LOSS_MAX, 0));
        assert_eq!(after(1, chance, 50.0, false), (0.1, 1));
        // A round in a thousand may lose more than the others.
        assert_eq!(after(100, chance, 50.0, false), (0.1, 0));
        let most = chance.most_of(1_000.0).unwrap();
        assert!((70.0..80.0).contains(&most), "{most}");
    }

    #[test]
    fn losses_in_a_queue_teach_nothing() {
        let chance = &mut ChanceLoss::new();
        assert_eq!(after(1_000, chance, 200.0, true), (LOSS_MAX, 0));
    }

    #[test]
    fn losses_that_come_and_go_do_not_begin_the_model_again_and_again() {
        let chance = &mut ChanceLoss::new();
        let mut began = 0;
        for _ in 0..100 {
            began += after(8, chance, 50.0, false).1;
            began += after(2, chance, 0.0, false).1;
        }
        assert!(began <= 10, "{began} times in 1,000 rounds");
    }

    #[test]
    fn rounds_without_packets_break_nothing() {
        let chance = &mut ChanceLoss::new();
        for (packets, lost) in [(0.0, 0.0), (1.0, 1.0), (1e12, 1e12), (0.0, 30.0)] {
            let round = RoundSeen {
                packets,
                lost,
                is_queued: false,
                may_begin: true,
            };
            for _ in 0..20 {
                chance.add(round);
            }
            assert!((LOSS_MAX..=BY_CHANCE_MAX).contains(&chance.share_max()));
            assert!(chance.most_of(10.0).is_none_or(|most| most >= 0.0));
        }
    }
}
