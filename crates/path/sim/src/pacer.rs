//! When the next segment may leave.

use units::{Bytes, Rate, Span, Time};

/// What a host hands to its network card at once at most.
const BURST_MAX: Bytes = Bytes::from_kib(64);
/// How much of a second leaves at once.
const BURST_TIME: Span = Span::from_millis(1);
/// Below this rate segments leave one by one, above it at least two at a time.
const PAIRS_FROM: Rate = Rate::from_bits_per_second(1_200_000);

/// How much leaves at once at `rate`: a millisecond's worth, at least two segments (one below
/// 1.2 Mbit/s), at most 64 KiB.
///
/// Source: draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2.2, which is how Linux sizes
/// what it paces. 100 Mbit/s are 12.5 kB a millisecond.
pub(crate) fn burst(rate: Rate, segment: Bytes) -> Bytes {
    let segments = if rate < PAIRS_FROM { 1 } else { 2 };
    rate.bytes_in(BURST_TIME)
        .min(BURST_MAX)
        .max(segment.times(segments))
}

/// Spaces bursts so that they keep a rate.
///
/// A sender that comes late may make up for it, but for no more than half of the next gap, as Linux
/// does (`tcp_update_skb_after_send`).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pacer {
    /// No new burst begins before this.
    next: Time,
    /// What is left of the burst at hand.
    left: Bytes,
}

impl Pacer {
    /// Until when nothing may leave; `None` when something may leave `now`.
    #[inline]
    pub(crate) fn waits(&self, now: Time) -> Option<Time> {
        (self.next > now && self.left == Bytes::ZERO).then_some(self.next)
    }

    /// A segment of `size` leaves at `rate`.
    #[inline]
    pub(crate) fn on_sent(&mut self, size: Bytes, rate: Rate, now: Time) {
        let gap = rate.time_to_send(size);
        if self.next > now {
            self.left = self.left - size;
            self.next += gap;
        } else {
            let late = now.since(self.next).as_nanos();
            self.left = burst(rate, size) - size;
            self.next = now + Span::from_nanos(gap.as_nanos() - late.min(gap.as_nanos() / 2));
        }
        if self.left < size {
            self.left = Bytes::ZERO;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: Bytes = Bytes::new(1500);

    fn mbit(rate: u64) -> Rate {
        Rate::from_bits_per_second(rate * 1_000_000)
    }

    #[test]
    fn a_burst_is_a_millisecond_and_at_least_two_segments() {
        assert_eq!(burst(mbit(100), SEGMENT), Bytes::new(12_500));
        assert_eq!(burst(mbit(10), SEGMENT), Bytes::new(3_000));
        assert_eq!(burst(mbit(1), SEGMENT), SEGMENT);
        assert_eq!(burst(mbit(10_000), SEGMENT), Bytes::from_kib(64));
    }

    #[test]
    fn pairs_leave_at_twice_the_gap() {
        // 12 Mbit/s: a segment takes 1 ms.
        let (mut pacer, mut now, mut sent) =
            (Pacer::default(), Time::from_nanos(10_000_000), vec![]);
        while sent.len() < 6 {
            match pacer.waits(now) {
                Some(until) => now = until,
                None => {
                    pacer.on_sent(SEGMENT, mbit(12), now);
                    sent.push(now.as_nanos() / 100_000);
                }
            }
        }
        // The first burst comes half a gap early, for it was waited for since the beginning.
        assert_eq!(sent, [100, 100, 115, 115, 135, 135]);
    }

    #[test]
    fn what_was_missed_is_not_made_up_for_at_once() {
        let mut pacer = Pacer::default();
        pacer.on_sent(SEGMENT, mbit(1), Time::from_nanos(1));
        let late = Time::ZERO + Span::from_secs(10);
        pacer.on_sent(SEGMENT, mbit(1), late);
        // Half of 12 ms.
        assert_eq!(pacer.waits(late), Some(late + Span::from_millis(6)));
    }
}
