//! How long a flow had data on the way, and how long its buffers held it back.

use units::{Span, Time};

/// The clocks behind Linux's `tcpi_busy_time`, `tcpi_rwnd_limited` and `tcpi_sndbuf_limited`, the
/// last two as one: a flow knows one bound on what it keeps outstanding.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HeldBack {
    busy: Stopwatch,
    by_buffer: Stopwatch,
}

impl HeldBack {
    /// How the flow stands from `now` on.
    #[inline]
    pub(crate) fn note(&mut self, is_busy: bool, by_buffer: bool, now: Time) {
        self.busy.run(is_busy, now);
        self.by_buffer.run(by_buffer, now);
    }

    /// Time with data on the way, and the part of it that a buffer held the flow back.
    pub(crate) fn until(&self, now: Time) -> (Span, Span) {
        (self.busy.until(now), self.by_buffer.until(now))
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Stopwatch {
    before: Span,
    since: Option<Time>,
}

impl Stopwatch {
    #[inline]
    fn run(&mut self, on: bool, now: Time) {
        if on != self.since.is_some() {
            self.before = self.until(now);
            self.since = on.then_some(now);
        }
    }

    fn until(&self, now: Time) -> Span {
        self.before + self.since.map_or(Span::ZERO, |since| now.since(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_counts_while_a_clock_runs() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut held = HeldBack::default();
        held.note(true, false, at(10));
        held.note(true, true, at(30));
        held.note(true, true, at(40));
        assert_eq!(
            held.until(at(50)),
            (Span::from_millis(40), Span::from_millis(20))
        );
        held.note(false, false, at(60));
        assert_eq!(
            held.until(at(1_000)),
            (Span::from_millis(50), Span::from_millis(30))
        );
    }
}
