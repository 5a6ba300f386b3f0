//! How values are distributed: how many lie where, and how many lie below.

use crate::finite;
use crate::summary::sorted;

/// The empirical distribution: each value with the share of all that are no larger, in order; of
/// equal values the last only.
///
/// `None` for an empty slice or one with a value that is not finite.
/// ```
/// let below = stats::cumulative(&[0.3, 0.1, 0.3, 0.2]).unwrap();
/// assert_eq!(below, [(0.1, 0.25), (0.2, 0.5), (0.3, 1.0)]);
/// ```
pub fn cumulative(values: &[f64]) -> Option<Vec<(f64, f64)>> {
    let sorted = sorted(finite(values)?);
    let count = sorted.len() as f64;
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (rank, value) in sorted.iter().enumerate() {
        let share = (rank + 1) as f64 / count;
        match points.last_mut() {
            Some(last) if last.0 == *value => last.1 = share,
            _ => points.push((*value, share)),
        }
    }
    Some(points)
}

/// Counts of values in bins of equal width from zero on.
#[derive(Debug, Clone, PartialEq)]
pub struct Frequencies {
    /// Width of a bin, in the unit of the values.
    pub bin_width: f64,
    /// Values in each bin: the first holds those from 0 to below the width. The last is never
    /// empty.
    pub counts: Vec<usize>,
}

impl Frequencies {
    /// Each bin's middle and the share of all values in it.
    pub fn shares(&self) -> Vec<(f64, f64)> {
        let all: usize = self.counts.iter().sum();
        let middle = |bin: usize| (bin as f64 + 0.5) * self.bin_width;
        let share = |(bin, count): (usize, &usize)| (middle(bin), *count as f64 / all as f64);
        self.counts.iter().enumerate().map(share).collect()
    }
}

/// Counts values in bins of `bin_width`; values below zero count as zero.
///
/// `None` for an empty slice, a value that is not finite, a width that is not above zero, and
/// values so far out that there would be more than 10,000 bins.
/// ```
/// let counted = stats::frequencies(&[0.01, 0.019, 0.05], 0.02).unwrap();
/// assert_eq!(counted.counts, [2, 0, 1]);
/// assert_eq!(counted.shares()[2].0, 0.05);
/// ```
pub fn frequencies(values: &[f64], bin_width: f64) -> Option<Frequencies> {
    let values = finite(values).filter(|_| bin_width > 0.0 && bin_width.is_finite())?;
    let bin = |value: &f64| (value.max(0.0) / bin_width).floor();
    let last = values.iter().map(bin).fold(0.0, f64::max);
    if last >= 10_000.0 {
        return None;
    }
    let mut counts = vec![0; last as usize + 1];
    values
        .iter()
        .for_each(|value| counts[bin(value) as usize] += 1);
    Some(Frequencies { bin_width, counts })
}

/// Width of bins after Freedman and Diaconis: `2 IQR / n^(1/3)`, the best for a wide range of
/// distributions.
///
/// `None` where the values do not scatter.
///
/// Source: Freedman and Diaconis, "On the histogram as a density estimator: L2 theory", Zeitschrift
/// fuer Wahrscheinlichkeitstheorie und verwandte Gebiete 57 (1981).
/// ```
/// // Quartiles 1.75 and 6.25 of eight values: 2 x 3.5 / 2.
/// let width = stats::bin_width(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]).unwrap();
/// assert_eq!(width, 3.5);
/// ```
pub fn bin_width(values: &[f64]) -> Option<f64> {
    let range = crate::interquartile_range(values)?;
    (range > 0.0).then(|| 2.0 * range / (values.len() as f64).cbrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_ends_at_one() {
        let points = cumulative(&[3.0, 1.0, 2.0]).unwrap();
        assert_eq!(points.last(), Some(&(3.0, 1.0)));
        assert_eq!(cumulative(&[]), None);
    }

    #[test]
    fn shares_add_up() {
        let counted = frequencies(&[-0.1, 0.0, 0.5, 2.2], 0.5).unwrap();
        assert_eq!(counted.counts, [2, 1, 0, 0, 1]);
        let sum: f64 = counted.shares().iter().map(|(_, share)| share).sum();
        assert_eq!(sum, 1.0);
    }

    #[test]
    fn nonsense_is_not_counted() {
        assert_eq!(frequencies(&[1.0], 0.0), None);
        assert_eq!(frequencies(&[f64::NAN], 1.0), None);
        assert_eq!(frequencies(&[1e9], 1.0), None);
        assert_eq!(bin_width(&[1.0, 1.0, 1.0]), None);
    }
}
