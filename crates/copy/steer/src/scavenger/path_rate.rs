//! Delivery rates of the path, now and at earlier congestion signals, in bit/s.

use units::{Span, Time};

use super::law;
use super::readings::Interval;

/// Delivery rates in bit/s.
#[derive(Debug, Clone)]
pub(super) struct PathRate {
    /// Delivery rate, smoothed over about a round.
    pub now: f64,
    /// Highest delivery rate of the last minutes.
    pub level: f64,
    /// Delivery rate at the last congestion signal; infinite if that was certainly cross traffic.
    pub ceiling: f64,
    /// `level` at the last congestion signal of any cause.
    pub end: f64,
    /// Deliveries until then were sent during a slowdown and do not count.
    slowed_until: Time,
}

impl Default for PathRate {
    fn default() -> Self {
        PathRate {
            now: 0.0,
            level: 0.0,
            ceiling: f64::INFINITY,
            end: f64::INFINITY,
            slowed_until: Time::ZERO,
        }
    }
}

impl PathRate {
    /// Takes the deliveries of an interval, where a round takes `round`.
    pub fn note(&mut self, at: Time, seen: &Interval, round: Span) {
        let over = round.max(law::SMOOTHED);
        let share = seen.length.as_secs_f64() / over.as_secs_f64();
        if at >= self.slowed_until {
            self.now += (seen.rate() - self.now) * share.min(1.0);
        }
        self.level = self.now.max(self.level * law::level_kept(seen.length));
    }

    /// A slowdown shows in deliveries until `until`.
    pub fn slow_down_until(&mut self, until: Time) {
        self.slowed_until = until;
    }

    /// Congestion at `rate` that may be the end of the path: the delivery rate is the ceiling.
    pub fn set_ceiling(&mut self, rate: f64) {
        self.ceiling = rate.min(self.now);
    }

    /// Congestion by cross traffic: the ceiling is unknown.
    pub fn clear_ceiling(&mut self) {
        self.ceiling = f64::INFINITY;
    }

    /// The rate was cut.
    pub fn on_cut(&mut self) {
        self.end = self.level;
    }

    /// Whether `rate` is near or above what the path is known to carry.
    pub fn is_probed(&self, rate: f64) -> bool {
        rate >= law::PROBING * self.ceiling.min(self.level)
    }

    /// Whether the delivery rate is nearly the highest of the last minutes.
    pub fn is_near_end(&self) -> bool {
        self.now > law::REACHED_END * self.level
    }

    /// The next rate after `rate`: `large`, or `small` where `large` passes an earlier congestion
    /// signal.
    pub fn step(&self, rate: f64, small: f64, large: f64) -> f64 {
        let careful = [self.ceiling, self.end]
            .into_iter()
            .find(|end| large > law::NEAR * end && rate < law::BEYOND * end);
        careful.map_or(large, |end| small.max(law::NEAR * end))
    }
}
