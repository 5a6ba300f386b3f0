//! When datagrams are due: a function of the time that has passed.

use units::{Bytes, Rate, Span, Time};

/// What a sender that was held up makes up for: the rest is not sent.
const BEHIND_MAX: Span = Span::from_millis(100);
/// It makes up for it at a rate this much higher, in percent.
const FASTER: u64 = 25;
/// What leaves together at that rate at most: more would fill the queue of a device.
const BURST_MAX: Span = Span::from_millis(1);
/// Datagrams that are due within this time leave together: waking for each would take a processor.
const QUANTUM: Span = Span::from_micros(200);

/// A rate of datagrams of one size.
#[derive(Debug)]
pub(super) struct Pace {
    /// At the rate itself: what is due.
    due: Bucket,
    /// Somewhat faster: what may leave now.
    peak: Bucket,
    /// Datagrams that are to leave together.
    together: u64,
}

impl Pace {
    /// * `together`: datagrams that are sent as one burst; 0 leaves it to the rate.
    pub fn new(rate: Rate, size: Bytes, together: u16, now: Time) -> Self {
        let together = u64::from(together).max(1);
        let faster = rate
            .bits_per_second()
            .saturating_add(rate.bits_per_second() / 100 * FASTER);
        Pace {
            due: Bucket::new(rate, size, BEHIND_MAX, together, now),
            peak: Bucket::new(
                Rate::from_bits_per_second(faster),
                size,
                BURST_MAX,
                together,
                now,
            ),
            together,
        }
    }

    /// How many may leave now.
    pub fn ready(&mut self, now: Time) -> u64 {
        let ready = self.due.ready(now).min(self.peak.ready(now));
        ready / self.together * self.together
    }

    /// How many were due and were not taken in time.
    pub fn missed(&self) -> u64 {
        self.due.missed
    }

    /// So many have left, or never will.
    pub fn spend(&mut self, count: u64) {
        self.due.spent += count;
        self.peak.spent += count;
    }

    /// How long until the next may leave, or until enough for one waking.
    pub fn wait(&self, now: Time) -> Span {
        let next = self.due.at(self.together).max(self.peak.at(self.together));
        next.since(now).max(QUANTUM)
    }
}

/// Datagrams at a rate since a moment, which moves on where too many were not taken.
#[derive(Debug)]
struct Bucket {
    rate: Rate,
    size: Bytes,
    since: Time,
    spent: u64,
    /// Of those spent, the ones that were not taken in time.
    missed: u64,
    most: u64,
}

impl Bucket {
    fn new(rate: Rate, size: Bytes, behind: Span, together: u64, since: Time) -> Self {
        let most = rate.bytes_in(behind).get() / size.get().max(1);
        Bucket {
            rate,
            size,
            since,
            spent: 0,
            missed: 0,
            most: most.max(1).max(together),
        }
    }

    /// The first is due at once.
    fn ready(&mut self, now: Time) -> u64 {
        let passed = self.rate.bytes_in(now.since(self.since));
        let ready = (passed.get() / self.size.get().max(1) + 1).saturating_sub(self.spent);
        if ready <= self.most {
            return ready;
        }
        // What was not taken in time never leaves.
        self.spent += ready - self.most;
        self.missed += ready - self.most;
        self.most
    }

    /// When `count` more are ready.
    fn at(&self, count: u64) -> Time {
        let before = (self.spent + count).saturating_sub(1);
        self.since + self.rate.time_to_send(self.size.times(before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn mbit(mbit: u64) -> Rate {
        Rate::from_bits_per_second(mbit * 1_000_000)
    }

    /// Sends what is ready at each moment; how many, and the most at once.
    fn run(pace: &mut Pace, moments: impl Iterator<Item = u64>) -> (u64, u64) {
        let (mut sent, mut most) = (0, 0);
        for moment in moments {
            let ready = pace.ready(micros(moment));
            pace.spend(ready);
            (sent, most) = (sent + ready, most.max(ready));
        }
        (sent, most)
    }

    /// 100 Mbit/s of 1,250 bytes are 10,000 datagrams a second.
    #[test]
    fn a_second_has_the_rate_in_small_bursts() {
        let mut pace = Pace::new(mbit(100), Bytes::new(1_250), 0, Time::ZERO);
        let (sent, most) = run(&mut pace, (0..=1_000_000).step_by(250));
        assert_eq!((sent, most), (10_001, 3));
    }

    #[test]
    fn what_was_missed_is_made_up_for_without_a_burst() {
        let mut pace = Pace::new(mbit(100), Bytes::new(1_250), 0, Time::ZERO);
        assert_eq!(run(&mut pace, (0..=10_000).step_by(100)).0, 101);
        // 50 ms late: 500 are missing, and 12 leave at once.
        let (sent, most) = run(&mut pace, (60_000..=500_000).step_by(100));
        assert_eq!((101 + sent, most, pace.missed()), (5_001, 12, 0));
        // A second late: no more than 100 ms of it are made up for.
        let (sent, _) = run(&mut pace, (1_500_000..=2_500_000).step_by(100));
        assert!((10_900..=11_010).contains(&sent), "{sent}");
        assert_eq!(pace.missed(), 9_000);
    }

    #[test]
    fn a_burst_leaves_together() {
        let mut pace = Pace::new(mbit(10), Bytes::new(1_250), 10, Time::ZERO);
        assert_eq!(pace.ready(micros(8_900)), 0);
        assert_eq!(pace.wait(micros(8_900)), Span::from_micros(200));
        assert_eq!(pace.ready(micros(9_000)), 10);
        pace.spend(10);
        assert_eq!(pace.wait(micros(9_000)), Span::from_millis(10));
    }

    #[test]
    fn slow_rates_wait_for_one_datagram_and_fast_ones_for_a_quantum() {
        let mut slow = Pace::new(
            Rate::from_bits_per_second(10_000),
            Bytes::new(1_250),
            0,
            Time::ZERO,
        );
        assert_eq!(slow.ready(Time::ZERO), 1);
        slow.spend(1);
        assert_eq!(slow.ready(micros(999_999)), 0);
        assert_eq!(slow.wait(Time::ZERO), Span::from_secs(1));
        let mut fast = Pace::new(mbit(100_000), Bytes::new(1_250), 0, Time::ZERO);
        fast.spend(1);
        assert_eq!(fast.wait(Time::ZERO), QUANTUM);
        assert_eq!(fast.ready(micros(200)), 2_000);
        // A number that no clock reaches.
        let never = Pace::new(
            Rate::from_bits_per_second(1),
            Bytes::new(65_507),
            0,
            Time::ZERO,
        );
        assert!(never.wait(Time::MAX) >= QUANTUM);
    }
}
