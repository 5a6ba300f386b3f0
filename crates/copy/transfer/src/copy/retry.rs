//! Pauses between tries to reach a lost far end, and when to give up.

use std::time::{Duration, Instant};

use copy_protocol::Patience;
use units::Span;

/// First pause before another try; each is twice the one before.
const PAUSE_MIN: Duration = Duration::from_millis(250);
/// Longest pause: a network that is back is noticed soon.
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// How long a copy that was stopped or killed may hold files: an end that hears nothing gives up
/// after 15 s.
const OLDER_MAX: Span = Span::from_secs(20);

/// Tries that follow each other.
#[derive(Debug)]
pub(crate) struct RetryTimer {
    most: Patience,
    began: Instant,
    pause: Duration,
    last_seen: Option<Instant>,
}

impl RetryTimer {
    /// * `most`: for so long the far end may be away.
    /// * `began`: when it was looked for first.
    pub(crate) fn new(most: Patience, began: Instant) -> Self {
        RetryTimer {
            most,
            began,
            pause: PAUSE_MIN,
            last_seen: None,
        }
    }

    /// The pause before the next try, or `None` to give up. `seen`: when the far end was there
    /// last.
    pub(crate) fn pause(&mut self, seen: Option<Instant>, now: Instant) -> Option<Duration> {
        if seen != self.last_seen {
            self.last_seen = seen;
            self.pause = PAUSE_MIN;
        }
        let (since, most) = match seen {
            Some(seen) => (seen, self.most.once_there),
            None => (self.began, self.most.at_first),
        };
        if Span::from(now.saturating_duration_since(since)) >= most {
            return None;
        }
        let pause = self.pause;
        self.pause = (pause * 2).min(PAUSE_MAX);
        Some(pause)
    }
}

/// Tries while another copy has the files.
#[derive(Debug)]
pub(super) struct OlderCopy {
    retry: RetryTimer,
    /// How far this copy was when it found the other, and when.
    since: Option<(u64, Instant)>,
}

impl Default for OlderCopy {
    fn default() -> Self {
        OlderCopy {
            retry: RetryTimer::new(Patience::once_there(OLDER_MAX), Instant::now()),
            since: None,
        }
    }
}

impl OlderCopy {
    /// The pause before the next try, or `None` where it is no copy that ends soon.
    ///
    /// * `steps`: how far this copy is; where it gets on, the wait begins anew.
    pub(super) fn pause(&mut self, steps: u64) -> Option<Duration> {
        let now = Instant::now();
        let since = self.since.filter(|(before, _)| *before == steps);
        let (_, since) = *self.since.insert(since.unwrap_or((steps, now)));
        self.retry.pause(Some(since), now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_gets_on_waits_anew_for_another_one() {
        let mut older = OlderCopy::default();
        let first = older.pause(5).unwrap();
        assert_eq!(older.pause(5), Some(first * 2));
        assert_eq!(older.pause(6), Some(first));
        let long_ago = Instant::now().checked_sub(OLDER_MAX.into()).unwrap();
        older.since = Some((6, long_ago));
        assert_eq!(older.pause(6), None);
        assert_eq!(older.pause(7), Some(first));
    }

    #[test]
    fn pauses_grow_and_end_with_the_patience() {
        let seen = Instant::now();
        let mut retry = RetryTimer::new(Patience::once_there(Span::from_secs(60)), seen);
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

    #[test]
    fn one_that_never_was_there_is_waited_for_where_that_was_asked_for() {
        let began = Instant::now();
        let after = |seconds| began + Duration::from_secs(seconds);
        let patience = Patience::from_the_first(Span::from_secs(20));
        let mut retry = RetryTimer::new(patience, began);
        assert!(retry.pause(None, began).is_some());
        assert!(retry.pause(None, after(19)).is_some());
        assert_eq!(retry.pause(None, after(20)), None);
        assert!(retry.pause(Some(after(30)), after(40)).is_some());
    }
}
