//! Leaving slow start before the queue overflows (Ha, Rhee 2011), with the numbers that Linux uses.

use units::{Span, Time};

use super::Acked;

/// Smaller windows are left alone.
const WINDOW_LOW: f64 = 16.0;
/// Acknowledgements closer than this belong to one train.
const TRAIN_GAP: Span = Span::from_millis(2);
/// Round trips looked at in each round.
const SAMPLES: u32 = 8;
const DELAY_MIN: Span = Span::from_millis(4);
const DELAY_MAX: Span = Span::from_millis(16);

/// Watches the length of acknowledgement trains and the growth of the round trip.
#[derive(Debug, Clone)]
pub(crate) struct HyStart {
    round_end: u32,
    round_start: Time,
    last_ack: Time,
    samples: u32,
    /// The smallest round trip of this round.
    current: Span,
}

impl HyStart {
    pub(crate) const fn new() -> Self {
        HyStart {
            round_end: 0,
            round_start: Time::ZERO,
            last_ack: Time::ZERO,
            samples: 0,
            current: Span::MAX,
        }
    }

    /// Whether slow start should end at this acknowledgement.
    pub(crate) fn says_leave(&mut self, window: f64, acked: &Acked) -> bool {
        if acked.una > self.round_end {
            self.begin_round(acked);
        }
        let trained = self.train_is_long(acked);
        let delayed = self.queue_has_grown(acked);
        window >= WINDOW_LOW && (trained || delayed)
    }

    fn begin_round(&mut self, acked: &Acked) {
        *self = HyStart {
            round_end: acked.next,
            round_start: acked.now,
            last_ack: acked.now,
            ..HyStart::new()
        };
    }

    /// Acknowledgements without a gap for half the smallest round trip: the pipe is half full, and
    /// will be full when what is sent now arrives.
    fn train_is_long(&mut self, acked: &Acked) -> bool {
        if acked.now.since(self.last_ack) > TRAIN_GAP {
            return false;
        }
        self.last_ack = acked.now;
        acked.now.since(self.round_start).as_nanos() > acked.round_trip_min.as_nanos() / 2
    }

    fn queue_has_grown(&mut self, acked: &Acked) -> bool {
        let Some(sample) = acked.round_trip else {
            return false;
        };
        self.current = self.current.min(sample);
        self.samples += 1;
        let eighth = Span::from_nanos(acked.round_trip_min.as_nanos() / 8);
        let allowed = eighth.max(DELAY_MIN).min(DELAY_MAX);
        self.samples > SAMPLES && self.current > acked.round_trip_min + allowed
    }
}
