//! Rate of a copy from what its streams delivered, and its readings over time.

use std::collections::{BTreeMap, VecDeque};

use copy_protocol::Reading;
use units::{Bytes, Rate, Span, Time};

/// The rate is that of the last three seconds: acknowledgements come in bursts of a round trip.
/// What the kernel has delivered never exceeds the link; whole pieces, which many streams end at
/// once, do.
const OVER: Span = Span::from_secs(3);
/// When there are so many readings, every other one goes: half an hour of them, or days with longer
/// steps.
const READINGS_MAX: usize = 3_600;

/// The rate of streams over the last seconds.
#[derive(Debug, Default)]
pub(super) struct RateWindow {
    delivered: Bytes,
    recent: VecDeque<(Time, Bytes)>,
}

impl RateWindow {
    /// The rate at `at`, when `more` was delivered since it was asked for last.
    pub(super) fn rate(&mut self, at: Time, more: Bytes) -> Rate {
        self.delivered += more;
        self.recent.push_back((at, self.delivered));
        while self.recent.len() > 2
            && self
                .recent
                .get(1)
                .is_some_and(|(then, _)| at.since(*then) >= OVER)
        {
            self.recent.pop_front();
        }
        match self.recent.front() {
            Some((then, before)) if *then < at => {
                Rate::of(self.delivered - *before, at.since(*then))
            }
            _ => Rate::ZERO,
        }
    }
}

/// Readings of one copy.
#[derive(Debug, Default)]
pub(super) struct Readings {
    readings: Vec<Reading>,
    /// Of so many readings one is kept.
    step: u32,
    skipped: u32,
    /// Bytes carried by each number of streams.
    by_streams: BTreeMap<u16, u64>,
}

impl Readings {
    /// Keeps a reading.
    pub(super) fn keep(&mut self, reading: Reading) {
        let carried = reading.rate.bits_per_second();
        *self.by_streams.entry(reading.streams).or_default() += carried;
        self.skipped += 1;
        if self.skipped < self.step.max(1) {
            return;
        }
        self.skipped = 0;
        self.readings.push(reading);
        if self.readings.len() >= READINGS_MAX {
            let mut is_odd = false;
            self.readings.retain(|_| {
                is_odd = !is_odd;
                is_odd
            });
            self.step = self.step.max(1) * 2;
        }
    }

    pub(super) fn all(&self) -> &[Reading] {
        &self.readings
    }

    /// The number of streams that carried most.
    pub(super) fn streams_mostly(&self) -> Option<u16> {
        let most = self.by_streams.iter().max_by_key(|(_, bytes)| **bytes)?;
        (*most.1 > 0).then_some(*most.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(streams: u16, rate: Rate) -> Reading {
        Reading {
            at: Time::ZERO,
            rate,
            files: 0,
            streams,
            rtt: None,
            retransmitted_share: None,
            mark_echoed_share: None,
            ecn: None,
            limited_by: None,
            sender: None,
            receiver: None,
        }
    }

    #[test]
    fn the_rate_is_that_of_the_last_seconds() {
        let mut window = RateWindow::default();
        let at = |seconds| Time::ZERO + Span::from_secs(seconds);
        for second in 0..10 {
            window.rate(at(second), Bytes::new(1_000_000));
        }
        // Another 3 MB in the last of the three seconds: 5 MB in 3 s.
        let rate = window.rate(at(10), Bytes::new(3_000_000));
        assert_eq!(rate.bits_per_second(), 40_000_000 / 3);
    }

    #[test]
    fn readings_are_bounded() {
        let mut rates = Readings::default();
        for _ in 0..4 * READINGS_MAX {
            rates.keep(reading(3, Rate::from_bits_per_second(8)));
        }
        assert!(rates.all().len() < READINGS_MAX);
        assert_eq!(rates.streams_mostly(), Some(3));
    }
}
