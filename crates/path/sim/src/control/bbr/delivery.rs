//! Delivery rate (draft-cheng-iccrg-delivery-rate-estimation-00).
//!
//! All data is there from the beginning, so no sample is limited by the application (section 3.4).
//! Those taken while BBR itself keeps next to nothing on the way are marked in the same way, as its
//! draft asks for (section 4.3.5): they say little about the path.

use units::{Span, Time};

/// What is kept of each segment on the way (section 3.1.2), in a ring that grows to the widest
/// window and then stays.
#[derive(Debug, Clone, Default)]
pub(crate) struct Delivery {
    /// Segments delivered so far.
    delivered: u64,
    delivered_at: Time,
    /// When the segment was sent that was delivered last, or the first of a new flight.
    first_sent: Time,
    /// Samples are limited until this many segments are delivered.
    limited_until: u64,
    ring: Vec<Sent>,
    /// The latest sent of the segments that the acknowledgement at hand delivered.
    latest: Option<Sent>,
}

/// A segment on the way, and how things stood when it was sent.
#[derive(Debug, Clone, Copy, Default)]
struct Sent {
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    at: Time,
    limited: bool,
    waits: bool,
}

/// What one acknowledgement says (section 3.1.3).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RateSample {
    /// Segments that were delivered when the newest one it covers was sent.
    pub prior_delivered: u64,
    /// Segments a second.
    pub rate: f64,
    /// The sender held back, so the path may carry more.
    pub limited: bool,
}

