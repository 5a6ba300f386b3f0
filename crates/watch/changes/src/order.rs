//! Several quantiles of the same values, sorted once.

/// Values in ascending order.
pub(crate) struct Sorted(Vec<f64>);

impl Sorted {
    pub fn of(mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        Sorted(values)
    }

    /// As [`stats::quantile`], which would sort each time; `None` without values.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let rank = share * self.0.len().checked_sub(1)? as f64;
        let (low, high) = (
            self.0.get(rank.floor() as usize)?,
            self.0.get(rank.ceil() as usize)?,
        );
        Some(low + (high - low) * rank.fract())
    }

    /// Third quartile less first.
    pub fn middle_half(&self) -> Option<f64> {
        Some(self.quantile(0.75)? - self.quantile(0.25)?)
    }
}

#[cfg(test)]
mod tests {
    use super::Sorted;

    #[test]
    fn quantiles_are_those_of_stats() {
        let values = vec![4.0, -1.0, 3.0, 2.5, 9.0, 0.0];
        let sorted = Sorted::of(values.clone());
        for share in [0.0, 0.025, 0.25, 0.5, 0.8, 1.0] {
            assert_eq!(sorted.quantile(share), stats::quantile(&values, share));
        }
        assert_eq!(sorted.middle_half(), stats::interquartile_range(&values));
        assert_eq!(Sorted::of(Vec::new()).quantile(0.5), None);
    }
}
