//! The largest value of a sliding window, in constant space.

/// Keeps the three best values of the last `length` rounds, each later than the one before it, as
/// Linux does (`lib/win_minmax.c`, after Kathleen Nichols). The largest is exact; when it ages out,
/// what follows it is the best that was seen in the later parts of the window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MaxFilter {
    length: u32,
    best: [Entry; 3],
}

#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    round: u32,
    value: f64,
}

impl MaxFilter {
    pub(crate) const fn new(length: u32) -> Self {
        let none = Entry {
            round: 0,
            value: 0.0,
        };
        MaxFilter {
            length,
            best: [none; 3],
        }
    }

    #[inline]
    pub(crate) fn max(&self) -> f64 {
        self.best[0].value
    }

    pub(crate) fn note(&mut self, round: u32, value: f64) {
        let entry = Entry { round, value };
        let [first, second, third] = &mut self.best;
        if value >= first.value || round - third.round > self.length {
            self.best = [entry; 3];
            return;
        }
        if value >= second.value {
            (*second, *third) = (entry, entry);
        } else if value >= third.value {
            *third = entry;
        }
        self.age(entry);
    }

    /// Drops what is too old, and fills the later places from the later parts of the window.
    fn age(&mut self, entry: Entry) {
        let since = entry.round - self.best[0].round;
        if since > self.length {
            self.best = [self.best[1], self.best[2], entry];
            if entry.round - self.best[0].round > self.length {
                self.best = [self.best[1], self.best[2], entry];
            }
        } else if self.best[1].round == self.best[0].round && since > self.length / 4 {
            (self.best[1], self.best[2]) = (entry, entry);
        } else if self.best[2].round == self.best[1].round && since > self.length / 2 {
            self.best[2] = entry;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_peak_is_remembered_for_ten_rounds() {
        let mut filter = MaxFilter::new(10);
        filter.note(0, 100.0);
        for round in 1..=10 {
            filter.note(round, 50.0);
            assert_eq!(filter.max(), 100.0);
        }
        filter.note(11, 50.0);
        assert_eq!(filter.max(), 50.0);
    }

    proptest! {
        #[test]
        fn it_lies_between_the_latest_and_the_largest_of_the_window(values in proptest::collection::vec(1.0..100.0_f64, 1..60)) {
            let mut filter = MaxFilter::new(10);
            for (round, value) in values.iter().enumerate() {
                filter.note(round as u32, *value);
                let window = &values[round.saturating_sub(10)..=round];
                let largest = window.iter().copied().fold(0.0, f64::max);
                prop_assert!(filter.max() <= largest && filter.max() >= *value);
            }
        }
    }
}
