//! The path's base round trip and its queueing delay.

use std::collections::VecDeque;

use units::{Span, Time};

/// Minutes over which the base round trip is remembered. The kernel's own minimum lasts five
/// (`tcp_min_rtt_wlen`), which makes the ten of RFC 6817 section 3.4.2 together.
const MINUTES: usize = 5;
/// Queueing delay is the minimum over this time: busy hosts delay packets for some tens of
/// milliseconds, a queue for longer.
const RECENT: Span = Span::from_millis(75);
/// Least number of packets in that time: at low rates each may find its host asleep.
const PACKETS: f64 = 16.0;
const MINUTE: Span = Span::from_secs(60);
/// Longest time for which late readings are ignored.
const STARVED: Span = Span::from_millis(250);
/// A queue below this share of its recent peak is draining by itself.
const FALLING: f64 = 0.65;
/// Readings over which the delay that hosts add is averaged.
const READINGS: f64 = 32.0;

/// One reading.
#[derive(Debug, Clone, Copy)]
struct Seen {
    at: Time,
    rtt: Span,
    packets: f64,
}

/// Round trips of the last minutes.
#[derive(Debug, Clone)]
pub(super) struct Delays {
    /// The smallest of each minute.
    minutes: [Span; MINUTES],
    minute: u64,
    recent: VecDeque<Seen>,
    /// Whether `recent` covers enough time and packets.
    is_enough: bool,
    /// Seconds that hosts add to a round trip without a queue.
    lateness: f64,
}

impl Delays {
    pub fn new() -> Self {
        Delays {
            minutes: [Span::MAX; MINUTES],
            minute: 0,
            recent: VecDeque::new(),
            is_enough: false,
            lateness: 0.0,
        }
    }

    /// Takes the round trip of a reading, the streams' minimum and the packets that arrived.
    pub fn note(&mut self, at: Time, rtt: Span, rtt_min: Option<Span>, packets: f64) {
        self.remember(at, rtt.min(rtt_min.unwrap_or(Span::MAX)));
        self.recent.push_back(Seen { at, rtt, packets });
        while self.is_first_needless(at) {
            self.recent.pop_front();
            self.is_enough = true;
        }
    }

    /// Whether a late reading can be ignored: the host that read it late also received late.
    pub fn can_do_without(&self, at: Time) -> bool {
        let last = self.recent.back().map(|seen| seen.at);
        last.is_some_and(|last| at.since(last) <= STARVED)
    }

    /// There is no queue now, so the hosts cause the delay.
    pub fn note_lateness(&mut self) {
        self.lateness += (self.queueing().as_secs_f64() - self.lateness) / READINGS;
    }

    /// Delay that hosts and clocks add without a queue.
    pub fn lateness(&self) -> Span {
        Span::from_secs_f64(self.lateness)
    }

    /// Whether the oldest reading is old and those after it are enough.
    fn is_first_needless(&self, now: Time) -> bool {
        let later = self.recent.iter().skip(1);
        let packets: f64 = later.map(|seen| seen.packets).sum();
        let is_old = |seen: &Seen| now.since(seen.at) >= RECENT;
        packets >= PACKETS && self.recent.front().is_some_and(is_old)
    }

    fn remember(&mut self, at: Time, smallest: Span) {
        let minute = at.as_nanos() / MINUTE.as_nanos();
        // Minutes without a reading have no minimum.
        let passed = minute.saturating_sub(self.minute).min(MINUTES as u64);
        for each in 0..passed {
            self.minutes[((minute - each) % MINUTES as u64) as usize] = Span::MAX;
        }
        self.minute = self.minute.max(minute);
        let place = &mut self.minutes[(self.minute % MINUTES as u64) as usize];
        *place = (*place).min(smallest);
    }

    /// Round trip of the empty path; [`Span::MAX`] before the first reading.
    pub fn base(&self) -> Span {
        self.minutes.into_iter().min().unwrap_or(Span::MAX)
    }

    /// The round trip of the last reading.
    pub fn last(&self) -> Option<Span> {
        self.recent.back().map(|seen| seen.rtt)
    }

    /// Queueing delay is already falling below 65 % of its recent peak: the sign of a host stall,
    /// whose queue takes long to drain on a path that is nearly full.
    pub fn is_falling(&self) -> bool {
        let queue = |seen: &Seen| (seen.rtt - self.base()).as_secs_f64();
        let last = self.recent.back().map_or(0.0, queue);
        let longest = self.recent.iter().map(queue).fold(0.0, f64::max);
        last < FALLING * longest
    }

    /// Queueing delay of the last reading.
    pub fn now(&self) -> Span {
        let last = self.recent.back().map(|seen| seen.rtt);
        last.map_or(Span::ZERO, |rtt| rtt - self.base())
    }

