//! The path's round trip without queues, and how long packets wait in them.

use units::{Span, Time};

/// Minutes over which the smallest round trip is remembered. The kernel's own minimum lasts five
/// (`tcp_min_rtt_wlen`), which makes the ten of RFC 6817 section 3.4.2 together.
const MINUTES: usize = 5;
const MINUTE: Span = Span::from_secs(60);

/// What the round trips of the last minutes say.
#[derive(Debug, Clone)]
pub(super) struct Delays {
    /// The smallest of each minute.
    minutes: [Span; MINUTES],
    minute: u64,
    last: Option<Span>,
    /// The smaller one of the last two readings: one that comes late by itself is the host's doing.
    queueing: Option<Span>,
}

impl Delays {
    pub const fn new() -> Self {
        Delays {
            minutes: [Span::MAX; MINUTES],
            minute: 0,
            last: None,
            queueing: None,
        }
    }

    /// Takes in the smoothed round trip of a reading, and the smallest that the streams know of.
    pub fn note(&mut self, at: Time, rtt: Span, rtt_min: Option<Span>) {
        self.remember(at, rtt.min(rtt_min.unwrap_or(Span::MAX)));
        let smaller = rtt.min(self.last.unwrap_or(Span::MAX));
        self.last = Some(rtt);
        self.queueing = Some(smaller - self.base());
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
        self.last
    }

    /// How long packets wait; zero before the first reading.
    pub fn queueing(&self) -> Span {
        self.queueing.unwrap_or(Span::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    #[test]
    fn one_late_reading_is_not_a_queue_and_two_are() {
        let mut delays = Delays::new();
        for (second, millis) in [(0, 40), (1, 40), (2, 55)] {
            delays.note(at(second), Span::from_millis(millis), None);
        }
        assert_eq!(delays.queueing(), Span::ZERO);
        delays.note(at(3), Span::from_millis(52), None);
        assert_eq!(delays.queueing(), Span::from_millis(12));
    }

    #[test]
    fn a_base_of_more_than_five_minutes_ago_is_forgotten() {
        let mut delays = Delays::new();
        delays.note(at(10), Span::from_millis(40), None);
        for minute in 1..5 {
            delays.note(at(60 * minute), Span::from_millis(50), None);
            assert_eq!(delays.base(), Span::from_millis(40));
        }
        delays.note(at(300), Span::from_millis(50), None);
        assert_eq!(delays.base(), Span::from_millis(50));
        // A copy that stood still for an hour knows nothing.
        delays.note(at(4_000), Span::from_millis(70), None);
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
            );
        }
        assert_eq!(delays.queueing(), Span::from_millis(3));
    }
}
