//! When packets have been sent.

use netpath::{LinkSpec, Variation};
use units::{Bytes, Rate, Span, Time};

use crate::random::{Purpose, Random};

/// The sender of a link: at a constant rate, or at one that varies.
#[derive(Debug)]
pub(crate) enum Sender {
    Constant(SendTimes),
    Varying(Box<VaryingRate>),
}

impl Sender {
    pub(crate) fn new(spec: &LinkSpec, seed: u64) -> Self {
        match spec.variation {
            None => Sender::Constant(SendTimes::new(spec.rate)),
            Some(variation) => Sender::Varying(Box::new(VaryingRate::new(variation, seed))),
        }
    }

    /// When the last bit of a packet leaves that begins to leave at `begin`. Times must never go
    /// back from one call to the next.
    #[inline]
    pub(crate) fn finish(&mut self, begin: Time, size: Bytes) -> Time {
        match self {
            Sender::Constant(times) => begin + times.of(size),
            Sender::Varying(rate) => rate.finish(begin, size),
        }
    }
}

/// A rate that is drawn anew again and again.
#[derive(Debug)]
pub(crate) struct VaryingRate {
    variation: Variation,
    random: Random,
    rate: Rate,
    /// How long the rate holds.
    until: Time,
}

impl VaryingRate {
    fn new(variation: Variation, seed: u64) -> Self {
        let mut varying = VaryingRate {
            variation,
            random: Random::new(seed, Purpose::Rate),
            rate: variation.low,
            until: Time::ZERO,
        };
        varying.draw();
        varying
    }

    fn draw(&mut self) {
        let (low, high) = (self.variation.low.as_f64(), self.variation.high.as_f64());
        self.rate = Rate::from_f64(low + (high - low) * self.random.uniform());
        let mean = self.variation.every.as_nanos() as f64;
        // A rate holds for a nanosecond at least, so that time goes on.
        let holds = (mean * self.random.exponential()).max(1.0);
        self.until += Span::from_nanos(holds as u64);
    }

    fn finish(&mut self, begin: Time, size: Bytes) -> Time {
        let (mut now, mut left) = (begin, size);
        loop {
            while self.until <= now {
                self.draw();
            }
            let end = now + self.rate.time_to_send(left);
            if end <= self.until {
                return end;
            }
            let sent = self.rate.bytes_in(self.until.since(now));
            left = left - sent.min(left);
            now = self.until;
        }
    }
}

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

    fn varying(low: u64, high: u64, every: Span, seed: u64) -> VaryingRate {
        let (low, high) = (
            Rate::from_bits_per_second(low),
            Rate::from_bits_per_second(high),
        );
        let variation = Variation { low, high, every };
        VaryingRate::new(variation, seed)
    }

    #[test]
    fn a_varying_rate_carries_its_mean_and_keeps_its_bounds() {
        // 20 to 80 Mbit/s, changed each 100 ms or so: 100 s have 1,000 rates, whose mean differs
        // from 50 by four standard errors of 17.3 / sqrt(500) at the most (a rate's weight is its
        // time, and exponential times halve the number that counts).
        for seed in 1..5 {
            let mut rate = varying(20_000_000, 80_000_000, Span::from_millis(100), seed);
            let (mut now, mut sent) = (Time::ZERO, 0_u64);
            let end = Time::ZERO + Span::from_secs(100);
            while now < end {
                let next = rate.finish(now, Bytes::new(1500));
                let took = next.since(now).as_nanos();
                // 12,000 bits take 0.15 ms at 80 Mbit/s and 0.6 ms at 20 Mbit/s.
                assert!(
                    (149_000..=601_000).contains(&took),
                    "seed {seed}: {took} ns"
                );
                now = next;
                sent += 12_000;
            }
            let mean = sent as f64 / 100.0;
            assert!(
                (mean / 50e6 - 1.0).abs() < 0.062,
                "seed {seed}: {mean} bit/s"
            );
        }
    }

    #[test]
    fn rates_change_while_the_link_is_idle_and_within_a_packet() {
        let mut rate = varying(300, 1_000_000, Span::from_millis(1), 7);
        let late = Time::ZERO + Span::from_secs(10);
        // Of 65,535 bytes at 0.5 Mbit/s on average, changed a thousand times meanwhile.
        let end = rate.finish(late, Bytes::new(65_535));
        let took = end.since(late).as_secs_f64();
        assert!((0.8..1.4).contains(&took), "{took} s");
    }

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
