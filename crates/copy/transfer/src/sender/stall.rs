//! Whether a stream hangs while others move.
//!
//! A stream hangs when what it sent is not acknowledged. One whose receiver takes nothing more,
//! with all that was sent acknowledged, does not: its thread there waits for a disk or for a
//! processor, and another connection would wait as well.

use observe::TcpSample;
use units::{Bytes, Span, Time};

/// Least time without progress.
const STALL_MIN: Span = Span::from_secs(3);
/// The same in round trips: two timeouts of TCP, doubled once, with room.
const STALL_ROUND_TRIPS: u64 = 8;

/// The last progress of one stream.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stall {
    acked: Option<Bytes>,
    moved: Time,
    owes: bool,
}

impl Stall {
    /// Takes in what the kernel says at `now`.
    pub(crate) fn on_sample(&mut self, now: Time, sample: &TcpSample) {
        let owes = sample.unacked_segments.unwrap_or(0) > 0;
        // A stream that had nothing under way has not been waiting for anything.
        if sample.bytes_acked != self.acked || !self.owes {
            self.moved = now;
        }
        self.acked = sample.bytes_acked;
        self.owes = owes;
    }

    /// When it moved last, or had nothing under way.
    pub(crate) fn last_moved(&self) -> Time {
        self.moved
    }

    /// Whether it has something under way and has not moved for the longer of 3 s and 8 round
    /// trips, while others have (`newest`: when one of them did).
    pub(crate) fn is_stalled(&self, now: Time, newest: Time, rtt: Option<Span>) -> bool {
        let bound = STALL_MIN.max(rtt.unwrap_or(Span::ZERO).times(STALL_ROUND_TRIPS));
        self.owes && now.since(self.moved) > bound && newest.since(self.moved) > bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(acked: u64, unacked: u32) -> TcpSample {
        TcpSample {
            bytes_acked: Some(Bytes::new(acked)),
            unacked_segments: Some(unacked),
            ..TcpSample::default()
        }
    }

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    #[test]
    fn a_stream_that_owes_and_does_not_move_while_others_do_is_stalled() {
        let mut stall = Stall::default();
        for second in 1..=5 {
            stall.on_sample(at(second), &sample(100, 7));
        }
        assert!(stall.is_stalled(at(5), at(5), None));
        assert!(!stall.is_stalled(at(5), at(2), None), "no stream moves");
        let far = Some(Span::from_secs(1));
        assert!(!stall.is_stalled(at(5), at(5), far), "8 round trips");
    }

    #[test]
    fn a_stream_without_work_is_not() {
        let mut stall = Stall::default();
        for second in 1..=9 {
            stall.on_sample(at(second), &sample(100, 0));
        }
        assert!(!stall.is_stalled(at(9), at(9), None));
        // It gets work now, and the time before does not count.
        stall.on_sample(at(10), &sample(100, 3));
        assert!(!stall.is_stalled(at(11), at(11), None));
    }
}
