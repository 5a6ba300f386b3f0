//! How late packets were handed over.

use units::Span;

/// Classes for each factor of two.
const PER_OCTAVE: u32 = 4;
/// From a nanosecond to a minute and more.
const CLASSES: usize = 160;

/// Counts of packets by how late they were handed over, in classes a fifth wide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lateness {
    classes: [u64; CLASSES],
}

impl Default for Lateness {
    fn default() -> Self {
        Lateness {
            classes: [0; CLASSES],
        }
    }
}

impl Lateness {
    pub(crate) fn add(&mut self, late: Span) {
        self.classes[class_of(late)] += 1;
    }

    /// How many packets there were.
    pub fn packets(&self) -> u64 {
        self.classes.iter().sum()
    }

    /// How many were handed over later than this, but for those in its class.
    pub fn later_than(&self, late: Span) -> u64 {
        self.classes[class_of(late) + 1..].iter().sum()
    }

    /// The lateness that this share of the packets did not exceed, to within a fifth; `None`
    /// without packets.
    pub fn quantile(&self, share: f64) -> Option<Span> {
        let wanted = (share * self.packets() as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let class = self.classes.iter().position(|count| {
            seen += count;
            seen >= wanted
        })?;
        Some(upper_bound(class))
    }
}

/// The octave, and in it the first two bits after the highest.
fn class_of(late: Span) -> usize {
    let nanos = late.as_nanos().max(PER_OCTAVE.into());
    let octave = nanos.ilog2();
    let part = (nanos >> (octave - 2)) & u64::from(PER_OCTAVE - 1);
    let class = (octave - 2) * PER_OCTAVE + part as u32;
    (class as usize).min(CLASSES - 1)
}

fn upper_bound(class: usize) -> Span {
    let (octave, part) = (
        class as u32 / PER_OCTAVE + 2,
        class as u64 % u64::from(PER_OCTAVE),
    );
    Span::from_nanos(((u64::from(PER_OCTAVE) + part + 1) << (octave - 2)) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_holds_what_is_at_most_a_fourth_below_its_bound() {
        for nanos in (4..2_000).chain([12_345, 1_000_000, 999_999_999, 60_000_000_000]) {
            let bound = upper_bound(class_of(Span::from_nanos(nanos))).as_nanos();
            assert!(
                bound >= nanos && bound <= nanos + nanos / 4,
                "{nanos} {bound}"
            );
        }
    }

    #[test]
    fn packets_that_were_late_are_counted() {
        let mut lateness = Lateness::default();
        let bound = Span::from_millis(1);
        (0..993).for_each(|_| lateness.add(bound));
        (0..7).for_each(|_| lateness.add(Span::from_millis(38)));
        assert_eq!((lateness.packets(), lateness.later_than(bound)), (1000, 7));
        assert_eq!(lateness.later_than(Span::from_secs(3600)), 0);
    }

    #[test]
    fn quantiles_are_those_of_what_was_added() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.quantile(0.5), None);
        (1..=100).for_each(|us| lateness.add(Span::from_micros(us)));
        for (share, exact) in [(0.5, 50.0), (0.9, 90.0), (1.0, 100.0)] {
            let seen = lateness.quantile(share).unwrap().as_nanos() as f64 / 1e3;
            assert!(seen >= exact && seen <= exact * 1.25, "{share}: {seen}");
        }
    }
}
