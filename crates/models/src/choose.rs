//! Choosing one setting among those measured.
//!
//! Reading order: [`Objective`] for the rules, [`Candidate`] for what they look at, then [`choose`].
//!
//! The highest of several noisy measurements is high partly by luck, and every rule here leans on it.
//! The cost: a maximum measured with a wide interval asks for more streams than needed.

use std::cmp::Reverse;

use stats::Estimate;
use thiserror::Error;
use units::{Rate, Span};

/// Share of the maximum at which the knee lies unless another is asked for.
///
/// What the operators chose on SLAC to TWAREN in 2006: about 90 % of what can be achieved, the rest
/// left to others.
pub const KNEE_FRACTION: f64 = 0.9;

/// One measured setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Streams side by side.
    pub streams: u32,
    /// Place of its window among those tried, the smallest first.
    pub window_rank: u32,
    /// Aggregate throughput.
    pub throughput: Estimate<Rate>,
    /// Round-trip time beside the streams; absent when nothing measured it.
    pub rtt_loaded: Option<Span>,
    /// Share of packets lost; absent when nothing measured it.
    pub loss: Option<f64>,
}

/// What makes one setting better than another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Objective {
    /// Highest throughput. Settings that differ from the best by no more than chance at the confidence of
    /// their intervals count as equal: then the fewest streams, then the smallest window.
    ///
    /// By chance, margins of two independent values add as squares: Schenker and Gentleman, "On
    /// judging the significance of differences by examining the overlap between confidence
    /// intervals", The American Statistician 55 (2001).
    Max,
    /// Fewest streams that reach this fraction of the highest throughput, then the smallest window.
    ///
    /// A setting reaches it only with the lower end of its interval, so that a lucky sample does
    /// not count. The best setting always qualifies.
    Knee(f64),
    /// Highest throughput for each second of loaded round-trip time.
    ///
    /// Source: Kleinrock, "Power and deterministic rules of thumb for probabilistic problems in
    /// computer communications", ICC 1979.
    Power,
    /// As [`Objective::Max`] among settings known to stay within a budget of harm to others.
    Gentle {
        /// Round-trip time of the idle path.
        rtt_unloaded: Span,
        /// How much longer the loaded round trip may be.
        rtt_added_max: Span,
        /// Highest share of packets lost.
        loss_max: f64,
    },
}

impl Default for Objective {
    /// The knee at [`KNEE_FRACTION`].
    fn default() -> Self {
        Objective::Knee(KNEE_FRACTION)
    }
}

/// Why no setting can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ChoiceError {
    /// Nothing was measured.
    #[error("no setting was measured")]
    NoCandidates,
    /// The rule needs round-trip times that nobody measured.
    #[error(
        "no setting has a loaded round-trip time, which this objective needs; choose by `max` or `knee`"
    )]
    NoRoundTrips,
    /// Every setting breaks the budget, or was not measured well enough to say.
    #[error(
        "none of {candidates} settings is known to stay within the budget; allow more than {rtt_added_max} or more loss"
    )]
    OverBudget {
        /// How many there were.
        candidates: usize,
        /// The added round-trip time that was allowed.
        rtt_added_max: Span,
    },
}

/// The index of the setting that `objective` picks; among full equals the first.
/// ```
/// use models::{Candidate, Objective, choose};
/// use stats::Estimate;
/// use units::Rate;
/// // 1 % random loss on 50 Mbit/s: streams 1, 2, 4, 8, 16 gave 5, 10, 24, 40 and 47 Mbit/s.
/// let points = [(1, 5), (2, 10), (4, 24), (8, 40), (16, 47)];
/// let candidates = points.map(|(streams, mbit)| Candidate {
///     streams,
///     window_rank: 0,
///     throughput: Estimate::bare(Rate::from_bits_per_second(mbit * 1_000_000)),
///     rtt_loaded: None,
///     loss: None,
/// });
/// // 90 % of 47 are 42.3: only 16 streams reach it. 80 % are 37.6.
/// assert_eq!(choose(&candidates, Objective::default()), Ok(4));
/// assert_eq!(choose(&candidates, Objective::Knee(0.8)), Ok(3));
/// ```
pub fn choose(candidates: &[Candidate], objective: Objective) -> Result<usize, ChoiceError> {
    let all: Vec<Indexed> = candidates.iter().enumerate().collect();
    if all.is_empty() {
        return Err(ChoiceError::NoCandidates);
    }
    match objective {
        Objective::Max => max(&all).ok_or(ChoiceError::NoCandidates),
        Objective::Knee(fraction) => knee(&all, fraction).ok_or(ChoiceError::NoCandidates),
        Objective::Power => power(&all).ok_or(ChoiceError::NoRoundTrips),
        Objective::Gentle {
            rtt_unloaded,
            rtt_added_max,
            loss_max,
        } => gentle(&all, rtt_unloaded + rtt_added_max, loss_max).ok_or(ChoiceError::OverBudget {
            candidates: all.len(),
            rtt_added_max,
        }),
    }
}

