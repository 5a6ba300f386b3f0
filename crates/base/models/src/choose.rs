//! Choosing one setting among those that count.
//!
//! The only place where an operating point is chosen: searches, sweeps, simulated grids,
//! predictions and fitted curves all bring their points here. What comes out is the choice together
//! with the numbers that decided, so that a report computes nothing.
//!
//! Reading order: [`Rule`] for the rules, [`Candidate`] for what they look at, [`choose`], then
//! `reason.rs` for what is told.
//!
//! The highest of several noisy measurements is high partly by luck, and every rule here leans on
//! it. Intervals decide nothing: short runs have none. Where one says that a choice is not sure,
//! [`Reason`] tells.

mod reason;

pub use reason::{Choice, Reason};

use std::cmp::Reverse;

use stats::Estimate;
use thiserror::Error;
use units::{Rate, Span};

/// Share of the maximum at which the knee lies unless another is asked for.
///
/// What the operators chose on SLAC to TWAREN in 2006: about 90 % of what can be achieved, the rest
/// left to others.
pub const KNEE_FRACTION: f64 = 0.9;

/// Goodputs that differ by less than this share of the higher one count as equal where the highest
/// is sought: runs of one setting differ from each other by as much.
pub const EQUAL: f64 = 0.01;

/// One setting that counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Streams side by side.
    pub streams: u32,
    /// Place of its window in the order of preference: the automatic one, then the smallest first.
    pub window_rank: u32,
    /// Aggregate goodput that it counts for.
    pub goodput: Estimate<Rate>,
    /// Round-trip time beside the streams; absent when nothing measured it.
    pub rtt_loaded: Option<Span>,
    /// What it costs others; absent where that was not measured well enough to decide between
    /// windows.
    pub cost: Option<Cost>,
}

/// Delay that a setting adds for everybody on the path, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// How much.
    pub added: f64,
    /// Differences up to this are none.
    pub resolution: f64,
}

/// What makes one setting better than another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// Highest goodput. Settings within [`EQUAL`] of it count as equal: then the fewest streams,
    /// then the window that comes first.
    Max,
    /// The fewest streams that reach this fraction of the highest goodput.
    ///
    /// Where the cost of each window's fewest streams is known, the window that costs least is
    /// taken; else the fewest streams with any window, then the window that comes first.
    Knee(f64),
    /// Highest goodput for each second of loaded round-trip time, and the fewest streams within
    /// [`EQUAL`] of it.
    ///
    /// Source: Kleinrock, "Power and deterministic rules of thumb for probabilistic problems in
    /// computer communications", ICC 1979.
    Power,
    /// The shortest loaded round trip, then the fewest streams.
    LeastDelay,
}

impl Default for Rule {
    /// The knee at [`KNEE_FRACTION`].
    fn default() -> Self {
        Rule::Knee(KNEE_FRACTION)
    }
}

/// Why no setting can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ChoiceError {
    /// Nothing that counts carried data.
    #[error("no setting carried data")]
    NoCandidates,
    /// The rule needs round-trip times that were not measured.
    #[error(
        "no setting has a loaded round-trip time, which this objective needs; choose by `max` or \
            `knee`"
    )]
    NoRoundTrips,
}

/// The setting that `objective` picks, with the numbers that decided. Candidates without goodput
/// are passed over.
/// ```
/// use models::{Candidate, Rule, choose};
/// use stats::Estimate;
/// use units::Rate;
/// // 1 % random loss on 50 Mbit/s: streams 1, 2, 4, 8, 16 gave 5, 10, 24, 40 and 47 Mbit/s.
/// let points = [(1, 5), (2, 10), (4, 24), (8, 40), (16, 47)];
/// let candidates = points.map(|(streams, mbit)| Candidate {
///     streams,
///     window_rank: 0,
///     goodput: Estimate::bare(Rate::from_bits_per_second(mbit * 1_000_000)),
///     rtt_loaded: None,
///     cost: None,
/// });
/// // 90 % of 47 are 42.3: only 16 streams reach it. 80 % are 37.6.
/// assert_eq!(choose(&candidates, Rule::default()).unwrap().index, 4);
/// assert_eq!(choose(&candidates, Rule::Knee(0.8)).unwrap().index, 3);
/// ```
///
/// # Errors
/// When no candidate has a goodput, or none what the objective needs.
pub fn choose(candidates: &[Candidate], objective: Rule) -> Result<Choice, ChoiceError> {
    let all = candidates.iter().enumerate();
    let all: Vec<Indexed> = all.filter(|(_, one)| one.rate() > 0.0).collect();
    let highest = fastest(&all).ok_or(ChoiceError::NoCandidates)?;
    match objective {
        Rule::Max => Ok(max(&all, highest)),
        Rule::Knee(share) => Ok(knee(&all, highest, share)),
        Rule::Power => power(&all, highest).ok_or(ChoiceError::NoRoundTrips),
        Rule::LeastDelay => least_delay(&all, highest).ok_or(ChoiceError::NoRoundTrips),
    }
}

