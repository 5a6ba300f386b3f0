//! Which losses and delays say nothing of others: what a cut has not yet ended, and what the copy itself has caused.

use units::{Span, Time};

/// Rounds in which what was lost in one of them is sent again, and what that costs shows.
const ROUNDS: u64 = 3;

#[derive(Debug, Clone, Default)]
pub(super) struct Excuse {
    /// Until then the last cut cannot be felt.
    deaf_until: Time,
    /// Until then, what is lost is the copy's own doing: a step too far, or streams that begin.
    own_until: Time,
}

impl Excuse {
    /// The copy cuts its rate, and feels that from `deaf_until` on.
    pub fn on_cut(&mut self, deaf_until: Time) {
        self.deaf_until = deaf_until;
    }

    /// What was lost by `at`, and what that costs over two more rounds while it is sent again, is the copy's own doing.
    pub fn own(&mut self, at: Time, round: Span) {
        self.own_until = at + round.times(ROUNDS);
    }

    pub fn is_deaf(&self, at: Time) -> bool {
        at < self.deaf_until
    }

    pub fn covers(&self, at: Time) -> bool {
        at < self.deaf_until.max(self.own_until)
    }
}
