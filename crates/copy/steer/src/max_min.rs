//! Max-min fair parts of something that can be divided.

/// The parts of `whole` for those who want so much: none gets more than it wants while another one
/// wants more than it has, and all of those have the same (Bertsekas and Gallager, *Data Networks*,
/// section 6.5.2). What is left when all have what they want is divided equally, so that the parts
/// are always `whole` together.
///
/// ```
/// // The first wants little; the two others share what it leaves.
/// assert_eq!(steer::max_min(12.0, &[2.0, f64::INFINITY, 9.0]), [2.0, 5.0, 5.0]);
/// // There is more than they want.
/// assert_eq!(steer::max_min(12.0, &[2.0, 4.0]), [5.0, 7.0]);
/// ```
pub fn max_min(whole: f64, wanted: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    let want = |at: usize| wanted.get(at).map_or(0.0, |one| one.max(0.0));
    order.sort_by(|a, b| want(*a).total_cmp(&want(*b)));
    let mut parts = vec![0.0; wanted.len()];
    let mut left = whole;
    for (given, at) in order.iter().enumerate() {
        let equal = left / (wanted.len() - given) as f64;
        let part = want(*at).min(equal);
        left -= part;
        if let Some(one) = parts.get_mut(*at) {
            *one = part;
        }
    }
    let more = left.max(0.0) / wanted.len().max(1) as f64;
    parts.iter_mut().for_each(|part| *part += more);
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parts_are_the_whole_and_none_has_more_than_one_that_wants_more(
            whole in 0.0..1e12_f64,
            wanted in proptest::collection::vec(
                prop_oneof![Just(f64::INFINITY), 0.0..1e12_f64], 1..40),
        ) {
            let parts = max_min(whole, &wanted);
            let sum: f64 = parts.iter().sum();
            prop_assert!((sum - whole).abs() <= 1e-9 * whole, "{sum} of {whole}");
            let slack = 1e-9 * whole;
            let most = parts.iter().copied().fold(0.0, f64::max);
            let is_short = wanted.iter().zip(&parts).any(|(want, part)| *part < want - slack);
            if is_short {
                for (want, part) in wanted.iter().zip(&parts) {
                    prop_assert!(*part <= want + slack, "{part} for {want}");
                    prop_assert!(*part >= want.min(most) - slack, "{part} of {most}, {want}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_divided_among_none() {
        assert!(max_min(3.0, &[]).is_empty());
    }
}
