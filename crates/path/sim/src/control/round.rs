//! Round trips, told apart by segment numbers.

use units::Span;

use super::Acked;

/// Finds where one round trip ends and the next begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    end: u32,
    /// The smallest round-trip time of this round.
    least: Span,
}

impl Round {
    pub(crate) const fn new() -> Self {
        Round {
            end: 0,
            least: Span::MAX,
        }
    }

    /// At the end of a round, the smallest round-trip time that it measured. The smallest and not
    /// the mean, because an acknowledgement may have waited at the receiver.
    #[inline]
    pub(crate) fn ends(&mut self, acked: &Acked) -> Option<Span> {
        if let Some(sample) = acked.round_trip {
            self.least = self.least.min(sample);
        }
        if acked.una <= self.end {
            return None;
        }
        let least = self.least;
        *self = Round {
            end: acked.next,
            ..Round::new()
        };
        (least != Span::MAX).then_some(least)
    }
}

/// Of a window's segments those that wait in a queue: `w (1 - base / rtt)`.
pub(crate) fn queued(window: f64, base: Span, round_trip: Span) -> f64 {
    window - carried(window, base, round_trip)
}

/// Of a window's segments those that the path carries without a queue: `w base / rtt`.
pub(crate) fn carried(window: f64, base: Span, round_trip: Span) -> f64 {
    window * base.as_secs_f64() / round_trip.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_ends_when_something_sent_after_its_beginning_is_acknowledged() {
        let mut round = Round::new();
        let ack = |una, next, millis| Acked {
            una,
            next,
            round_trip: Some(Span::from_millis(millis)),
            ..Acked::of(1)
        };
        assert_eq!(round.ends(&ack(1, 10, 50)), Some(Span::from_millis(50)));
        assert_eq!(round.ends(&ack(5, 15, 60)), None);
        assert_eq!(round.ends(&ack(10, 20, 55)), None);
        assert_eq!(round.ends(&ack(11, 21, 58)), Some(Span::from_millis(55)));
    }

    #[test]
    fn a_fifth_of_the_round_trip_queued_is_a_fifth_of_the_window() {
        let (base, now) = (Span::from_millis(40), Span::from_millis(50));
        assert!((queued(20.0, base, now) - 4.0).abs() < 1e-9);
    }
}
