//! What BBR knows of its path: the rate, the delay, and whether it is full.

use units::{Span, Time};

use super::delivery::Delivery;
use super::filter::MaxFilter;
use crate::control::Acked;

/// Section 4.1.1.3: rounds over which the highest rate counts.
const BANDWIDTH_ROUNDS: u32 = 10;
/// Section 4.1.2.1: how long the shortest round trip counts.
const ROUND_TRIP_TIME: Span = Span::from_secs(10);
/// Section 4.3.2.1: the path is full when three rounds did not raise the rate by a quarter.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;

/// Rate, delay and rounds.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) delivery: Delivery,
    /// Segments a second.
    bandwidth: MaxFilter,
    round_trip_min: Span,
    round_trip_min_at: Time,
    rounds: u32,
    /// The round ends when a segment is acknowledged that was sent with this many delivered.
    round_end: u64,
    full_bandwidth: f64,
    full_rounds: u32,
}

impl Model {
    pub(super) fn new() -> Self {
        Model {
            delivery: Delivery::default(),
            bandwidth: MaxFilter::new(BANDWIDTH_ROUNDS),
            round_trip_min: Span::MAX,
            round_trip_min_at: Time::ZERO,
            rounds: 0,
            round_end: 0,
            full_bandwidth: 0.0,
            full_rounds: 0,
        }
    }

    pub(super) fn on_connected(&mut self, round_trip: Span, now: Time) {
        (self.round_trip_min, self.round_trip_min_at) = (round_trip, now);
    }

    /// Sections 4.1.1 and 4.3.2.1. A sample of a sender that held back counts only when it is
    /// larger than what was known.
    pub(super) fn on_ack(&mut self, acked: &Acked) {
        let Some(sample) = self.delivery.take_sample(acked.round_trip_min) else {
            return;
        };
        let starts = sample.prior_delivered >= self.round_end;
        if starts {
            self.round_end = self.delivery.delivered();
            self.rounds += 1;
        }
        if !sample.limited || sample.rate >= self.bandwidth() {
            self.bandwidth.note(self.rounds, sample.rate);
        }
        if starts && !sample.limited {
            self.judge_fullness();
        }
    }

    fn judge_fullness(&mut self) {
        if self.is_full() {
            return;
        }
        if self.bandwidth() >= self.full_bandwidth * FULL_GROWTH {
            (self.full_bandwidth, self.full_rounds) = (self.bandwidth(), 0);
        } else {
            self.full_rounds += 1;
        }
    }

    /// Whether the path was found full.
    pub(super) fn is_full(&self) -> bool {
        self.full_rounds >= FULL_ROUNDS
    }

    /// A timeout: until the path was found full, the search for it begins again.
    pub(super) fn on_timeout(&mut self) {
        self.full_bandwidth = 0.0;
        self.round_end = self.delivery.delivered();
    }

    /// Ends the round here; tells the number of the one after the next acknowledgements of what is
    /// on the way now.
    pub(super) fn begin_round(&mut self) -> u32 {
        self.round_end = self.delivery.delivered();
        self.rounds + 1
    }

    /// Rounds so far.
    pub(super) fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Section 4.1.2: whether the shortest round trip is too old. A new one takes its place then,
    /// whatever it is.
    pub(super) fn note_round_trip(&mut self, acked: &Acked) -> bool {
        let expired = acked.now > self.round_trip_min_at + ROUND_TRIP_TIME;
        if let Some(sample) = acked.round_trip
            && (sample <= self.round_trip_min || expired)
        {
            self.on_connected(sample, acked.now);
        }
        expired
    }

    /// The shortest round trip was measured with nothing in the way.
    pub(super) fn round_trip_is_fresh(&mut self, now: Time) {
        self.round_trip_min_at = now;
    }

    pub(super) fn round_trip_min(&self) -> Span {
        self.round_trip_min
    }

    /// Segments a second.
    pub(super) fn bandwidth(&self) -> f64 {
        self.bandwidth.max()
    }

    /// Segments delivered so far.
    pub(super) fn delivered(&self) -> f64 {
        self.delivery.delivered() as f64
    }

    /// What the path holds, in segments; `None` before anything was measured.
    pub(super) fn product(&self) -> Option<f64> {
        let known = self.bandwidth() > 0.0;
        known.then(|| self.bandwidth() * self.round_trip_min.as_secs_f64())
    }
}

#[cfg(test)]
impl Model {
    /// Sets the rate, in segments a second.
    pub(super) fn bandwidth_is(&mut self, rate: f64) {
        self.bandwidth = MaxFilter::new(BANDWIDTH_ROUNDS);
        self.bandwidth.note(self.rounds, rate);
    }
}
