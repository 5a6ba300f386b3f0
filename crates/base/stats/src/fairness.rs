//! How evenly a resource is shared.

use crate::finite;

/// Jain's fairness index of the shares that `n` users got: 1 when all are equal, `1/n` when one has
/// everything.
///
/// `None` for an empty slice, for shares that are negative or not finite, and when no share is
/// above anything (0/0 is not a fair share).
///
/// Source: Jain, Chiu and Hawe, "A quantitative measure of fairness and discrimination for resource
/// allocation in shared computer systems", DEC TR-301 (1984): `(sum x)^2 / (n sum x^2)`.
/// ```
/// // (1 + 1 + 2)^2 / (3 x (1 + 1 + 4)) = 16/18
/// assert!((stats::jain_index(&[1.0, 1.0, 2.0]).unwrap() - 16.0 / 18.0).abs() < 1e-12);
/// ```
pub fn jain_index(shares: &[f64]) -> Option<f64> {
    let shares = finite(shares).filter(|shares| shares.iter().all(|share| *share >= 0.0))?;
    let largest = shares.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return None;
    }
    let scaled = || shares.iter().map(|share| share / largest);
    let sum: f64 = scaled().sum();
    let sum_of_squares: f64 = scaled().map(|share| share * share).sum();
    Some(sum * sum / (shares.len() as f64 * sum_of_squares))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_user_with_everything_scores_one_nth() {
        assert_eq!(jain_index(&[0.0, 0.0, 0.0, 5e8]), Some(0.25));
    }

    #[test]
    fn no_shares_have_no_fairness() {
        assert_eq!(jain_index(&[]), None);
        assert_eq!(jain_index(&[0.0, 0.0]), None);
        assert_eq!(jain_index(&[1.0, -1.0]), None);
    }

    proptest! {
        #[test]
        fn the_index_lies_between_one_nth_and_one(shares in prop::collection::vec(1e-3..1e12, 1..64)) {
            let index = jain_index(&shares).unwrap();
            prop_assert!(index <= 1.0 + 1e-9);
            prop_assert!(index >= 1.0 / shares.len() as f64 - 1e-9);
        }

        #[test]
        fn the_unit_of_the_shares_does_not_matter(shares in prop::collection::vec(1e-3..1e6, 1..64)) {
            let scaled: Vec<f64> = shares.iter().map(|share| share * 8e6).collect();
            let difference = jain_index(&shares).unwrap() - jain_index(&scaled).unwrap();
            prop_assert!(difference.abs() < 1e-9);
        }
    }
}
