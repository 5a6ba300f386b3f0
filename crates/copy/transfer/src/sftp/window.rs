//! How many bytes a connection has on the way.

use std::time::{Duration, Instant};

/// A connection never has fewer: parts of files that wait in a slow one hold up the end.
const LEAST: u64 = 512 << 10;
/// What the first connection begins with, which is alone while others log in: what OpenSSH lets be
/// on the way.
const FIRST: u64 = 2 << 20;
/// OpenSSH lets 2 MiB of a session be on the way each way. This many requests keep that full while
/// replies come back.
const MOST: u64 = 8 << 20;
/// Shortest time over which the rate of a connection is taken.
const LOOK_MIN: Duration = Duration::from_millis(50);

/// Twice what the connection carries in a round trip, and the least besides. So it doubles with
/// each round trip as TCP's window does at first.
#[derive(Debug)]
pub(super) struct Window {
    rtt: Duration,
    since: Instant,
    bytes: u64,
    size: u64,
}

impl Window {
    /// * `is_first`: of the first connection of a copy.
    pub fn new(rtt: Duration, is_first: bool, now: Instant) -> Self {
        Window {
            rtt,
            since: now,
            bytes: 0,
            size: if is_first { FIRST } else { LEAST },
        }
    }

    /// So many bytes were answered.
    pub fn on_answered(&mut self, bytes: u64, now: Instant) {
        self.bytes += bytes;
        let length = now.saturating_duration_since(self.since);
        if length < self.rtt.max(LOOK_MIN) {
            return;
        }
        let per_round_trip = self.bytes as f64 * self.rtt.as_secs_f64() / length.as_secs_f64();
        let wanted = LEAST + 2 * per_round_trip as u64;
        // It falls slowly: a pause of the far disk is no slower path.
        self.size = wanted.max(self.size / 16 * 15).clamp(LEAST, MOST);
        (self.since, self.bytes) = (now, 0);
    }

    pub fn size(&self) -> u64 {
        self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fast_long_path_gets_much_and_a_slow_one_little() {
        let begun = Instant::now();
        let after = |rtt, bytes| {
            let mut window = Window::new(Duration::from_millis(rtt), true, begun);
            for step in 1..200 {
                let now = begun + Duration::from_millis(100 * step);
                window.on_answered(bytes, now);
            }
            window.size()
        };
        assert_eq!(after(100, 4 << 20), MOST);
        assert!(after(100, 10_000) < LEAST + (64 << 10));
    }
}
