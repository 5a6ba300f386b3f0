//! The monotonic clock as the state machines count it.

use std::time::{Duration, Instant};

use units::{Span, Time};

/// Counts from a moment of its own.
#[derive(Debug, Clone, Copy)]
pub struct Clock(Instant);

impl Clock {
    /// A clock that reads zero now.
    pub fn start() -> Self {
        Clock(Instant::now())
    }

    /// The time since then.
    pub fn now(self) -> Time {
        Time::ZERO + Span::from(self.0.elapsed())
    }

    /// How long from now until `at`; zero when that has passed.
    pub fn until(self, at: Time) -> Duration {
        at.since(self.now()).into()
    }
}
