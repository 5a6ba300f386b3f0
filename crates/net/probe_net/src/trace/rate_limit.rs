//! Rounds at the rate at which routers answer them.

use units::{Span, Time};

/// A Linux router tells one host of one lost packet a second after a burst of six: `icmp_ratelimit`
/// of icmp(7), whose bucket holds six. One stays in reserve for what others on this host ask.
const BURST: u64 = 5;
const PERIOD: Span = Span::from_secs(1);

/// What all traces to one far end have asked of the routers so far.
///
/// Without it, the third trace in a row would show losses that are the routers' thrift.
#[derive(Debug, Default)]
pub(super) struct RateLimit {
    /// When the bucket would be full again.
    full_at: Time,
}

impl RateLimit {
    /// Takes `answers` from each router for a round that is to begin at `now`; when it may begin.
    pub(super) fn take(&mut self, answers: u64, now: Time) -> Time {
        let room = PERIOD.times(BURST.saturating_sub(answers));
        let begin = now.max(self.full_at - room);
        self.full_at = self.full_at.max(begin) + PERIOD.times(answers);
        begin
    }

    /// All that routers had to give by `now` was taken.
    pub(super) fn empty(&mut self, now: Time) {
        self.full_at = self.full_at.max(now + PERIOD.times(BURST));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn five_rounds_go_at_once_and_the_next_one_a_second() {
        let mut rate_limit = RateLimit::default();
        let now = at(100);
        let begun: Vec<Time> = (0..7).map(|_| rate_limit.take(1, now)).collect();
        assert_eq!(begun[..5], [now; 5]);
        assert_eq!(begun[5..], [at(1_100), at(2_100)]);
    }

    #[test]
    fn a_pause_fills_the_bucket_but_no_further() {
        let mut rate_limit = RateLimit::default();
        for _ in 0..5 {
            rate_limit.take(1, at(0));
        }
        let later = at(60_000);
        let begun: Vec<Time> = (0..6).map(|_| rate_limit.take(1, later)).collect();
        assert_eq!(begun[..5], [later; 5]);
        assert_eq!(begun[5], at(61_000));
    }

    #[test]
    fn after_a_flood_of_probes_a_round_waits() {
        let mut rate_limit = RateLimit::default();
        rate_limit.empty(at(2_000));
        assert_eq!(rate_limit.take(1, at(2_000)), at(3_000));
    }

    #[test]
    fn a_costly_round_leaves_less_for_the_next() {
        let mut rate_limit = RateLimit::default();
        assert_eq!(rate_limit.take(4, at(0)), at(0));
        assert_eq!(rate_limit.take(1, at(0)), at(0));
        assert_eq!(rate_limit.take(1, at(0)), at(1_000));
    }
}
