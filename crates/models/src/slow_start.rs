//! Slow start, and transfers too short to forget it.

use units::{Bytes, Rate, Span};

use crate::Acks;

/// Segments sent in the first round trip (RFC 6928 section 2).
const INITIAL_WINDOW: f64 = 10.0;

/// A stream that begins in slow start and then runs at a steady rate.
///
/// Left out: the handshake, losses and the overshoot at the end of slow start, and pacing. Short
/// transfers take longer than this by at least the handshake's round trip.
///
/// Source: RFC 5681 section 3.1 for the growth; Cardwell, Savage and Anderson, "Modeling TCP
/// latency", INFOCOM 2000, for counting in rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlowStart {
    /// Payload of a full segment.
    pub segment: Bytes,
    /// Round-trip time.
    pub rtt: Span,
    /// Sets the growth: see [`Acks::slow_start_growth`].
    pub acks: Acks,
}

/// What slow start took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ramp {
    /// Round trips.
    pub rounds: u32,
    /// Bytes sent during them.
    pub sent: Bytes,
}

impl SlowStart {
    /// The round trips until the window carries `steady`, and what was sent meanwhile.
    ///
    /// `None` for an empty segment.
    /// ```
    /// use models::{Acks, SlowStart};
    /// use units::{Bytes, Span};
    /// let path = SlowStart { segment: Bytes::new(1460), rtt: Span::from_millis(100), acks: Acks::Every };
    /// // 622 Mbit/s at 100 ms are 5325 segments: 10, 20, ... 5120 are ten rounds and 10,230 segments.
    /// let ramp = path.ramp_to("622Mbit/s".parse().unwrap()).unwrap();
    /// assert_eq!((ramp.rounds, ramp.sent), (10, Bytes::new(14_935_800)));
    /// ```
    pub fn ramp_to(&self, steady: Rate) -> Option<Ramp> {
        self.ramp(Bytes::new(u64::MAX), steady)
    }

    /// Time from the first segment until `size` bytes have been sent and acknowledged.
    ///
    /// Whole rounds of slow start, then the rest at the `steady` rate. [`Span::MAX`] when that is
    /// zero and something is left. `None` for an empty segment.
    /// ```
    /// use models::{Acks, SlowStart};
    /// use units::{Bytes, Span};
    /// let path = SlowStart { segment: Bytes::new(1460), rtt: Span::from_millis(100), acks: Acks::Every };
    /// let oc12 = "622Mbit/s".parse().unwrap();
    /// // 64 kB fit into windows of 10 + 20 + 40 segments.
    /// assert_eq!(path.transfer_time(Bytes::new(64_000), oc12), Some(Span::from_millis(300)));
    /// // 100 MB: ten rounds, and the other 85,064,200 bytes in 1.094 s.
    /// let time = path.transfer_time(Bytes::new(100_000_000), oc12).unwrap();
    /// assert!((time.as_secs_f64() - 2.09407).abs() < 1e-5);
    /// ```
    pub fn transfer_time(&self, size: Bytes, steady: Rate) -> Option<Span> {
        let ramp = self.ramp(size, steady)?;
        let ramp_time = self.rtt.times(u64::from(ramp.rounds));
        let rest = size - ramp.sent;
        Some(
            ramp_time
                + if rest == Bytes::ZERO {
                    Span::ZERO
                } else {
                    steady.time_to_send(rest)
                },
        )
    }

    /// Rounds until `size` is sent or the window carries `steady`, whichever comes first.
    fn ramp(&self, size: Bytes, steady: Rate) -> Option<Ramp> {
        if self.segment == Bytes::ZERO {
            return None;
        }
        let window_full = steady.as_f64() * self.rtt.as_secs_f64() / 8.0;
        let mut window = INITIAL_WINDOW * self.segment.as_f64();
        let (mut rounds, mut sent) = (0, 0.0);
        while window < window_full && sent < size.as_f64() {
            sent += window;
            window *= self.acks.slow_start_growth();
            rounds += 1;
        }
        Some(Ramp {
            rounds,
            sent: Bytes::new(sent as u64),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path(acks: Acks) -> SlowStart {
        SlowStart {
            segment: Bytes::new(1460),
            rtt: Span::from_millis(100),
            acks,
        }
    }

    fn rate(mbit: u64) -> Rate {
        Rate::from_bits_per_second(mbit * 1_000_000)
    }

    #[test]
    fn delayed_acknowledgements_slow_the_ramp() {
        // 10 x 1.5^16 = 6568 segments is the first window above 5325.
        assert_eq!(path(Acks::Delayed).ramp_to(rate(622)).unwrap().rounds, 16);
    }

    #[test]
    fn a_path_that_the_first_window_fills_has_no_ramp() {
        let ramp = path(Acks::Every).ramp_to(rate(1)).unwrap();
        assert_eq!(
            ramp,
            Ramp {
                rounds: 0,
                sent: Bytes::ZERO
            }
        );
        let time = path(Acks::Every).transfer_time(Bytes::new(125_000), rate(1));
        assert_eq!(time, Some(Span::from_secs(1)));
    }

    #[test]
    fn extremes_do_not_panic() {
        assert_eq!(
            path(Acks::Every).transfer_time(Bytes::ZERO, rate(1)),
            Some(Span::ZERO)
        );
        assert_eq!(
            path(Acks::Every).transfer_time(Bytes::new(1), Rate::ZERO),
            Some(Span::MAX)
        );
        let endless = path(Acks::Delayed)
            .transfer_time(Bytes::new(u64::MAX), Rate::from_bits_per_second(u64::MAX));
        assert!(endless.is_some());
        let empty = SlowStart {
            segment: Bytes::ZERO,
            ..path(Acks::Every)
        };
        assert_eq!(empty.transfer_time(Bytes::new(1), rate(1)), None);
    }

    #[test]
    fn a_long_transfer_runs_at_the_steady_rate() {
        let size = Bytes::new(1_000_000_000_000);
        let time = path(Acks::Every).transfer_time(size, rate(622)).unwrap();
        let share = Rate::of(size, time).as_f64() / 622e6;
        assert!(share > 0.9999 && share <= 1.0, "{share}");
    }

    proptest! {
        #[test]
        fn more_bytes_never_take_less_time(size in 0_u64..1_000_000_000, more in 0_u64..100_000_000, mbit in 1_u64..10_000) {
            for acks in [Acks::Every, Acks::Delayed] {
                let time = |size| path(acks).transfer_time(Bytes::new(size), rate(mbit)).unwrap();
                prop_assert!(time(size) <= time(size + more));
            }
        }
    }
}
