//! A rate limit that several threads share, and that may change while they wait.
//!
//! Bytes queue in the order in which they were asked for, and the bucket releases them at its rate.
//! Each thread keeps its [`Turn`] and asks how long it still has to wait. A turn is a place in the
//! queue, not a time: when the rate changes, all waits change with it.
//!
//! Left out: the network. Released bytes lie in socket buffers until the kernel sends them, so a
//! stream that stalled may send faster afterwards. [`stream_pacing`] bounds that.
//!
//! Reading order: [`Bucket::queue`], [`Bucket::wait`], [`stream_pacing`].

use units::{Bytes, Rate, Span, Time};

/// Bits are counted in billionths, so that a rate times nanoseconds is exact.
const PARTS: u128 = 1_000_000_000;

/// Unused rate that is saved: part of the 100 ms over which a limited copy is to look smooth, and
/// longer than a thread is late on most hosts. No second gets more than 4 % above the rate.
const SAVED: Span = Span::from_millis(40);

/// Factor by which a stream may exceed its share of the limit, to make up for one that stalls.
const STREAM_HEADROOM: f64 = 1.25;

/// Lets bytes out at a rate.
///
/// ```
/// use steer::Bucket;
/// use units::{Bytes, Span, Time};
/// let mut bucket = Bucket::new(Some("8Mbit/s".parse().unwrap()), Time::ZERO);
/// // 1 MB at 1 MB/s.
/// let turn = bucket.queue(Bytes::new(1_000_000), Time::ZERO);
/// assert_eq!(bucket.wait(turn, Time::ZERO), Span::from_secs(1));
/// // Half of it has passed when the rate is doubled: a quarter of a second is left.
/// let half = Time::ZERO + Span::from_millis(500);
/// bucket.set_rate(Some("16Mbit/s".parse().unwrap()), half);
/// assert_eq!(bucket.wait(turn, half), Span::from_millis(250));
/// ```
#[derive(Debug, Clone)]
pub struct Bucket {
    rate: Option<Rate>,
    /// Bits that were asked for since the beginning, in billionths.
    asked: u128,
    /// Bits that were let out, in billionths; more than were asked for by what was saved.
    let_out: u128,
    at: Time,
}

/// A place in the queue of a [`Bucket`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn(u128);

impl Bucket {
    /// A bucket with nothing saved; `None` lets everything out at once.
    pub fn new(rate: Option<Rate>, now: Time) -> Self {
        Bucket {
            rate,
            asked: 0,
            let_out: 0,
            at: now,
        }
    }

    /// The rate; `None` without a limit.
    pub fn rate(&self) -> Option<Rate> {
        self.rate
    }

    /// Changes the rate from `now` on, also for bytes that are already queued.
    pub fn set_rate(&mut self, rate: Option<Rate>, now: Time) {
        self.advance(now);
        self.rate = rate;
        self.let_out = self.let_out.min(self.asked + self.saved_max());
    }

    /// Queues `bytes` behind all earlier ones.
    pub fn queue(&mut self, bytes: Bytes, now: Time) -> Turn {
        // What is saved is counted before anything new is asked for.
        self.advance(now);
        self.asked += u128::from(bytes.get()) * 8 * PARTS;
        Turn(self.asked)
    }

    /// Wait from `now` until the bytes of `turn` may leave, zero when they may; [`Span::MAX`] at
    /// rate zero. To be asked again after a change of the rate.
    pub fn wait(&mut self, turn: Turn, now: Time) -> Span {
        self.advance(now);
        let missing = turn.0.saturating_sub(self.let_out);
        match self.rate.map(Rate::bits_per_second) {
            _ if missing == 0 => Span::ZERO,
            None => Span::ZERO,
            Some(0) => Span::MAX,
            Some(rate) => {
                let nanos = missing.div_ceil(u128::from(rate));
                Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
            }
        }
    }