/// A setting and its place in the caller's slice.
type Indexed<'a> = (usize, &'a Candidate);

fn max(all: &[Indexed], highest: Indexed) -> Choice {
    let wanted = (1.0 - EQUAL) * highest.1.rate();
    let equal = all.iter().filter(|(_, one)| one.rate() >= wanted);
    let (index, chosen) = simplest(equal.copied()).unwrap_or(highest);
    let reason = match chosen.goodput.value == highest.1.goodput.value {
        true => Reason::Highest,
        false => Reason::EqualsHighest,
    };
    Choice {
        index,
        highest: highest.0,
        reason,
    }
}

fn knee(all: &[Indexed], highest: Indexed, share: f64) -> Choice {
    // The highest reaches itself, whatever share was asked for.
    let reaches =
        |(index, one): &Indexed| *index == highest.0 || one.rate() >= share * highest.1.rate();
    let (reaching, short): (Vec<Indexed>, Vec<Indexed>) = all.iter().copied().partition(reaches);
    let (index, chosen) = cheapest(&reaching).unwrap_or(highest);
    let fewer = short
        .into_iter()
        .filter(|(_, one)| one.streams < chosen.streams);
    Choice {
        index,
        highest: highest.0,
        reason: Reason::Reaches {
            share,
            fewer: fastest(&fewer.collect::<Vec<_>>()).map(|(index, _)| index),
            is_sure: chosen.goodput.low().as_f64() >= share * highest.1.rate(),
        },
    }
}

fn power(all: &[Indexed], highest: Indexed) -> Option<Choice> {
    let most = all.iter().filter_map(|(_, one)| one.power());
    let most = most.max_by(f64::total_cmp)?;
    let equal = |(_, one): &&Indexed| one.power() >= Some((1.0 - EQUAL) * most);
    let (index, _) = simplest(all.iter().filter(equal).copied())?;
    Some(Choice {
        index,
        highest: highest.0,
        reason: Reason::Power,
    })
}

fn least_delay(all: &[Indexed], highest: Indexed) -> Option<Choice> {
    let known = all.iter().filter(|(_, one)| one.rtt_loaded.is_some());
    let (index, _) = known.min_by_key(|(_, one)| (one.rtt_loaded, one.size()))?;
    Some(Choice {
        index: *index,
        highest: highest.0,
        reason: Reason::LeastDelay,
    })
}

fn fastest<'a>(candidates: &[Indexed<'a>]) -> Option<Indexed<'a>> {
    let order = |(_, one): &&Indexed<'a>| (one.goodput.value, Reverse(one.size()));
    candidates.iter().max_by_key(order).copied()
}

/// Of each window the fewest streams; of these the cheapest, where the cost of all is known, then
/// the simplest.
fn cheapest<'a>(candidates: &[Indexed<'a>]) -> Option<Indexed<'a>> {
    let is_fewest = |one: &Candidate| {
        let same = candidates
            .iter()
            .filter(|(_, other)| other.window_rank == one.window_rank);
        same.map(|(_, other)| other.streams).min() == Some(one.streams)
    };
    let fewest = candidates.iter().copied().filter(|(_, one)| is_fewest(one));
    let fewest: Vec<Indexed> = fewest.collect();
    let costs: Option<Vec<Cost>> = fewest.iter().map(|(_, one)| one.cost).collect();
    let costs = costs.unwrap_or_default().into_iter();
    let least = costs.min_by(|a, b| a.added.total_cmp(&b.added));
    let cheap = |(_, one): &Indexed| match (least, one.cost) {
        (Some(least), Some(cost)) => cost.added <= least.added + least.resolution,
        _ => true,
    };
    simplest(fewest.into_iter().filter(cheap))
}

/// Fewest streams, then the window that comes first, then highest goodput.
fn simplest<'a>(candidates: impl Iterator<Item = Indexed<'a>>) -> Option<Indexed<'a>> {
    candidates.min_by_key(|(_, one)| (one.size(), Reverse(one.goodput.value)))
}

impl Candidate {
    /// Order of preference among equals.
    fn size(&self) -> (u32, u32) {
        (self.streams, self.window_rank)
    }

    fn rate(&self) -> f64 {
        self.goodput.value.as_f64()
    }

    /// Bits per second for each second of loaded round trip.
    fn power(&self) -> Option<f64> {
        let rtt = self.rtt_loaded.filter(|rtt| *rtt > Span::ZERO)?;
        Some(self.rate() / rtt.as_secs_f64())
    }
}

#[cfg(test)]
mod tests;
