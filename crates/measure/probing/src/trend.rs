//! Whether the delays of a stream grow: the two tests of self-loading periodic streams.
//!
//! Packets of a stream that is faster than the bandwidth left to it queue up, each a little longer
//! than the one before. Single delays are noisy, so the tests look at the medians of consecutive
//! groups: how many of them rise (the pairwise comparison test, PCT) and how much of all their
//! movement is a rise (the pairwise difference test, PDT).
//!
//! Source: Jain & Dovrolis, "End-to-end available bandwidth: measurement methodology, dynamics, and
//! relation with TCP throughput", SIGCOMM 2002; the thresholds are those of their program, pathload
//! 1.3.2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the delays of one stream do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Trend {
    /// They grow: the stream is faster than what is left to it.
    Increasing,
    /// They do not.
    NotIncreasing,
    /// The tests contradict each other, or neither is clear.
    Grey,
}

/// Groups without which nothing is said.
const GROUPS_MIN: usize = 5;
/// Share of rising medians above which they count as increasing, and below which they do not.
const PCT: Thresholds = Thresholds {
    increasing: 0.605,
    not: 0.495,
};
/// The same of the share of movement that is a rise.
const PDT: Thresholds = Thresholds {
    increasing: 0.44,
    not: 0.36,
};

struct Thresholds {
    increasing: f64,
    not: f64,
}

impl Thresholds {
    fn judge(&self, value: f64) -> Trend {
        if value > self.increasing {
            Trend::Increasing
        } else if value < self.not {
            Trend::NotIncreasing
        } else {
            Trend::Grey
        }
    }
}

/// Medians of consecutive groups: of `n` delays, about as many groups as each has members, the
/// square root of `n`. Empty where that is fewer than five groups.
///
/// ```
/// // 100 delays: ten groups of ten; the median of 0..10 is 4.5.
/// let delays: Vec<f64> = (0..100).map(f64::from).collect();
/// let medians = probing::trend::group_medians(&delays);
/// assert_eq!(medians.len(), 10);
/// assert_eq!(medians[0], 4.5);
/// ```
pub fn group_medians(delays: &[f64]) -> Vec<f64> {
    let groups = delays.len().isqrt();
    if groups < GROUPS_MIN {
        return Vec::new();
    }
    // What is left over by the division goes to the groups at the end, one each.
    let bound = |group: usize| group * delays.len() / groups;
    let group = |number: usize| &delays[bound(number)..bound(number + 1)];
    let medians = (0..groups).filter_map(|number| stats::median(group(number)));
    medians.collect()
}

/// Share of the medians that are larger than the one before: 1 of a steady rise, about one half of
/// noise, 0 of delays that never change. `None` of fewer than two.
///
/// ```
/// // Three of four steps rise.
/// assert_eq!(probing::trend::pct(&[1.0, 2.0, 3.0, 2.5, 4.0]), Some(0.75));
/// ```
pub fn pct(medians: &[f64]) -> Option<f64> {
    let steps = medians.len().checked_sub(1).filter(|steps| *steps > 0)?;
    let rising = medians.windows(2).filter(|pair| pair[0] < pair[1]);
    Some(rising.count() as f64 / steps as f64)
}

/// The rise from the first to the last median as a share of all movement between neighbours: 1 of a
/// steady rise, about 0 of noise and of delays that never change, -1 of a steady fall. `None` of
/// fewer than two.
///
/// ```
/// // From 1 to 4, with steps of 1, 1, -0.5 and 1.5: 3 of 4.
/// assert_eq!(probing::trend::pdt(&[1.0, 2.0, 3.0, 2.5, 4.0]), Some(0.75));
/// ```
pub fn pdt(medians: &[f64]) -> Option<f64> {
    let (first, last) = (medians.first()?, medians.last()?);
    let moved: f64 = medians
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).abs())
        .sum();
    match medians.len() {
        1 => None,
        _ if moved == 0.0 => Some(0.0),
        // Sums of many steps are rounded.
        _ => Some(((last - first) / moved).clamp(-1.0, 1.0)),
    }
}

/// What both tests say of delays in the order of sending, in any unit; `None` where there are fewer
/// than 25 of them. A test that is not clear leaves it to the other.
///
/// ```
/// use probing::trend::{self, Trend};
/// let rising: Vec<f64> = (0..100).map(f64::from).collect();
/// assert_eq!(trend::of(&rising), Some(Trend::Increasing));
/// assert_eq!(trend::of(&[20.0; 100]), Some(Trend::NotIncreasing));
/// ```
pub fn of(delays: &[f64]) -> Option<Trend> {
    let medians = group_medians(delays);
    let pct = PCT.judge(pct(&medians)?);
    let pdt = PDT.judge(pdt(&medians)?);
    Some(match (pct, pdt) {
        (one, other) if one == other => one,
        (Trend::Grey, clear) | (clear, Trend::Grey) => clear,
        _ => Trend::Grey,
    })
}

#[cfg(test)]
mod tests;
