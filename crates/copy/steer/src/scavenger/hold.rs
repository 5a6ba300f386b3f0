//! The hold after each cut: the rate stays for a while, longer where only losses reveal cross
//! traffic.

use units::{Span, Time};

use super::law;

/// The time in which the rate does not grow.
#[derive(Debug, Clone)]
pub(super) struct Hold {
    /// The last congestion signal.
    since: Time,
    /// How long the rate stays after that.
    pub length: Span,
}

impl Default for Hold {
    fn default() -> Self {
        Hold {
            since: Time::ZERO,
            length: law::HOLD,
        }
    }
}

impl Hold {
    /// A congestion signal at `at`.
    pub fn begin(&mut self, at: Time) {
        self.since = at;
    }

    /// For how long the rate has been allowed to grow at `at`; `None` during the hold.
    pub fn growing(&self, at: Time) -> Option<Span> {
        let free = at.since(self.since);
        (free >= self.length).then(|| free - self.length)
    }

    /// Does not count `span` of the time before `at`.
    pub fn leave_out(&mut self, span: Span, at: Time) {
        self.since = at.min(self.since + span);
    }

    /// Doubles the next hold, up to a bound.
    pub fn lengthen(&mut self) {
        self.length = law::longer_hold(self.length);
    }

    /// Makes the next hold the shortest one.
    pub fn reset(&mut self) {
        self.length = law::HOLD;
    }

    /// Whether the last congestion signal was losses alone.
    pub fn is_long(&self) -> bool {
        self.length > law::HOLD
    }
}