/// A setting and its place in the caller's slice.
type Indexed<'a> = (usize, &'a Candidate);

fn max(candidates: &[Indexed]) -> Option<usize> {
    let best = fastest(candidates)?;
    simplest(
        candidates
            .iter()
            .filter(|(_, candidate)| candidate.equals_best(best)),
    )
}

fn knee(candidates: &[Indexed], fraction: f64) -> Option<usize> {
    let best = fastest(candidates)?;
    let wanted = fraction * best.throughput.value.as_f64();
    let reaches = |candidate: &Candidate| {
        let is_best = candidate.throughput.value == best.throughput.value;
        is_best || candidate.throughput.low().as_f64() >= wanted
    };
    simplest(
        candidates
            .iter()
            .filter(|(_, candidate)| reaches(candidate)),
    )
}

fn power(candidates: &[Indexed]) -> Option<usize> {
    let powers = candidates
        .iter()
        .filter_map(|(_, candidate)| candidate.power());
    let highest = powers.max_by(f64::total_cmp)?;
    simplest(
        candidates
            .iter()
            .filter(|(_, candidate)| candidate.power() == Some(highest)),
    )
}

fn gentle(candidates: &[Indexed], rtt_max: Span, loss_max: f64) -> Option<usize> {
    let within = |(_, candidate): &&Indexed| candidate.is_within(rtt_max, loss_max);
    let harmless: Vec<Indexed> = candidates.iter().filter(within).copied().collect();
    max(&harmless)
}

fn fastest<'a>(candidates: &[Indexed<'a>]) -> Option<&'a Candidate> {
    let settings = candidates.iter().map(|(_, candidate)| *candidate);
    settings.max_by_key(|candidate| (candidate.throughput.value, candidate.throughput.low()))
}

/// Fewest streams, then smallest window, then highest throughput.
fn simplest<'a>(candidates: impl Iterator<Item = &'a Indexed<'a>>) -> Option<usize> {
    let order = |candidate: &Candidate| {
        let throughput = Reverse(candidate.throughput.value);
        (candidate.streams, candidate.window_rank, throughput)
    };
    let simplest = candidates.min_by_key(|(_, candidate)| order(candidate));
    simplest.map(|(index, _)| *index)
}

impl Candidate {
    /// Whether it falls short of the best by no more than the margins of both allow.
    fn equals_best(&self, best: &Candidate) -> bool {
        let shortfall = best.throughput.value.as_f64() - self.throughput.value.as_f64();
        let below_best = best.throughput.value.as_f64() - best.throughput.low().as_f64();
        let above_self = self.throughput.high().as_f64() - self.throughput.value.as_f64();
        shortfall <= below_best.hypot(above_self)
    }

    /// Bits per second for each second of loaded round trip.
    fn power(&self) -> Option<f64> {
        let rtt = self.rtt_loaded.filter(|rtt| *rtt > Span::ZERO)?;
        Some(self.throughput.value.as_f64() / rtt.as_secs_f64())
    }

    fn is_within(&self, rtt_max: Span, loss_max: f64) -> bool {
        let rtt_fits = self.rtt_loaded.is_some_and(|rtt| rtt <= rtt_max);
        rtt_fits && self.loss.is_some_and(|loss| loss <= loss_max)
    }
}

#[cfg(test)]
mod tests;
