//! How much a session may still send, on the mean.

use units::{Bytes, Rate, Span, Time};

/// A bucket that fills at a rate and holds a second of it.
#[derive(Debug)]
pub(super) struct Budget {
    rate: Rate,
    most: Bytes,
    left: Bytes,
    at: Time,
}

impl Budget {
    /// A full one.
    pub(super) fn full(rate: Rate, most: Bytes, now: Time) -> Self {
        Budget {
            rate,
            most,
            left: most,
            at: now,
        }
    }

    /// Takes `bytes` out; otherwise the time after which they will be there.
    pub(super) fn take(&mut self, bytes: Bytes, now: Time) -> Result<(), Span> {
        let filled = self.rate.bytes_in(now.since(self.at));
        self.left = (self.left + filled).min(self.most);
        self.at = now;
        match bytes > self.left {
            true => Err(self.rate.time_to_send(bytes - self.left)),
            false => {
                self.left = self.left - bytes;
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_bucket_says_when_it_will_do() {
        // 8 kbit/s are 1,000 bytes a second.
        let rate = Rate::from_bits_per_second(8_000);
        let mut budget = Budget::full(rate, Bytes::new(1_000), Time::ZERO);
        let second = |seconds| Time::ZERO + Span::from_secs(seconds);
        assert_eq!(budget.take(Bytes::new(900), Time::ZERO), Ok(()));
        let wait = budget.take(Bytes::new(600), Time::ZERO);
        assert_eq!(wait, Err(Span::from_millis(500)));
        assert_eq!(budget.take(Bytes::new(600), second(1)), Ok(()));
        assert_eq!(budget.take(Bytes::new(1_000), second(100)), Ok(()));
        assert!(budget.take(Bytes::new(1), second(100)).is_err());
    }
}
