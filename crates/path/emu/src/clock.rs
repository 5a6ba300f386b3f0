//! The monotonic clock, as the links read it.

use std::time::Instant;

use units::{Span, Time};

/// Time since the emulation began; both directions share one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    began: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Clock {
            began: Instant::now(),
        }
    }

    pub(crate) fn now(&self) -> Time {
        Time::ZERO + Span::from(self.began.elapsed())
    }
}
