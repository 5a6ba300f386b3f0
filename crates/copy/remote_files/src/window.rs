//! How much is asked of one connection before its answers come.

use units::{Span, Time};

/// Bytes of a file in one request: some reach every connection also where little is read, and each
/// still takes longer on the wire than to ask for.
pub(crate) const PIECE: u32 = 256 << 10;

/// The most that is asked for ahead: 32 connections of it fill 10 Gbit/s at a round trip of 100 ms.
const MOST: u64 = 4 << 20;
/// The least: one piece on its way, and one behind it.
const LEAST: u64 = 2 * PIECE as u64;
/// Request window, as a multiple of the bytes that a connection delivered in one interval.
const AHEAD: u64 = 4;
/// The shortest interval.
const INTERVAL_MIN: Span = Span::from_millis(50);

/// Grows with what a connection delivers, so that much is asked only of those that deliver much:
/// the last piece of a call then does not wait behind many others on a slow connection.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    bytes: u64,
    interval: Span,
    began: Time,
    delivered: u64,
}

impl Window {
    /// * `rtt`: round trip of the path, where it is known.
    pub fn new(rtt: Option<Span>, now: Time) -> Self {
        let rtt = rtt.unwrap_or(Span::ZERO);
        Window {
            bytes: LEAST,
            interval: (rtt + rtt).max(INTERVAL_MIN),
            began: now,
            delivered: 0,
        }
    }

    /// Bytes that may be asked for before their answers.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes have come.
    pub fn on_delivered(&mut self, bytes: u64, now: Time) {
        self.delivered += bytes;
        let wanted = self.delivered.saturating_mul(AHEAD).clamp(LEAST, MOST);
        // What is delivered within the interval already shows that more can be.
        self.bytes = self.bytes.max(wanted);
        if now.since(self.began) >= self.interval {
            self.bytes = wanted;
            self.began = now;
            self.delivered = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(window: &mut Window, bytes: u64, milliseconds: u64) -> u64 {
        window.on_delivered(bytes, Time::ZERO + Span::from_millis(milliseconds));
        window.bytes()
    }

    #[test]
    fn a_fast_connection_is_asked_for_more_and_a_slow_one_for_little() {
        let mut window = Window::new(Some(Span::from_millis(80)), Time::ZERO);
        assert_eq!(window.bytes(), LEAST);
        assert_eq!(after(&mut window, 500_000, 100), 2_000_000);
        assert_eq!(
            after(&mut window, 1_500_000, 170),
            MOST,
            "8 MB, and 4 MiB are the most"
        );
        assert_eq!(
            after(&mut window, 200_000, 340),
            800_000,
            "200 kB in two round trips"
        );
        assert_eq!(after(&mut window, 1_000, 510), LEAST);
    }
}
