//! The figures of PingER, which has watched paths with small packets since 1995.
//!
//! Loss, round trips and all that is computed from both are those of visits with an answer: a host
//! that answered nothing was not there, and says nothing of the path. Left out: figures that need
//! the distance of both ends.
//!
//! Source: Cottrell, Matthews and Logg, "Tutorial on Internet monitoring and PingER at SLAC"; the
//! page "Ping unpredictability" there.

use schemars::JsonSchema;
use serde::Serialize;
use units::{Rate, Span};

use crate::Share;

/// Bytes of data in a packet of 1500 bytes, as PingER has it.
const SEGMENT_BITS: f64 = 1460.0 * 8.0;

/// What the probes of the visits of some time showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Pings {
    /// Visits that sent probes.
    pub visits: u64,
    /// Those of them none of whose probes was answered.
    pub unreachable: u64,
    /// Those of which every probe was answered: PingER calls the path quiescent then.
    pub lossless: u64,
    /// Probes of visits with an answer.
    pub sent: u64,
    /// Those of them that were lost.
    pub lost: u64,
    /// Small probes with more than one answer; large ones show none.
    pub duplicated: u64,
    /// Small probes whose answer was overtaken by that of a later one.
    pub reordered: u64,
    /// Lost small probes behind which another was sent, in visits with an answer.
    pub lost_followed: u64,
    /// Those of them whose next was lost, too.
    pub lost_again: u64,
    /// Shortest round trip.
    #[serde(rename = "rtt_min_seconds")]
    pub min: Option<Span>,
    /// Median of the medians of the visits.
    #[serde(rename = "rtt_median_seconds")]
    pub median: Option<Span>,
    /// Mean of the means of the visits.
    #[serde(rename = "rtt_mean_seconds")]
    pub mean: Option<Span>,
    /// Median over the visits of the variation from probe to probe (IPDV).
    #[serde(rename = "ipdv_seconds")]
    pub variation: Option<Span>,
    /// How much success and speed of the probes vary between visits, 0 to 1.
    #[serde(rename = "unpredictability_ratio")]
    pub unpredictability: Option<Share>,
    /// What the slowest link carries at the least: median of what the visits say.
    #[serde(rename = "slowest_link_bits_per_second")]
    pub slowest_link: Option<Rate>,
}

/// A rate that follows from loss and round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Derived {
    /// What one TCP stream carries; at least that, where it is a bound.
    #[serde(rename = "bits_per_second")]
    pub rate: Rate,
    /// Whether no probe was lost, so that only a bound is known: one loss of all the probes.
    pub is_bound: bool,
}

impl Pings {
    /// Whether the far host answered at all.
    pub fn is_answered(&self) -> bool {
        self.visits > self.unreachable
    }

    /// Share of the probes that was lost; `None` where no visit had an answer.
    pub fn loss(&self) -> Option<f64> {
        share(self.lost, self.sent)
    }

    /// Share of the visits without a loss, of those with an answer.
    pub fn quiescence(&self) -> Option<f64> {
        share(self.lossless, self.visits.saturating_sub(self.unreachable))
    }

    /// Share of the visits that had no answer.
    pub fn unreachability(&self) -> Option<f64> {
        share(self.unreachable, self.visits)
    }

    /// How likely the probe behind a lost one is lost, too; `None` where none was lost. Where
    /// losses are independent it is the loss itself.
    ///
    /// Source: Bolot, "Characterizing end-to-end packet delay and loss in the Internet" (1993).
    pub fn conditional_loss(&self) -> Option<f64> {
        share(self.lost_again, self.lost_followed)
    }

    /// The mean round trip; the median where visits had no mean yet.
    pub fn round_trip(&self) -> Option<Span> {
        self.mean.or(self.median)
    }