impl Delivery {
    /// Segments delivered so far.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Section 3.2: a segment is sent; `una` is the first one not acknowledged, and `first` tells
    /// that nothing else is on the way.
    pub(crate) fn on_sent(&mut self, number: u32, una: u32, first: bool, now: Time) {
        if first {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        self.reserve(una, number);
        let place = self.place(number);
        self.ring[place] = Sent {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            at: now,
            limited: self.delivered < self.limited_until,
            waits: true,
        };
    }

    /// The sender holds back, with `pipe` segments on the way: samples of what it sends until those
    /// are delivered are limited.
    pub(crate) fn hold_back(&mut self, pipe: u32) {
        self.limited_until = (self.delivered + u64::from(pipe)).max(1);
    }

    fn place(&self, number: u32) -> usize {
        number as usize & (self.ring.len() - 1)
    }

    /// Makes room for segments from `una` up to `number`.
    fn reserve(&mut self, una: u32, number: u32) {
        let needed = (number - una) as usize + 1;
        if needed <= self.ring.len() {
            return;
        }
        let mut ring = vec![Sent::default(); (needed * 2).next_power_of_two()];
        for number in (una..).take(self.ring.len()) {
            let place = number as usize & (ring.len() - 1);
            ring[place] = self.ring[self.place(number)];
        }
        self.ring = ring;
    }

    /// Section 3.3: a segment is acknowledged, in order or not. Once is enough.
    #[inline]
    pub(crate) fn on_delivered(&mut self, number: u32, now: Time) {
        if self.ring.is_empty() {
            return;
        }
        let place = self.place(number);
        let sent = self.ring[place];
        if !sent.waits {
            return;
        }
        self.ring[place].waits = false;
        self.delivered += 1;
        self.delivered_at = now;
        let is_later = |latest: &Sent| (sent.delivered, sent.at) >= (latest.delivered, latest.at);
        if self.latest.as_ref().is_none_or(is_later) {
            self.latest = Some(sent);
            self.first_sent = sent.at;
        }
    }

    /// What the acknowledgement says that was just taken in. `None` when it delivered nothing, or
    /// in less than a round trip, which no path does: then what arrived before was repaired late.
    pub(crate) fn take_sample(&mut self, round_trip_min: Span) -> Option<RateSample> {
        let sent = self.latest.take()?;
        let sending = sent.at.since(sent.first_sent);
        let arriving = self.delivered_at.since(sent.delivered_at);
        let interval = sending.max(arriving);
        (interval >= round_trip_min && interval > Span::ZERO).then(|| RateSample {
            prior_delivered: sent.delivered,
            rate: (self.delivered - sent.delivered) as f64 / interval.as_secs_f64(),
            limited: sent.limited,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    const RTT: Span = Span::from_millis(100);

    /// Ten segments sent at once at 0 ms, acknowledged from 100 ms on, one each 10 ms.
    fn first_flight() -> Delivery {
        let mut delivery = Delivery::default();
        for number in 0..10 {
            delivery.on_sent(number, 0, number == 0, at(0));
        }
        delivery
    }

    #[test]
    fn a_flight_that_leaves_at_once_is_measured_by_its_acknowledgements() {
        let mut delivery = first_flight();
        for number in 0..10 {
            delivery.on_delivered(number, at(100 + 10 * u64::from(number)));
            let sample = delivery.take_sample(RTT).unwrap();
            // n segments in 100 + 10 (n - 1) ms.
            let count = f64::from(number + 1);
            let expected = count / (0.09 + 0.01 * count);
            assert!((sample.rate - expected).abs() < 1e-9, "{sample:?}");
            assert_eq!(sample.prior_delivered, 0);
        }
    }

    #[test]
    fn acknowledgements_that_come_together_do_not_raise_the_rate() {
        let mut delivery = first_flight();
        delivery.on_delivered(0, at(100));
        delivery.take_sample(RTT);
        // Sent one each 10 ms, acknowledged all at once: the sending took 90 ms, the round trip
        // 100.
        for number in 10..20 {
            delivery.on_sent(number, 1, false, at(100 + 10 * u64::from(number - 10)));
        }
        for number in 1..20 {
            delivery.on_delivered(number, at(300));
        }
        let sample = delivery.take_sample(RTT).unwrap();
        // The latest was sent at 190 ms with one delivered: 19 in the 200 ms since then.
        assert_eq!(sample.prior_delivered, 1);
        assert!((sample.rate - 19.0 / 0.2).abs() < 1e-9, "{sample:?}");
    }

    #[test]
    fn a_segment_counts_once() {
        let mut delivery = first_flight();
        delivery.on_delivered(5, at(100));
        delivery.on_delivered(5, at(110));
        assert_eq!(delivery.delivered(), 1);
        delivery.take_sample(RTT);
        assert_eq!(delivery.take_sample(RTT), None);
    }

    #[test]
    fn less_than_a_round_trip_says_nothing() {
        let mut delivery = first_flight();
        delivery.on_delivered(0, at(99));
        assert_eq!(delivery.take_sample(RTT), None);
    }

    #[test]
    fn the_ring_grows_with_the_window_and_forgets_nothing() {
        let mut delivery = first_flight();
        for number in 10..1000 {
            delivery.on_sent(number, 0, false, at(1));
        }
        for number in 0..1000 {
            delivery.on_delivered(number, at(101));
        }
        assert_eq!(delivery.delivered(), 1000);
        let held = delivery.ring.len();
        for number in 1000..100_000 {
            delivery.on_sent(number, number - 500, false, at(200));
        }
        assert_eq!(delivery.ring.len(), held);
    }

    #[test]
    fn what_is_sent_while_holding_back_is_marked() {
        let mut delivery = first_flight();
        delivery.hold_back(10);
        delivery.on_delivered(0, at(100));
        delivery.on_sent(10, 1, false, at(100));
        assert!(!delivery.take_sample(RTT).unwrap().limited);
        (1..11).for_each(|number| delivery.on_delivered(number, at(200)));
        assert!(delivery.take_sample(RTT).unwrap().limited);
        delivery.on_sent(11, 11, true, at(200));
        delivery.on_delivered(11, at(300));
        assert!(!delivery.take_sample(RTT).unwrap().limited);
    }
}
