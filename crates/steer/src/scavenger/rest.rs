//! After each cut the rate stays where it is for a while, and longer where losses alone tell of others.

use units::{Span, Time};

use super::law;

#[derive(Debug, Clone)]
pub(super) struct Rest {
    /// Since when nobody was felt.
    since: Time,
    /// How long the rate stays where it is then.
    pub length: Span,
}

impl Default for Rest {
    fn default() -> Self {
        Rest {
            since: Time::ZERO,
            length: law::HOLD,
        }
    }
}

impl Rest {
    pub fn begin(&mut self, at: Time) {
        self.since = at;
    }

    /// For how long the rate may have grown by `at`; `None` while it rests.
    pub fn growing(&self, at: Time) -> Option<Span> {
        let free = at.since(self.since);
        (free >= self.length).then(|| free - self.length)
    }

    /// `span` of the time before `at` does not count.
    pub fn leave_out(&mut self, span: Span, at: Time) {
        self.since = at.min(self.since + span);
    }

    pub fn become_longer(&mut self) {
        self.length = law::longer_hold(self.length);
    }

    pub fn become_short(&mut self) {
        self.length = law::HOLD;
    }

    /// Whether losses alone told of somebody the last time.
    pub fn is_long(&self) -> bool {
        self.length > law::HOLD
    }
}
