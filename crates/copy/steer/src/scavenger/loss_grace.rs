//! When losses and delays say nothing about cross traffic.
//!
//! A cut takes a round trip to show, and losses that the copy caused itself go on for some rounds.

use units::{Span, Time};

/// Rounds of own losses: one in which they happen, two in which the repeats show.
const ROUNDS: u64 = 3;

/// Until when congestion signals are not held against cross traffic.
#[derive(Debug, Clone, Default)]
pub(super) struct LossGrace {
    /// The last cut shows from then on.
    cut_unseen_until: Time,
    /// Losses until then are the copy's own: a step too far, or streams that begin.
    own_until: Time,
}

impl LossGrace {
    /// The copy cut its rate, which shows from `shows_at` on.
    pub fn on_cut(&mut self, shows_at: Time) {
        self.cut_unseen_until = shows_at;
    }

    /// The copy itself caused losses at `at`; two more rounds of length `round` go into repeats.
    pub fn on_own_loss(&mut self, at: Time, round: Span) {
        self.own_until = at + round.times(ROUNDS);
    }

    /// Whether the last cut cannot have shown by `at`.
    pub fn is_cut_unseen(&self, at: Time) -> bool {
        at < self.cut_unseen_until
    }

    /// Whether losses at `at` are ignored.
    pub fn covers(&self, at: Time) -> bool {
        at < self.cut_unseen_until.max(self.own_until)
    }
}
