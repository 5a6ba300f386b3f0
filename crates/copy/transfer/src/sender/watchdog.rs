//! Detects a session that died unnoticed: something is left to do, and nothing happens.
//!
//! Everything that is known to hold up a copy is noticed by itself (streams that hang, break or are
//! let go, a peer that is gone). This is for what is not known. The conversation is given up and
//! opened anew, which costs what was not confirmed.

use units::{Bytes, Rate, Span, Time};

/// Least time in which nothing happens.
const QUIET_MAX: Span = Span::from_secs(60);
/// What may be written at once; where a low bound on the rate makes that slow, twice its time is
/// waited.
const BURST: Bytes = Bytes::from_kib(256);

/// Watches what was written and confirmed.
#[derive(Debug, Default)]
pub(super) struct Watchdog {
    seen: (u64, u64),
    since: Time,
}

impl Watchdog {
    /// Whether nothing happened for too long, now that `left` bytes are not confirmed. `written` is
    /// bytes that were given to the kernel, and one more for each time that the receiver told what
    /// it has of an older version: it may read that for long before it answers.
    pub(super) fn is_too_long(
        &mut self,
        now: Time,
        left: u64,
        written: u64,
        rate_max: Option<Rate>,
    ) -> bool {
        if left == 0 || self.seen != (left, written) {
            self.seen = (left, written);
            self.since = now;
        }
        let burst = rate_max.map_or(Span::ZERO, |rate| rate.time_to_send(BURST.times(2)));
        now.since(self.since) > QUIET_MAX.max(burst)
    }
}

/// What is said of such a conversation.
pub(super) fn text() -> String {
    format!("nothing was sent or confirmed for {QUIET_MAX}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    #[test]
    fn a_minute_in_which_nothing_happens_is_too_long() {
        let mut watchdog = Watchdog::default();
        assert!(!watchdog.is_too_long(at(10), 500, 700, None));
        assert!(!watchdog.is_too_long(at(70), 500, 700, None));
        assert!(watchdog.is_too_long(at(71), 500, 700, None));
        assert!(!watchdog.is_too_long(at(72), 400, 700, None), "confirmed");
        assert!(!watchdog.is_too_long(at(132), 400, 701, None), "written");
        assert!(!watchdog.is_too_long(at(500), 0, 701, None), "all is done");
    }

    #[test]
    fn a_slow_copy_is_not_quiet() {
        let mut watchdog = Watchdog::default();
        // 512 KiB at 8 kbit/s take 524 s.
        let slow = Some(Rate::from_bits_per_second(8000));
        assert!(!watchdog.is_too_long(at(0), 500, 700, slow));
        assert!(!watchdog.is_too_long(at(500), 500, 700, slow));
        assert!(watchdog.is_too_long(at(530), 500, 700, slow));
    }
}
