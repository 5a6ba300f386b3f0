//! The path's round trip without queues, and how long packets wait in them.

use std::collections::VecDeque;

use units::{Span, Time};

/// Minutes over which the smallest round trip is remembered. The kernel's own minimum lasts five
/// (`tcp_min_rtt_wlen`), which makes the ten of RFC 6817 section 3.4.2 together.
const MINUTES: usize = 5;
/// A queue lasts; hosts that have other things to do hand packets over late for some tens of milliseconds at a time.
const RECENT: Span = Span::from_millis(100);
/// ... and at low rates each packet may find its host asleep: so many are looked at.
const PACKETS: f64 = 16.0;
const MINUTE: Span = Span::from_secs(60);

/// One reading.
#[derive(Debug, Clone, Copy)]
struct Seen {
    at: Time,
    rtt: Span,
    packets: f64,
}

/// What the round trips of the last minutes say.
#[derive(Debug, Clone)]
pub(super) struct Delays {
    /// The smallest of each minute.
    minutes: [Span; MINUTES],
    minute: u64,
    recent: VecDeque<Seen>,
}

impl Delays {
    pub fn new() -> Self {
        Delays {
            minutes: [Span::MAX; MINUTES],
            minute: 0,
            recent: VecDeque::new(),
        }
    }

    /// Takes in the smoothed round trip of a reading, and the smallest that the streams know of.
    pub fn note(&mut self, at: Time, rtt: Span, rtt_min: Option<Span>, packets: f64) {
        self.remember(at, rtt.min(rtt_min.unwrap_or(Span::MAX)));
        self.recent.push_back(Seen { at, rtt, packets });
        while self.is_first_needless(at) {
            self.recent.pop_front();
        }
    }

    /// Whether what came after the oldest reading is recent, and enough.
    fn is_first_needless(&self, now: Time) -> bool {
        let later = self.recent.iter().skip(1);
        let packets: f64 = later.map(|seen| seen.packets).sum();
        let is_old = |seen: &Seen| now.since(seen.at) >= RECENT;
        packets >= PACKETS && self.recent.front().is_some_and(is_old)
    }

    fn remember(&mut self, at: Time, smallest: Span) {
        let minute = at.as_nanos() / MINUTE.as_nanos();
        // Those that were passed over without a reading know nothing.
        let passed = minute.saturating_sub(self.minute).min(MINUTES as u64);
        for each in 0..passed {
            self.minutes[((minute - each) % MINUTES as u64) as usize] = Span::MAX;
        }
        self.minute = self.minute.max(minute);
        let place = &mut self.minutes[(self.minute % MINUTES as u64) as usize];
        *place = (*place).min(smallest);
    }

    /// The round trip of the empty path; [`Span::MAX`] before the first reading.
    pub fn base(&self) -> Span {
        self.minutes.into_iter().min().unwrap_or(Span::MAX)
    }

    /// The round trip of the last reading.
    pub fn last(&self) -> Option<Span> {
        self.recent.back().map(|seen| seen.rtt)
    }

    /// How long packets wait: the least of the last readings; zero before the first.
    pub fn queueing(&self) -> Span {
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
    fn a_base_of_more_than_five_minutes_ago_is_forgotten() {
        let mut delays = Delays::new();
        delays.note(at(10), Span::from_millis(40), None, 1.0);
        for minute in 1..5 {
            delays.note(at(60 * minute), Span::from_millis(50), None, 1.0);
            assert_eq!(delays.base(), Span::from_millis(40));
        }
        delays.note(at(300), Span::from_millis(50), None, 1.0);
        assert_eq!(delays.base(), Span::from_millis(50));
        // A copy that stood still for an hour knows nothing.
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
                1.0,
            );
        }
        assert_eq!(delays.queueing(), Span::from_millis(3));
    }
}
