//! When packets have been sent.

use std::sync::Arc;

use netpath::{DrawnRate, LinkSpec, Trace, Variation};
use units::{Bytes, Rate, Span, Time};

use crate::random::{Purpose, Random};

/// The sender of a link: at a constant rate, or at one that varies.
#[derive(Debug)]
pub(crate) enum Sender {
    Constant(SendTimes),
    Varying(Box<VaryingRate>),
    Recorded(Box<RecordedRate>),
}

impl Sender {
    pub(crate) fn new(spec: &LinkSpec, seed: u64) -> Self {
        match &spec.variation {
            Some(Variation::Drawn(drawn)) => {
                Sender::Varying(Box::new(VaryingRate::new(*drawn, seed)))
            }
            Some(Variation::Recorded(trace)) if trace.period > Span::ZERO => {
                Sender::Recorded(Box::new(RecordedRate::new(trace)))
            }
            _ => Sender::Constant(SendTimes::new(spec.rate)),
        }
    }

    /// When the last bit of a packet leaves that begins to leave at `begin`. Times must never go
    /// back from one call to the next.
    #[inline]
    pub(crate) fn finish(&mut self, begin: Time, size: Bytes) -> Time {
        match self {
            Sender::Constant(times) => begin + times.of(size),
            Sender::Varying(rate) => rate.finish(begin, size),
            Sender::Recorded(rate) => rate.finish(begin, size),
        }
    }
}

/// A rate that is drawn anew again and again.
#[derive(Debug)]
pub(crate) struct VaryingRate {
    drawn: DrawnRate,
    random: Random,
    rate: Rate,
    /// How long the rate holds.
    until: Time,
}

impl VaryingRate {
    fn new(drawn: DrawnRate, seed: u64) -> Self {
        let mut varying = VaryingRate {
            drawn,
            random: Random::new(seed, Purpose::Rate),
            rate: drawn.low,
            until: Time::ZERO,
        };
        varying.draw();
        varying
    }

    fn draw(&mut self) {
        let (low, high) = (self.drawn.low.as_f64(), self.drawn.high.as_f64());
        self.rate = Rate::from_f64(low + (high - low) * self.random.uniform());
        let mean = self.drawn.every.as_nanos() as f64;
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

/// A rate that was recorded: chances to deliver, each of so many bytes at its time.
#[derive(Debug)]
pub(crate) struct RecordedRate {
    millis: Arc<[u32]>,
    /// Nanoseconds until it begins anew.
    period: u64,
    /// How often it was repeated, and the place of the next opportunity in it.
    round: u64,
    next: usize,
    /// When the present opportunity came, and what it still carries.
    at: Time,
    left: Bytes,
}

const MILLI: u64 = 1_000_000;

impl RecordedRate {
    fn new(trace: &Trace) -> Self {
        RecordedRate {
            millis: Arc::clone(&trace.millis),
            period: trace.period.as_nanos(),
            round: 0,
            next: 0,
            at: Time::ZERO,
            left: Bytes::ZERO,
        }
    }

    fn finish(&mut self, begin: Time, size: Bytes) -> Time {
        if begin > self.at {
            self.left = Bytes::ZERO;
            self.skip_to(begin);
        }
        let mut rest = size;
        while rest > self.left {
            rest = rest - self.left;
            self.take();
        }
        self.left = self.left - rest;
        self.at
    }

    /// When the next opportunity comes.
    fn next_time(&self) -> Time {
        let millis = self.millis.get(self.next).copied().unwrap_or(0);
        Time::from_nanos(self.round * self.period + u64::from(millis) * MILLI)
    }

    /// The next opportunity becomes the present one.
    fn take(&mut self) {
        self.at = self.next_time();
        self.left = Trace::OPPORTUNITY;
        self.next += 1;
        if self.next >= self.millis.len() {
            (self.round, self.next) = (self.round + 1, 0);
        }
    }

    /// Lets pass what came before `now`, which is after the present one. Of one moment, the end of
    /// a round comes before the beginning of the next.
    fn skip_to(&mut self, now: Time) {
        if self.next_time() >= now {
            return;
        }
        let before = now.as_nanos() - 1;
        self.round = before / self.period;
        let within = (before % self.period + 1).div_ceil(MILLI);
        self.next = self
            .millis
            .partition_point(|millis| u64::from(*millis) < within);
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
        let drawn = DrawnRate { low, high, every };
        VaryingRate::new(drawn, seed)
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

    fn recorded(millis: &[u32]) -> RecordedRate {
        RecordedRate::new(&Trace {
            file: String::new(),
            digest: String::new(),
            opportunities: millis.len() as u64,
            period: Span::from_millis(millis.last().copied().unwrap().into()),
            millis: millis.into(),
        })
    }

    /// When packets of these sizes have left that begin as early as they can, in milliseconds.
    fn finished(rate: &mut RecordedRate, begin: u64, sizes: &[u64]) -> Vec<u64> {
        let mut now = Time::from_nanos(begin * MILLI);
        let mut finish = |size: &u64| {
            now = rate.finish(now, Bytes::new(*size));
            now.as_nanos() / MILLI
        };
        sizes.iter().map(&mut finish).collect()
    }

    #[test]
    fn a_recorded_rate_delivers_at_its_times_and_begins_anew() {
        let mut rate = recorded(&[0, 3, 3, 8]);
        // Two full packets wait for each other; the end of a round is the beginning of the next.
        let seen = finished(&mut rate, 0, &[1500; 9]);
        assert_eq!(seen, [0, 3, 3, 8, 8, 11, 11, 16, 16]);
    }

    #[test]
    fn opportunities_carry_several_small_packets_and_parts_of_large_ones() {
        let mut rate = recorded(&[2, 4, 6]);
        let seen = finished(&mut rate, 0, &[700, 700, 700, 3000, 300]);
        // 100 of the third packet leave at 2 ms, 600 at 4 ms; of the fourth 900 then, 1500 at 6 ms.
        assert_eq!(seen, [2, 2, 4, 8, 8]);
    }

    #[test]
    fn what_nothing_waits_for_is_lost() {
        let mut rate = recorded(&[2, 4, 6]);
        assert_eq!(finished(&mut rate, 0, &[100]), [2]);
        // Nothing more was there at 2 ms, and nothing at all until 1,000 rounds later.
        assert_eq!(finished(&mut rate, 3, &[1500]), [4]);
        assert_eq!(finished(&mut rate, 6_001, &[1500, 1500]), [6_002, 6_004]);
        assert_eq!(finished(&mut rate, 12_000, &[1500, 1500]), [12_000, 12_002]);
    }

    #[test]
    fn a_recorded_rate_carries_its_mean() {
        let millis: Vec<u32> = (0..5_000).map(|at| at * at / 5_000 + 1).collect();
        let mut rate = recorded(&millis);
        let seen = finished(&mut rate, 0, &vec![1500; 50_000]);
        assert_eq!(
            seen.last(),
            Some(&(10 * u64::from(*millis.last().unwrap())))
        );
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
