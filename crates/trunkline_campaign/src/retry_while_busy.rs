//! Waits for what may pass: a far end that does not answer, a copy to the same files, a full disk.

use std::thread;
use std::time::{Duration, Instant};

use units::Span;

/// The shortest and the longest pause between two tries. In between it grows with the time since
/// the first.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// How soon a stop is noticed.
const TICK: Duration = Duration::from_millis(100);

/// How long the same is tried again.
pub(super) struct Patience {
    length: Duration,
    since: Option<Instant>,
}

impl Patience {
    /// Counts from the first [`wait`](Patience::wait).
    pub fn new(length: Span) -> Self {
        Patience {
            length: length.into(),
            since: None,
        }
    }

    /// Waits before the next try; `false` when there is to be none.
    pub fn wait(&mut self, is_stopped: impl Fn() -> bool) -> bool {
        let since = self.since.get_or_insert_with(Instant::now).elapsed();
        let Some(left) = self.length.checked_sub(since) else {
            return false;
        };
        let pause = (since / 2).clamp(PAUSE_MIN, PAUSE_MAX).min(left);
        let until = Instant::now() + pause;
        while Instant::now() < until && !is_stopped() {
            thread::sleep(TICK);
        }
        !is_stopped() && !pause.is_zero()
    }
}
