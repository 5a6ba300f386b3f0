//! A series of readings that never outgrows its bound.

/// Keeps readings at equal distances: all of them at first, and whenever the bound is reached every
/// second one is forgotten and the distance doubles. A long test costs resolution, not memory.
///
/// ```
/// let mut readings = observe::Thinned::new(4);
/// (0..7).for_each(|reading| readings.offer(reading));
/// readings.close(7);
/// assert_eq!(readings.kept(), [0, 2, 4, 6, 7]);
/// ```
#[derive(Debug, Clone)]
pub struct Thinned<T> {
    kept: Vec<T>,
    bound: usize,
    step: u64,
    offered: u64,
}

impl<T> Thinned<T> {
    /// Keeps at most `bound` readings, and at least two.
    pub fn new(bound: usize) -> Self {
        Thinned {
            kept: Vec::new(),
            bound: bound.max(2),
            step: 1,
            offered: 0,
        }
    }

    /// Offers the next reading.
    pub fn offer(&mut self, reading: T) {
        let due = self.offered.is_multiple_of(self.step);
        self.offered += 1;
        if !due {
            return;
        }
        if self.kept.len() == self.bound {
            self.halve();
        }
        self.kept.push(reading);
    }

    /// Adds the last reading, whether or not it is due.
    pub fn close(&mut self, reading: T) {
        self.kept.push(reading);
    }

    fn halve(&mut self) {
        let mut position = 0;
        self.kept.retain(|_| {
            position += 1;
            position % 2 == 1
        });
        self.step = self.step.saturating_mul(2);
    }

    /// The readings that are left, in order.
    pub fn kept(&self) -> &[T] {
        &self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_series_keeps_its_bound_and_equal_distances() {
        let mut readings = Thinned::new(8);
        (0..1_000).for_each(|n| readings.offer(n));
        let kept = readings.kept();
        assert!((4..=8).contains(&kept.len()), "{kept:?}");
        let steps: Vec<i32> = kept.windows(2).map(|two| two[1] - two[0]).collect();
        assert!(steps.iter().all(|step| *step == steps[0]), "{kept:?}");
    }

    #[test]
    fn the_last_reading_is_always_kept() {
        let mut readings = Thinned::new(2);
        (0..9).for_each(|n| readings.offer(n));
        readings.close(9);
        assert_eq!(readings.kept().last(), Some(&9));
    }
}