    /// Bytes to ask for at a time, so that they leave smoothly: those of half of the saved time,
    /// between 2 KiB and `most`. Each is a write of its own where a stream has to wait.
    ///
    /// ```
    /// # use steer::Bucket;
    /// # use units::{Bytes, Time};
    /// // 20 ms of 20 Mbit/s are 50 kB.
    /// let bucket = Bucket::new(Some("20Mbit/s".parse().unwrap()), Time::ZERO);
    /// assert_eq!(bucket.portion(Bytes::from_kib(256)), Bytes::new(50_000));
    /// assert_eq!(Bucket::new(None, Time::ZERO).portion(Bytes::from_kib(256)), Bytes::from_kib(256));
    /// ```
    pub fn portion(&self, most: Bytes) -> Bytes {
        let half = Span::from_nanos(SAVED.as_nanos() / 2);
        match self.rate {
            Some(rate) => rate.bytes_in(half).max(Bytes::from_kib(2)).min(most),
            None => most,
        }
    }

    fn advance(&mut self, now: Time) {
        let passed = u128::from(now.since(self.at).as_nanos());
        self.at = self.at.max(now);
        self.let_out = match self.rate {
            Some(rate) => {
                let more = self.let_out + passed * u128::from(rate.bits_per_second());
                more.min(self.asked + self.saved_max())
            }
            None => self.let_out.max(self.asked),
        };
    }

    fn saved_max(&self) -> u128 {
        let Some(rate) = self.rate.filter(|rate| *rate > Rate::ZERO) else {
            return 0;
        };
        u128::from(rate.bits_per_second()) * u128::from(SAVED.as_nanos())
    }
}

