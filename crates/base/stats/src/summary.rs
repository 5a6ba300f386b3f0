//! One number about a slice of values.

use crate::finite;

/// Arithmetic mean.
///
/// `None` for an empty slice or one with a value that is not finite.
/// ```
/// assert_eq!(stats::mean(&[1.0, 2.0, 6.0]), Some(3.0));
/// assert_eq!(stats::mean(&[]), None);
/// ```
pub fn mean(values: &[f64]) -> Option<f64> {
    finite(values).map(average)
}

/// Standard deviation of a sample, with `n - 1` in the denominator (Bessel's correction).
///
/// In the unit of the values. `None` for fewer than two values or one that is not finite.
/// ```
/// // Deviations -2, -1, 3 square to 14; over two degrees of freedom that is 7.
/// assert_eq!(stats::standard_deviation(&[1.0, 2.0, 6.0]), Some(7_f64.sqrt()));
/// ```
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    let values = finite(values).filter(|values| values.len() > 1)?;
    let degrees_of_freedom = (values.len() - 1) as f64;
    Some((squared_deviations(values) / degrees_of_freedom).sqrt())
}

/// The value below which a share `p` of the sample lies, interpolated between order statistics.
///
/// * `p`: 0 (minimum) to 1 (maximum).
/// * `None` for an empty slice, a value that is not finite, or `p` outside 0 to 1.
///
/// Source: Hyndman and Fan, "Sample quantiles in statistical packages", The American Statistician
/// 50 (1996), definition 7; also the default of R and NumPy.
/// ```
/// // Rank (4 - 1) x 0.25 = 0.75: three quarters of the way from 1 to 2.
/// assert_eq!(stats::quantile(&[4.0, 1.0, 3.0, 2.0], 0.25), Some(1.75));
/// ```
pub fn quantile(values: &[f64], p: f64) -> Option<f64> {
    let values = finite(values).filter(|_| (0.0..=1.0).contains(&p))?;
    let sorted = sorted(values);
    let rank = p * (sorted.len() - 1) as f64;
    let below = sorted[rank.floor() as usize];
    let above = sorted[rank.ceil() as usize];
    Some(below + (above - below) * rank.fract())
}

/// The middle value: [`quantile`] at one half.
/// ```
/// assert_eq!(stats::median(&[9.45, 26.8, 11.0, 12.0]), Some(11.5));
/// ```
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Third quartile minus first, both by [`quantile`].
/// ```
/// assert_eq!(stats::interquartile_range(&[1.0, 2.0, 3.0, 4.0]), Some(1.5));
/// ```
pub fn interquartile_range(values: &[f64]) -> Option<f64> {
    Some(quantile(values, 0.75)? - quantile(values, 0.25)?)
}

/// Mean of the lowest `share` of the values: a mean trimmed on the upper side only.
///
/// * `share`: above 0, up to 1. As many values are dropped as fit wholly into the other part, so a
///   small sample loses none.
/// * `None` for an empty slice, a value that is not finite, or a `share` outside its range.
///
/// Source: the 95 % trimmed mean of IETF draft-ietf-ippm-responsiveness.
/// ```
/// // Twenty round trips of 10 ms, the last one delayed to a second: 5 % of 20 is that one.
/// let mut round_trips = [0.010; 20];
/// round_trips[19] = 1.0;
/// let trimmed = stats::mean_of_lowest(&round_trips, 0.95).unwrap();
/// assert!((trimmed - 0.010).abs() < 1e-12);
/// ```
pub fn mean_of_lowest(values: &[f64], share: f64) -> Option<f64> {
    let values = finite(values).filter(|_| share > 0.0 && share <= 1.0)?;
    let sorted = sorted(values);
    let dropped = whole_values(sorted.len(), 1.0 - share);
    mean(&sorted[..sorted.len() - dropped])
}

/// How many whole values are in a share of `n`; a share a rounding error short of one counts it.
fn whole_values(n: usize, share: f64) -> usize {
    (n as f64 * share + 1e-9).floor() as usize
}

/// Mean of values known to be finite and not empty.
pub(crate) fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Sum of squared distances from the mean.
pub(crate) fn squared_deviations(values: &[f64]) -> f64 {
    let centre = average(values);
    values.iter().map(|value| (value - centre).powi(2)).sum()
}

/// Smallest first.
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_ends_are_minimum_and_maximum() {
        let values = [5.0, -1.0, 3.0];
        assert_eq!(quantile(&values, 0.0), Some(-1.0));
        assert_eq!(quantile(&values, 1.0), Some(5.0));
    }

    #[test]
    fn quartiles_fall_between_order_statistics() {
        // Ranks 5 x 0.25 = 1.25 and 5 x 0.75 = 3.75 in 2, 4, 4, 5, 7, 9.
        let values = [9.0, 2.0, 4.0, 7.0, 5.0, 4.0];
        assert_eq!(quantile(&values, 0.25), Some(4.0));
        assert_eq!(quantile(&values, 0.75), Some(6.5));
    }

    #[test]
    fn one_value_is_every_quantile_but_has_no_spread() {
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(interquartile_range(&[7.0]), Some(0.0));
        assert_eq!(standard_deviation(&[7.0]), None);
    }

    #[test]
    fn what_is_not_finite_gives_no_answer() {
        for bad in [f64::NAN, f64::INFINITY] {
            let values = [1.0, bad, 2.0];
            assert_eq!(mean(&values), None);
            assert_eq!(median(&values), None);
            assert_eq!(standard_deviation(&values), None);
            assert_eq!(mean_of_lowest(&values, 0.95), None);
        }
    }

    #[test]
    fn a_share_out_of_range_gives_no_answer() {
        for share in [-0.1, 1.1, f64::NAN] {
            assert_eq!(quantile(&[1.0], share), None, "{share}");
            assert_eq!(mean_of_lowest(&[1.0], share), None, "{share}");
        }
    }

    #[test]
    fn trimming_drops_nothing_from_a_small_sample() {
        assert_eq!(
            mean_of_lowest(&[1.0, 2.0, 30.0], 0.95),
            mean(&[1.0, 2.0, 30.0])
        );
    }

    proptest! {
        #[test]
        fn quantiles_never_fall_as_the_share_rises(
            values in prop::collection::vec(-1e9..1e9, 1..40),
            p in 0.0..=1.0, q in 0.0..=1.0,
        ) {
            let (low, high) = if p <= q { (p, q) } else { (q, p) };
            prop_assert!(quantile(&values, low) <= quantile(&values, high));
        }
    }
}
