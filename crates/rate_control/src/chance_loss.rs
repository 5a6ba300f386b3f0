//! What a path loses by chance, whatever is sent.
//!
//! Losses of a full queue, or of a policer, end when less is sent. Losses that stay through
//! stretches with less on the way are those of the path itself.

/// The share of a round's bytes whose loss shows that too much was on the way ("BBRLossThresh",
/// version 2, section 2.7).
pub const LOSS_MAX: f64 = 0.02;

/// Rounds over which the losses by chance are averaged, and the weight of those after which they
/// are known: sixteen rounds, of which older ones count less.
const ROUNDS: f64 = 64.0;
const ROUNDS_MIN: f64 = 14.0;

/// A stretch is so many lost packets, or packets, whichever comes first.
const STRETCH_LOST: f64 = 20.0;
const STRETCH_PACKETS: f64 = 2_000.0;
/// Each of so many stretches in a row has to lose packets.
const STRETCHES: usize = 8;
/// A round may lose so many times the share of the stretch that lost least.
const ABOVE_LEAST: f64 = 2.0;
/// Losses above this share count as those of a full queue in any case; version 1 keeps no rate
/// above it.
const BY_CHANCE_MAX: f64 = 0.2;
/// Growth of what a round may lose from which on the path was taken for another one.
const NEWS: f64 = 1.25;

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
    /// What a round might lose when that was news.
    told: f64,
}

/// Packets in a row.
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
            told: LOSS_MAX,
        }
    }

    /// A round is over. Of one that met a full queue no more than [`share_max`](Self::share_max)
    /// counts.
    ///
    /// Returns whether the path is now known to lose more by chance than was thought, so that
    /// losses were answered that said nothing.
    pub fn add(&mut self, packets: f64, lost: f64) -> bool {
        if self.adds_news(packets, lost) {
            let (shares, told) = (self.shares, self.told);
            *self = ChanceLoss {
                shares,
                told,
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

    /// Returns whether a stretch is over and changes what a round may lose by much.
    fn adds_news(&mut self, packets: f64, lost: f64) -> bool {
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
        let share = self.share_max();
        let is_more = share > NEWS * self.told;
        if is_more || share < self.told / NEWS.powi(2) {
            self.told = share;
        }
        is_more
    }
}
