//! The controller of streams over UDP (`rate_control::PathModel`), as `trunkline copy --transport
//! udp` runs it.
//!
//! The controller is the code that sends on live paths; what stands here gives it the segments of
//! this simulator for its packets. What differs: acknowledgements and repairs are TCP's, after two
//! segments and not after ten packets; a repeated segment keeps its number, so that a late
//! acknowledgement of the first one gives too short a round trip; there is always data to send.

use std::collections::VecDeque;

use units::{Bytes, Rate, Time};

use super::{Acked, Facts, Window};

/// Sends at the rate at which the path delivers, and as CUBIC where others fill its queue; losses
/// beside a short queue count where a round loses more than chance explains.
#[derive(Debug, Clone)]
pub(crate) struct PathModel {
    model: rate_control::PathModel,
    segment: Bytes,
    on_the_way: OnTheWay,
}

impl PathModel {
    pub(crate) fn new(facts: &Facts) -> Self {
        PathModel {
            model: rate_control::PathModel::new(Time::ZERO, facts.segment),
            segment: facts.segment,
            on_the_way: OnTheWay::default(),
        }
    }

    pub(crate) fn pacing(&self) -> Rate {
        self.model.pacing_rate()
    }

    /// The model begins with the first data, as over UDP: what connects says nothing of the path.
    pub(crate) fn on_connected(&mut self, window: &mut Window, now: Time) {
        self.model = rate_control::PathModel::new(now, self.segment);
        self.open(window);
    }

    pub(crate) fn on_sent(&mut self, number: u32, una: u32, now: Time) {
        self.on_the_way.add(number, una, now);
        self.model.on_sent(now, self.segment);
    }

    pub(crate) fn on_delivered(&mut self, number: u32, now: Time) {
        if let Some(sent) = self.on_the_way.remove(number) {
            self.model.on_acked(now, sent, self.segment);
        }
    }

    pub(crate) fn on_ack(&mut self, window: &mut Window, acked: &Acked) {
        if acked.lost > 0 {
            self.model.on_lost(self.segment.times(acked.lost.into()));
        }
        let in_flight = self.segment.times(acked.pipe.into());
        self.model.on_acks_end(acked.now, in_flight, false);
        self.open(window);
    }

    /// Of a segment that left after the last mark was answered.
    pub(crate) fn on_mark(&mut self, window: &mut Window, now: Time) {
        self.model.on_marked(now, now);
        self.open(window);
    }

    /// All that was on the way counts as lost.
    pub(crate) fn on_timeout(&mut self) {
        let lost = self.on_the_way.all_lost();
        self.model.on_lost(self.segment.times(lost));
    }

    fn open(&self, window: &mut Window) {
        window.size = self.model.window().as_f64() / self.segment.as_f64();
        window.threshold = 0.0;
    }
}

/// When the segments left that are not acknowledged.
#[derive(Debug, Clone, Default)]
struct OnTheWay {
    first: u32,
    left: VecDeque<Option<Time>>,
}

impl OnTheWay {
    fn add(&mut self, number: u32, una: u32, now: Time) {
        while self.first < una {
            self.first += 1;
            self.left.pop_front();
        }
        let place = (number - self.first) as usize;
        if place >= self.left.len() {
            self.left.resize(place + 1, None);
        }
        self.left[place] = Some(now);
    }

    /// How many were on the way.
    fn all_lost(&mut self) -> u64 {
        let left = self.left.iter_mut();
        left.filter_map(Option::take).count() as u64
    }

    fn remove(&mut self, number: u32) -> Option<Time> {
        let place = number.checked_sub(self.first)?;
        self.left.get_mut(place as usize)?.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_segment_is_delivered_once() {
        let mut on_the_way = OnTheWay::default();
        let at = Time::from_nanos;
        for number in 0..4 {
            on_the_way.add(number, 0, at(u64::from(number)));
        }
        assert_eq!(on_the_way.remove(2), Some(at(2)));
        assert_eq!(on_the_way.remove(2), None);
        // Repeated, with all below it acknowledged.
        on_the_way.add(3, 3, at(9));
        assert_eq!(on_the_way.remove(1), None);
        assert_eq!(on_the_way.remove(3), Some(at(9)));
        assert_eq!(on_the_way.remove(7), None);
    }
}
