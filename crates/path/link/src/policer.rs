//! A token bucket that drops instead of delaying.

use netpath::Policer as PolicerSpec;
use units::{Bytes, Time};

/// The tokens of a policer, a billionth of a bit each, so that nothing is rounded.
#[derive(Debug)]
pub(crate) struct Policer {
    rate: u128,
    full: u128,
    tokens: u128,
    /// When the tokens were counted.
    at: Time,
}

/// Tokens that pay for one byte.
const BYTE: u128 = 8 * 1_000_000_000;

impl Policer {
    /// A full bucket.
    pub(crate) fn new(spec: PolicerSpec) -> Self {
        let full = u128::from(spec.bucket.get()) * BYTE;
        Policer {
            rate: spec.rate.bits_per_second().into(),
            full,
            tokens: full,
            at: Time::ZERO,
        }
    }

    /// Whether a packet that arrives at `now` passes; if so, its tokens are gone.
    pub(crate) fn passes(&mut self, size: Bytes, now: Time) -> bool {
        let elapsed = u128::from(now.since(self.at).as_nanos());
        self.at = now;
        self.tokens = self.full.min(self.tokens + elapsed * self.rate);
        let price = u128::from(size.get()) * BYTE;
        let passes = price <= self.tokens;
        if passes {
            self.tokens -= price;
        }
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Rate, Span};

    fn policer(rate: u64, bucket: u64) -> Policer {
        Policer::new(PolicerSpec {
            rate: Rate::from_bits_per_second(rate),
            bucket: Bytes::new(bucket),
        })
    }

    #[test]
    fn the_first_burst_is_the_bucket_and_the_long_run_is_the_rate() {
        // 12 Mbit/s, a packet of 1500 B each millisecond; ten times as many arrive.
        let mut policer = policer(12_000_000, 15_000);
        let size = Bytes::new(1500);
        let passed = (0..20).filter(|_| policer.passes(size, Time::ZERO)).count();
        assert_eq!(passed, 10);
        let arrivals = (1..=100_000).map(|at| Time::ZERO + Span::from_micros(100 * at));
        let passed = arrivals.filter(|at| policer.passes(size, *at)).count();
        assert_eq!(passed, 10_000);
    }

    #[test]
    fn a_pause_saves_no_more_than_the_bucket() {
        let mut policer = policer(12_000_000, 3000);
        let late = Time::ZERO + Span::from_secs(3600);
        let passed = (0..9).filter(|_| policer.passes(Bytes::new(1500), late));
        assert_eq!(passed.count(), 2);
    }
}
