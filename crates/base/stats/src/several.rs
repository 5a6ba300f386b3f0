//! Many comparisons at once.

/// The odds of a false alarm among several comparisons, from those of each by itself.
///
/// Of forty comparisons without any change, two show one at 95 % by chance. A comparison whose
/// corrected odds are below 5 % is a change although many were looked at: the chance of one or more
/// false alarms among all stays below 5 %, however they depend on each other.
///
/// * `odds`: of each comparison, as if it were the only one (p-values), 0 to 1; the result keeps
///   their order.
///
/// Source: Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
/// Statistics 6 (1979).
/// ```
/// // The smallest times 3, the next times 2, the last times 1; never below the one before.
/// let corrected = stats::holm(&[0.01, 0.04, 0.03]);
/// assert_eq!(corrected, [0.03, 0.06, 0.06]);
/// ```
pub fn holm(odds: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..odds.len()).collect();
    order.sort_by(|a, b| odds[*a].total_cmp(&odds[*b]));
    let mut corrected = vec![1.0; odds.len()];
    let mut before: f64 = 0.0;
    for (place, index) in order.iter().enumerate() {
        let left = (odds.len() - place) as f64;
        before = before.max((odds[*index] * left).min(1.0));
        corrected[*index] = before;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_comparison_needs_no_correction() {
        assert_eq!(holm(&[0.04]), [0.04]);
        assert_eq!(holm(&[]), [0.0; 0]);
    }

    #[test]
    fn odds_stay_odds_and_keep_their_order() {
        let corrected = holm(&[0.5, 0.001, 0.9, 0.02]);
        assert_eq!(corrected, [1.0, 0.004, 1.0, 0.06]);
    }
}
