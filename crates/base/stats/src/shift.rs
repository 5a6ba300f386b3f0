//! Two groups of measurements apart, told by their order and not by their means.
//!
//! One measurement that went wrong moves a mean, and widens Welch's interval, as far as it likes.
//! The shift of Hodges and Lehmann hardly notices it: with normal errors it needs 5 % more
//! measurements than a mean for the same precision, with heavier tails fewer.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::difference::Difference;
use crate::estimate::{CONFIDENCE, Interval};
use crate::finite;
use crate::summary::{quantile, sorted};

/// Groups up to this size are compared exactly; the normal approximation is good long before.
const EXACT_MAX: usize = 50;

/// How far the values of `to` lie above those of `from`: the median of all their pairwise
/// differences, with the interval and the confidence of the rank sum test.
///
/// * `interval` of the result: exact for groups of up to 50 values, with the confidence that it
///   really has, 95 % or more. It is absent where the groups are too small for 95 %: three against
///   three, for instance.
/// * `confidence`: one less the two-sided odds of such an order of the values when nothing changed;
///   by the normal approximation where values are equal.
/// * `None` when a group is empty or holds a value that is not finite.
///
/// Assumes that the groups were drawn independently and differ, if at all, by a shift.
///
/// Sources: Hodges and Lehmann, "Estimates of location based on rank tests", Annals of Mathematical
/// Statistics 34 (1963); Mann and Whitney, same journal 18 (1947), for the recursion of the exact
/// odds; Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", 3rd edition (2014),
/// chapter 4, for interval and ties.
/// ```
/// // Four against four, all higher: of 70 orders 2 are as extreme, so 1 - 2/70. Differences run from 1 to 7.
/// let apart = stats::shift(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]).unwrap();
/// assert_eq!(apart.value, 4.0);
/// assert!((apart.confidence - (1.0 - 2.0 / 70.0)).abs() < 1e-12);
/// let interval = apart.interval.unwrap();
/// assert_eq!((interval.low, interval.high), (1.0, 7.0));
/// ```
pub fn shift(from: &[f64], to: &[f64]) -> Option<Shift> {
    let (from, to) = (finite(from)?, finite(to)?);
    let pairs = from.iter().flat_map(|a| to.iter().map(move |b| b - a));
    let differences = sorted(&pairs.collect::<Vec<f64>>());
    let ranks = Ranks::of(from, to);
    let cut = ranks.cut();
    Some(Shift {
        value: quantile(&differences, 0.5)?,
        interval: cut.map(|(cut, confidence)| Interval {
            low: differences[cut],
            high: differences[differences.len() - 1 - cut],
            confidence,
        }),
        confidence: 1.0 - ranks.two_sided(&differences),
    })
}

/// How far two groups of measurements lie apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// The later less the earlier.
    pub value: f64,
    /// Where the true shift lies; absent where the groups are too small.
    pub interval: Option<Interval<f64>>,
    /// One less the odds that chance alone sets two groups apart as far.
    pub confidence: f64,
}

impl From<Difference> for Shift {
    fn from(difference: Difference) -> Self {
        Shift {
            value: difference.value,
            interval: Some(difference.interval),
            confidence: difference.confidence,
        }
    }
}

/// What the order of two groups can look like when nothing sets them apart.
struct Ranks {
    sizes: (usize, usize),
    /// Odds of each number of pairs in which the later value is the higher; empty where groups are
    /// large.
    odds: Vec<f64>,
    /// Standard deviation of that number, narrower where values are equal.
    deviation: f64,
    ties: bool,
}

impl Ranks {
    fn of(from: &[f64], to: &[f64]) -> Self {
        let sizes = (from.len(), to.len());
        let all = sorted(&[from, to].concat());
        let n = all.len() as f64;
        let cubes = |count: usize| (count as f64).powi(3) - count as f64;
        let ties: f64 = all
            .chunk_by(|a, b| a == b)
            .map(|equal| cubes(equal.len()))
            .sum();
        let product = (sizes.0 * sizes.1) as f64;
        let variance = product / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
        let exact = sizes.0.max(sizes.1) <= EXACT_MAX;
        Ranks {
            sizes,
            odds: if exact {
                odds(sizes.0, sizes.1)
            } else {
                Vec::new()
            },
            deviation: variance.max(0.0).sqrt(),
            ties: ties > 0.0,
        }
    }

    /// How many of the sorted differences to leave out at either end, and the confidence that
    /// remains.
    fn cut(&self) -> Option<(usize, f64)> {
        if self.odds.is_empty() {
            let pairs = (self.sizes.0 * self.sizes.1) as f64;
            let z = Normal::standard().inverse_cdf(0.5 + CONFIDENCE / 2.0);
            let n = (self.sizes.0 + self.sizes.1 + 1) as f64;
            let below = pairs / 2.0 - z * (pairs * n / 12.0).sqrt();
            return (below >= 1.0).then_some((below.floor() as usize, CONFIDENCE));
        }
        let mut tail = 0.0;
        let mut best = None;
        for (cut, odds) in self.odds.iter().enumerate().take(self.odds.len() / 2) {
            tail += odds;
            let confidence = 1.0 - 2.0 * tail;
            if confidence < CONFIDENCE {
                break;
            }
            best = Some((cut, confidence));
        }
        best
    }

    /// Odds of an order at least as lopsided as that of `differences`.
    fn two_sided(&self, differences: &[f64]) -> f64 {
        let above = differences.iter().filter(|d| **d > 0.0).count() as f64;
        let equal = differences.iter().filter(|d| **d == 0.0).count() as f64;
        let pairs = differences.len() as f64;
        let wins = above + equal / 2.0;
        if !self.ties && !self.odds.is_empty() {
            let lower = wins.min(pairs - wins) as usize;
            return (2.0 * self.odds[..=lower].iter().sum::<f64>()).min(1.0);
        }
        let distance = ((wins - pairs / 2.0).abs() - 0.5).max(0.0);
        if self.deviation == 0.0 {
            return 1.0;
        }
        (2.0 * (1.0 - Normal::standard().cdf(distance / self.deviation))).min(1.0)
    }
}

/// Odds that the number of pairs in which the later value is higher is 0, 1, ... `m n`, all orders
/// alike.
fn odds(m: usize, n: usize) -> Vec<f64> {
    // The numbers of orders have the generating function prod_{i=1..m} (1 - x^(n+i)) / (1 - x^i).
    let mut orders = vec![0.0; m * n + 1];
    orders[0] = 1.0;
    for i in 1..=m {
        for k in (n + i..orders.len()).rev() {
            orders[k] -= orders[k - n - i];
        }
        for k in i..orders.len() {
            orders[k] += orders[k - i];
        }
        // Kept near one: C(100, 50) is far beyond what differences of floats survive.
        let share = i as f64 / (n + i) as f64;
        orders.iter_mut().for_each(|count| *count *= share);
    }
    orders
}

#[cfg(test)]
mod tests;