/// Pacing rate of each of `streams` under a [`Bucket`] of `limit`: its share and a quarter more.
///
/// ```
/// // 10 Mbit/s for each of four, and room for those that make up for others.
/// let each = steer::stream_pacing("40Mbit/s".parse().unwrap(), 4);
/// assert_eq!(each.to_string(), "12.5Mbit/s");
/// ```
pub fn stream_pacing(limit: Rate, streams: usize) -> Rate {
    Rate::from_f64(limit.as_f64() * STREAM_HEADROOM / streams.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    fn mbit(rate: u64) -> Option<Rate> {
        Some(Rate::from_bits_per_second(rate * 1_000_000))
    }

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn without_a_limit_no_stream_waits() {
        let mut bucket = Bucket::new(None, Time::ZERO);
        let turn = bucket.queue(Bytes::from_mib(100), Time::ZERO);
        assert_eq!(bucket.wait(turn, Time::ZERO), Span::ZERO);
    }

    #[test]
    fn a_limit_that_is_lifted_lets_everybody_go_and_leaves_no_debt() {
        let mut bucket = Bucket::new(mbit(1), Time::ZERO);
        let turn = bucket.queue(Bytes::from_mib(100), Time::ZERO);
        assert!(bucket.wait(turn, at(1)) > Span::from_secs(800));
        bucket.set_rate(None, at(2));
        assert_eq!(bucket.wait(turn, at(3)), Span::ZERO);
        bucket.set_rate(mbit(8), at(4));
        let turn = bucket.queue(Bytes::new(1_000), at(4));
        assert_eq!(bucket.wait(turn, at(4)), Span::from_millis(1));
    }

    #[test]
    fn rate_zero_holds_until_it_is_raised() {
        let mut bucket = Bucket::new(Some(Rate::ZERO), Time::ZERO);
        let turn = bucket.queue(Bytes::new(1_000), Time::ZERO);
        assert_eq!(bucket.wait(turn, at(9_000_000)), Span::MAX);
        bucket.set_rate(mbit(8), at(9_000_000));
        assert_eq!(bucket.wait(turn, at(9_000_000)), Span::from_millis(1));
    }

    #[test]
    fn a_pause_saves_forty_milliseconds() {
        // The rate, the pause in microseconds, and what may leave at once after it.
        let cases = [
            (100, 5_000_000, 500_000),
            (100, 10_000, 125_000),
            (8, 5_000_000, 40_000),
            (1, 5_000_000, 5_000),
        ];
        for (rate, pause, bytes) in cases {
            let mut bucket = Bucket::new(mbit(rate), Time::ZERO);
            let saved = bucket.queue(Bytes::new(bytes), at(pause));
            assert_eq!(bucket.wait(saved, at(pause)), Span::ZERO, "{rate}");
            let next = bucket.queue(Bytes::new(rate * 1_000_000 / 8), at(pause));
            assert_eq!(bucket.wait(next, at(pause)), Span::from_secs(1), "{rate}");
        }
    }

    /// Streams that pause for random times and want all that they may have afterwards.
    #[test]
    fn no_second_gets_more_than_what_is_saved_above_the_rate() {
        for seed in 0..50 {
            let mut random = Pcg64::seed_from_u64(seed);
            let rate = 1 + random.next_u64() % 20;
            let mut bucket = Bucket::new(mbit(rate), Time::ZERO);
            let (mut now, mut left) = (Time::ZERO, Vec::new());
            while now < at(5_000_000) {
                let turn = bucket.queue(Bytes::new(1_000), now);
                now += bucket.wait(turn, now);
                left.push(now);
                if random.next_u64().is_multiple_of(20) {
                    now += Span::from_micros(random.next_u64() % 200_000);
                }
            }
            let second = Span::from_secs(1);
            let within = |(first, from): (usize, &Time)| {
                let till = *from + second;
                left.partition_point(|at| *at < till) - first
            };
            let most = left.iter().enumerate().map(within).max();
            let bytes = most.unwrap_or(0) as u64 * 1_000;
            let allowed = rate * 1_000_000 / 8 * 104 / 100 + 1_000;
            assert!(bytes <= allowed, "seed {seed}: {bytes} of {allowed} bytes");
        }
    }

    #[test]
    fn turns_come_in_the_order_in_which_they_were_asked_for() {
        let mut bucket = Bucket::new(mbit(8), Time::ZERO);
        let turns = [1_000, 2_000, 3_000].map(|bytes| bucket.queue(Bytes::new(bytes), Time::ZERO));
        let waits = turns.map(|turn| bucket.wait(turn, Time::ZERO));
        assert_eq!(waits, [1, 3, 6].map(Span::from_millis));
    }

    /// Threads that ask at random moments for random amounts, at a rate that changes: over any
    /// time, no more leaves than the rate allows and what may be saved, and those who always want
    /// more get all of it.
    #[test]
    fn no_more_leaves_than_the_rate_allows_and_nothing_is_left_over() {
        for seed in 0..50 {
            let mut random = Pcg64::seed_from_u64(seed);
            let mut bucket = Bucket::new(mbit(100), Time::ZERO);
            let (mut now, mut allowed, mut left) = (0, 0.0, 0.0);
            let mut turn = bucket.queue(Bytes::new(10_000), at(0));
            let mut asked = 10_000.0;
            let mut rate = 100;
            while now < 3_000_000 {
                let step = 1 + random.next_u64() % 4_000;
                now += step;
                allowed += step as f64 * rate as f64 / 8.0;
                while bucket.wait(turn, at(now)) == Span::ZERO {
                    left += asked;
                    let bytes = 1_000 + random.next_u64() % 60_000;
                    turn = bucket.queue(Bytes::new(bytes), at(now));
                    asked = bytes as f64;
                }
                assert!(left <= allowed + 1.0, "seed {seed}: {left} of {allowed}");
                assert!(
                    left + 61_000.0 > allowed,
                    "seed {seed}: {left} of {allowed}"
                );
                if random.next_u64().is_multiple_of(100) {
                    rate = 10 + random.next_u64() % 200;
                    bucket.set_rate(mbit(rate), at(now));
                }
            }
        }
    }
}
