//! The largest value of the last steps, and the smallest of the last time.

use units::{Span, Time};

/// The largest of the values of the last `LENGTH` steps, the present one among them.
#[derive(Debug, Clone)]
pub(crate) struct Maximum<const LENGTH: usize> {
    steps: [f64; LENGTH],
}

impl<const LENGTH: usize> Maximum<LENGTH> {
    pub(crate) fn new() -> Self {
        Maximum {
            steps: [0.0; LENGTH],
        }
    }

    pub(crate) fn add(&mut self, value: f64) {
        if let Some(now) = self.steps.last_mut() {
            *now = now.max(value);
        }
    }

    /// The next step begins; the oldest is forgotten.
    pub(crate) fn advance(&mut self) {
        self.steps.rotate_left(1);
        if let Some(now) = self.steps.last_mut() {
            *now = 0.0;
        }
    }

    /// Zero where nothing was added.
    pub(crate) fn value(&self) -> f64 {
        self.steps.iter().copied().fold(0.0, f64::max)
    }
}

/// The smallest value, until it is older than a time that the caller names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Minimum {
    value: Option<Span>,
    at: Time,
}

impl Minimum {
    pub(crate) fn new(now: Time) -> Self {
        Minimum {
            value: None,
            at: now,
        }
    }

    pub(crate) fn value(&self) -> Option<Span> {
        self.value
    }

    pub(crate) fn is_older(&self, now: Time, age: Span) -> bool {
        now.since(self.at) > age
    }

    /// Takes a value that is no larger.
    pub(crate) fn add(&mut self, now: Time, value: Span) {
        if self.value.is_none_or(|smallest| value <= smallest) {
            self.replace(now, value);
        }
    }

    pub(crate) fn replace(&mut self, now: Time, value: Span) {
        (self.value, self.at) = (Some(value), now);
    }

    /// The present value counts as new.
    pub(crate) fn renew(&mut self, now: Time) {
        self.at = now;
    }
}