    /// Fastest fall of the round trip between two readings, in seconds per second.
    pub fn fall(&self) -> f64 {
        let pairs = self.recent.iter().zip(self.recent.iter().skip(1));
        let falls = pairs.map(|(before, after)| {
            let shorter = before.rtt.as_secs_f64() - after.rtt.as_secs_f64();
            shorter / after.at.since(before.at).as_secs_f64()
        });
        falls.fold(0.0, f64::max)
    }

    /// Queueing delay: minimum of the recent readings, zero before there are enough.
    pub fn queueing(&self) -> Span {
        if !self.is_enough {
            return Span::ZERO;
        }
        let least = self.recent.iter().map(|seen| seen.rtt).min();
        least.map_or(Span::ZERO, |rtt| rtt - self.base())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    #[test]
    fn readings_that_come_late_for_a_moment_are_not_a_queue() {
        let mut delays = Delays::new();
        let mut note = |ticks: u64, millis, packets| {
            let at = Time::ZERO + Span::from_millis(50 * ticks);
            delays.note(at, Span::from_millis(millis), None, packets);
            delays.queueing()
        };
        assert_eq!(note(0, 40, 20.0), Span::ZERO);
        assert_eq!(note(1, 48, 20.0), Span::ZERO);
        assert_eq!(note(2, 43, 20.0), Span::from_millis(3));
        assert_eq!(note(4, 52, 20.0), Span::from_millis(12));
        // A packet at a time, sixteen of them have to be late.
        assert_eq!(note(40, 40, 1.0), Span::ZERO);
        for tick in 41..56 {
            assert_eq!(note(tick, 60, 1.0), Span::ZERO);
        }
        assert_eq!(note(56, 60, 1.0), Span::from_millis(20));
    }

    #[test]
    fn the_first_readings_are_not_believed() {
        let mut delays = Delays::new();
        let mut note = |millis, rtt| {
            delays.note(
                Time::ZERO + Span::from_millis(millis),
                Span::from_millis(rtt),
                Some(Span::from_millis(1)),
                20.0,
            );
            delays.queueing()
        };
        assert_eq!(note(0, 16), Span::ZERO);
        assert_eq!(note(50, 17), Span::ZERO);
        assert_eq!(note(75, 16), Span::from_millis(15));
    }

    #[test]
    fn readings_that_were_late_themselves_are_left_out_for_a_while() {
        let mut delays = Delays::new();
        let ticks = |ticks: u64| Time::ZERO + Span::from_millis(50 * ticks);
        for tick in 0..4 {
            delays.note(ticks(tick), Span::from_millis(40), None, 20.0);
        }
        for tick in 4..9 {
            assert!(delays.can_do_without(ticks(tick)));
        }
        // A host that is always late has no better reading.
        assert!(!delays.can_do_without(ticks(9)));
        assert!(!Delays::new().can_do_without(ticks(1)));
    }

    #[test]
    fn a_queue_that_goes_away_is_told_from_one_that_stays() {
        let falls = |trips: [u64; 4]| {
            let mut delays = Delays::new();
            let empty = Some(Span::from_millis(40));
            for (tick, rtt) in (0..).zip(trips) {
                let at = Time::ZERO + Span::from_millis(25 * tick);
                delays.note(at, Span::from_millis(rtt), empty, 20.0);
            }
            delays.is_falling()
        };
        // The first is forgotten by then; 5 of 8 ms are left, and 6.
        assert!(falls([60, 48, 46, 45]));
        assert!(!falls([60, 48, 47, 46]));
        assert!(!falls([44, 45, 46, 48]));
        assert!(!falls([40, 40, 40, 40]));
    }

    #[test]
    fn what_hosts_add_is_averaged() {
        let mut delays = Delays::new();
        for second in 0..3 {
            delays.note(
                at(second),
                Span::from_millis(42),
                Some(Span::from_millis(40)),
                20.0,
            );
        }
        for _ in 0..320 {
            delays.note_lateness();
        }
        let missing = Span::from_millis(2) - delays.lateness();
        assert!(missing < Span::from_micros(1), "{missing}");
    }

    #[test]
    fn a_base_of_more_than_five_minutes_ago_is_forgotten() {
        let mut delays = Delays::new();
        delays.note(at(10), Span::from_millis(40), None, 1.0);
        for minute in 1..5 {
            delays.note(at(60 * minute), Span::from_millis(50), None, 1.0);
            assert_eq!(delays.base(), Span::from_millis(40));
        }
        delays.note(at(300), Span::from_millis(50), None, 1.0);
        assert_eq!(delays.base(), Span::from_millis(50));
        // After an hour without readings nothing is known.
        delays.note(at(4_000), Span::from_millis(70), None, 1.0);
        assert_eq!(delays.base(), Span::from_millis(70));
    }

    #[test]
    fn the_kernel_has_seen_shorter_ones_than_its_mean() {
        let mut delays = Delays::new();
        for second in 0..2 {
            delays.note(
                at(second),
                Span::from_millis(43),
                Some(Span::from_millis(40)),
                20.0,
            );
        }
        assert_eq!(delays.queueing(), Span::from_millis(3));
    }
}
