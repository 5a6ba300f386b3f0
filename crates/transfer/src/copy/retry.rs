//! Pauses between tries to reach a lost far end, and when to give up.

use std::time::{Duration, Instant};

use units::Span;

/// First pause before another try; each is twice the one before.
const PAUSE_MIN: Duration = Duration::from_millis(250);
/// Longest pause: a network that is back is noticed soon.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Tries that follow each other.
#[derive(Debug)]
pub(super) struct RetryTimer {
    most: Duration,
    pause: Duration,
    last_seen: Option<Instant>,
}

impl RetryTimer {
    /// * `most`: for so long the far end may be gone.
    pub(super) fn new(most: Span) -> Self {
        RetryTimer {
            most: most.into(),
            pause: PAUSE_MIN,
            last_seen: None,
        }
    }

    /// The pause before the next try, or `None` to give up. `seen`: when the far end was there
    /// last.
    pub(super) fn pause(&mut self, seen: Option<Instant>, now: Instant) -> Option<Duration> {
        if seen != self.last_seen {
            self.last_seen = seen;
            self.pause = PAUSE_MIN;
        }
        let gone = now.saturating_duration_since(seen?);
        if gone >= self.most {
            return None;
        }
        let pause = self.pause;
        self.pause = (pause * 2).min(PAUSE_MAX);
        Some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end_with_the_patience() {
        let mut retry = RetryTimer::new(Span::from_secs(60));
        let seen = Instant::now();
        let after = |seconds| seen + Duration::from_secs(seconds);
        let first = retry.pause(Some(seen), after(1)).unwrap();
        let second = retry.pause(Some(seen), after(2)).unwrap();
        assert_eq!(second, first * 2);
        for _ in 0..10 {
            retry.pause(Some(seen), after(3));
        }
        assert_eq!(retry.pause(Some(seen), after(4)), Some(PAUSE_MAX));
        assert_eq!(retry.pause(Some(seen), after(60)), None);
        // It was there again meanwhile.
        assert_eq!(retry.pause(Some(after(70)), after(71)), Some(first));
        assert_eq!(retry.pause(None, after(1)), None);
    }
}
