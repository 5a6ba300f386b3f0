//! What the path carried, now and before: rates in bits per second.

use units::{Span, Time};

use super::intake::Interval;
use super::law;

#[derive(Debug, Clone)]
pub(super) struct Carried {
    /// What arrives, smoothed over about a round.
    pub now: f64,
    /// The most that arrived in the last minutes.
    pub level: f64,
    /// What arrived when the end of the path was felt the last time, or somebody who may as well have been it; infinite after somebody
    /// who was not.
    pub ceiling: f64,
    /// What `level` was when somebody, or the end of the path, was felt the last time.
    pub end: f64,
    /// Until then, what arrives is what was sent during a slowdown.
    slowed_until: Time,
}

impl Default for Carried {
    fn default() -> Self {
        Carried {
            now: 0.0,
            level: 0.0,
            ceiling: f64::INFINITY,
            end: f64::INFINITY,
            slowed_until: Time::ZERO,
        }
    }
}

impl Carried {
    /// Takes in what arrived, where a round takes `round`.
    pub fn note(&mut self, at: Time, seen: &Interval, round: Span) {
        let over = round.max(law::SMOOTHED);
        let share = seen.length.as_secs_f64() / over.as_secs_f64();
        if at >= self.slowed_until {
            self.now += (seen.rate() - self.now) * share.min(1.0);
        }
        self.level = self.now.max(self.level * law::level_kept(seen.length));
    }

    pub fn slows_down(&mut self, until: Time) {
        self.slowed_until = until;
    }

    /// The path may end here: at what arrives of `rate`.
    pub fn may_end(&mut self, rate: f64) {
        self.ceiling = rate.min(self.now);
    }

    /// What was felt is somebody else.
    pub fn has_others(&mut self) {
        self.ceiling = f64::INFINITY;
    }

    /// Less is sent from now on.
    pub fn on_cut(&mut self) {
        self.end = self.level;
    }

    /// Whether `rate` is more than the path is known to carry, or nearly.
    pub fn is_probed(&self, rate: f64) -> bool {
        rate >= law::PROBING * self.ceiling.min(self.level)
    }

    /// Whether what arrives is nearly all that the path carries.
    pub fn is_near_end(&self) -> bool {
        self.now > law::REACHED_END * self.level
    }

    /// A step from `small` less to `large`, or where that passes what ended growth before, a smaller one.
    pub fn step(&self, rate: f64, small: f64, large: f64) -> f64 {
        let careful = [self.ceiling, self.end]
            .into_iter()
            .find(|end| large > law::NEAR * end && rate < law::BEYOND * end);
        careful.map_or(large, |end| small.max(law::NEAR * end))
    }
}
