//! The end of a visit's time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use observe::RunObserver;
use units::Span;

/// Ends a visit when its time is over, or when the agent is to end.
pub(crate) struct Deadline<'a> {
    stop: &'a AtomicBool,
    /// `None` in virtual time, which takes as long as it takes.
    end: Option<Instant>,
}

impl<'a> Deadline<'a> {
    /// In so long from now.
    pub fn after(span: Span, stop: &'a AtomicBool) -> Self {
        let end = Instant::now().checked_add(Duration::from(span));
        Deadline { stop, end }
    }

    /// For a visit in virtual time.
    pub fn never(stop: &'a AtomicBool) -> Self {
        Deadline { stop, end: None }
    }

    /// What is left of the time; `None` in virtual time.
    pub fn left(&self) -> Option<Span> {
        let end = self.end?;
        Some(Span::from(end.saturating_duration_since(Instant::now())))
    }

    /// Whether the time is over.
    pub fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// Whether the visit has to end.
    pub fn has_to_end(&self) -> bool {
        self.is_over() || self.stop.load(Ordering::Relaxed)
    }
}

impl RunObserver for Deadline<'_> {
    fn is_cancelled(&self) -> bool {
        self.has_to_end()
    }
}

impl tune::SampleObserver for Deadline<'_> {}

impl probing::PartObserver for Deadline<'_> {}
