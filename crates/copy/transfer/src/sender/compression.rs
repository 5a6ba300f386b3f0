//! Decides whether to compress a piece: only where that makes it arrive sooner.
//!
//! Compression takes thread time in which the stream could send. So it pays where the path is slow
//! for this stream and the bytes compress well, and pauses, for longer each time, where it does
//! not.

use std::time::Duration;

/// Pieces without compression after one that did not pay; doubled each time up to this.
const SKIP_MIN: u32 = 4;
const SKIP_MAX: u32 = 256;
/// Weight of the newest writes in what the stream carries.
const SMOOTH: f64 = 0.3;

/// Decides for one stream.
#[derive(Debug, Clone)]
pub(super) struct Compression {
    is_allowed: bool,
    skip: u32,
    next_skip: u32,
    /// Bytes per second that writes take.
    rate: Option<f64>,
}

impl Compression {
    pub(super) fn new(is_allowed: bool) -> Self {
        Compression {
            is_allowed,
            skip: 0,
            next_skip: SKIP_MIN,
            rate: None,
        }
    }

    /// Whether the next piece is to be compressed.
    pub(super) fn is_worth_a_try(&mut self) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        // The rate of the stream has to be known before.
        self.is_allowed && self.rate.is_some()
    }

    /// So many bytes were written in so long, waits included.
    pub(super) fn on_written(&mut self, bytes: u64, time: Duration) {
        let rate = bytes as f64 / time.as_secs_f64().max(1e-9);
        let old = self.rate.unwrap_or(rate);
        self.rate = Some((1.0 - SMOOTH) * old + SMOOTH * rate);
    }

    /// `raw` bytes became `packed` in `time`. It pays when that is less than the time that sending
    /// the difference takes.
    pub(super) fn on_packed(&mut self, raw: usize, packed: usize, time: Duration) {
        let saved = raw.saturating_sub(packed) as f64 / self.rate.unwrap_or(f64::INFINITY);
        if time.as_secs_f64() < saved {
            self.next_skip = SKIP_MIN;
        } else {
            self.skip = self.next_skip;
            self.next_skip = (self.next_skip * 2).min(SKIP_MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);

    #[test]
    fn it_goes_on_where_the_path_is_slow() {
        let mut compression = Compression::new(true);
        assert!(!compression.is_worth_a_try(), "nothing is known yet");
        // 1 MB/s: half of 100 kB saves 50 ms.
        compression.on_written(100_000, Duration::from_millis(100));
        for _ in 0..100 {
            assert!(compression.is_worth_a_try());
            compression.on_packed(100_000, 50_000, MILLISECOND);
        }
    }

    #[test]
    fn it_rests_longer_each_time_where_it_brings_nothing() {
        let mut compression = Compression::new(true);
        // 1 GB/s: half of 100 kB saves 50 us.
        compression.on_written(100_000, Duration::from_micros(100));
        let mut tries = 0;
        for _ in 0..1000 {
            if compression.is_worth_a_try() {
                tries += 1;
                compression.on_packed(100_000, 50_000, MILLISECOND);
            }
        }
        assert!(tries < 12, "{tries}");
        assert!(!Compression::new(false).is_worth_a_try());
    }
}
