//! How long packets take to send, remembered.

use units::{Bytes, Rate, Span};

/// The sending times at one rate. Traffic has mostly two sizes, full packets and acknowledgements,
/// and dividing anew for each packet would cost more than everything else that a link does.
#[derive(Debug)]
pub(crate) struct SendTimes {
    rate: Rate,
    latest: (Bytes, Span),
    before: (Bytes, Span),
}

impl SendTimes {
    pub(crate) fn new(rate: Rate) -> Self {
        let nothing = (Bytes::ZERO, rate.time_to_send(Bytes::ZERO));
        SendTimes {
            rate,
            latest: nothing,
            before: nothing,
        }
    }

    /// Exactly [`Rate::time_to_send`].
    #[inline]
    pub(crate) fn of(&mut self, size: Bytes) -> Span {
        if self.latest.0 == size {
            return self.latest.1;
        }
        std::mem::swap(&mut self.latest, &mut self.before);
        if self.latest.0 != size {
            self.latest = (size, self.rate.time_to_send(size));
        }
        self.latest.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembered_times_are_the_exact_ones() {
        for bits in [300, 45_000_000, 622_080_000, 1_000_000_000_000] {
            let rate = Rate::from_bits_per_second(bits);
            let mut times = SendTimes::new(rate);
            // Runs of one size, two in turn, three in turn, sizes never seen again, and nothing.
            let sizes = [
                1500, 1500, 40, 1500, 40, 40, 9000, 1500, 40, 9000, 0, 65_535, 0, 1,
            ];
            for size in sizes.into_iter().cycle().take(100).chain(1..3000) {
                let size = Bytes::new(size);
                assert_eq!(times.of(size), rate.time_to_send(size), "{size} at {rate}");
            }
        }
    }
}