    /// What one stream carries by the formula of Mathis, MSS / (RTT sqrt(p)), with 1460 bytes and
    /// the mean round trip.
    ///
    /// Where no probe was lost, one of all the probes bounds the loss and with it the rate.
    ///
    /// ```
    /// use changes::Pings;
    /// use units::Span;
    /// let mut pings = Pings { sent: 10_000, lost: 4, ..Pings::default() };
    /// pings.mean = Some(Span::from_millis(160));
    /// // 1460 x 8 / (0.16 x 0.02) = 3.65 Mbit/s.
    /// let derived = pings.derived().unwrap();
    /// assert_eq!((derived.rate.bits_per_second(), derived.is_bound), (3_650_000, false));
    /// pings.lost = 0;
    /// // One of 10,000 bounds the loss: 7.3 Mbit/s or more.
    /// let derived = pings.derived().unwrap();
    /// assert_eq!((derived.rate.bits_per_second(), derived.is_bound), (7_300_000, true));
    /// ```
    pub fn derived(&self) -> Option<Derived> {
        let trip = self.round_trip()?.as_secs_f64();
        if self.sent == 0 || trip <= 0.0 {
            return None;
        }
        let loss = self.lost.max(1) as f64 / self.sent as f64;
        Some(Derived {
            rate: Rate::from_f64((SEGMENT_BITS / (trip * loss.sqrt())).round()),
            is_bound: self.lost == 0,
        })
    }

    /// How good a call over the path would sound, 1 (bad) to 4.4: the mean opinion score.
    ///
    /// The effective delay is the mean round trip, twice the variation and 10 ms. The rating is
    /// 93.2 - delay/40 below 160 ms, above it 93.2 - (delay - 120)/10, less 2.5 for each percent
    /// of loss. That is Nessoft's form of the E-model, which PingER uses. It takes the round trip
    /// where the E-model has the delay of one way, so it is on the safe side.
    ///
    /// Source: ITU-T G.107 annex B for the score of a rating.
    /// ```
    /// use changes::Pings;
    /// use units::Span;
    /// let mut pings = Pings { sent: 10_000, lost: 100, ..Pings::default() };
    /// pings.mean = Some(Span::from_millis(165));
    /// pings.variation = Some(Span::from_millis(5));
    /// // 185 ms: 93.2 - 6.5 - 2.5 = 84.2.
    /// assert!((pings.opinion_score().unwrap() - 4.1724).abs() < 1e-3);
    /// ```
    pub fn opinion_score(&self) -> Option<f64> {
        let trip = self.round_trip()?.as_secs_f64() * 1e3;
        let delay = trip + 2.0 * self.variation?.as_secs_f64() * 1e3 + 10.0;
        let delay_cost = match delay < 160.0 {
            true => delay / 40.0,
            false => (delay - 120.0) / 10.0,
        };
        let rating = (93.2 - delay_cost - 250.0 * self.loss()?).clamp(0.0, 100.0);
        let curved = 7e-6 * rating * (rating - 60.0) * (100.0 - rating);
        Some((1.0 + 0.035 * rating + curved).clamp(1.0, 4.5))
    }
}

/// Distance from a path whose visits are all alike, 0 to 1.
///
/// With `s` the mean success of the visits by their best, and `r` the mean rate (one by round
/// trip) by the best: `sqrt(((1-s)^2 + (1-r)^2) / 2)`.
///
/// * `visits`: share of the probes that was answered, and round trip in seconds, of visits with an
///   answer.
///
/// Source: SLAC's page "Ping unpredictability", after Braun's predictability.
/// ```
/// // Half of the visits lose a fifth and take twice as long: s = 0.9, r = 0.75.
/// let found = changes::unpredictability(&[(1.0, 0.1), (0.8, 0.2)]).unwrap();
/// assert!((f64::from(found) - 0.190394).abs() < 1e-6);
/// ```
pub fn unpredictability(visits: &[(f64, f64)]) -> Option<Share> {
    let usable = visits.iter().filter(|(_, trip)| *trip > 0.0);
    let (successes, rates): (Vec<f64>, Vec<f64>) =
        usable.map(|(success, trip)| (*success, 1.0 / trip)).unzip();
    let lacking = |values: &[f64]| {
        let best = stats::quantile(values, 1.0)?;
        Some(1.0 - stats::mean(values)? / best)
    };
    let (success, rate) = (lacking(&successes)?, lacking(&rates)?);
    Share::new((success.hypot(rate) / std::f64::consts::SQRT_2).clamp(0.0, 1.0))
}

fn share(of: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| of.min(all) as f64 / all as f64)
}
