//! What the owner of a server allows tests to ask for.

use thiserror::Error;
use units::{Rate, Span};

use super::{TestEnd, TestRequest};
use crate::ErrorCode;

/// Bounds on one test; `None` leaves it to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TestBounds {
    /// Longest time for which data may flow, the omitted time included.
    pub time_max: Option<Span>,
    /// Highest rate over all streams of a test, both directions together.
    pub rate_max: Option<Rate>,
}

/// A test that asks for more than its server allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BeyondBounds {
    /// Too long.
    #[error(
        "a test of {asked} was asked for; at most {bound} are possible here: ask for less, or have \
        its owner raise `--test-time-max`"
    )]
    Time {
        /// What was asked for, the omitted time included.
        asked: Span,
        /// The bound.
        bound: Span,
    },
    /// Streams that are too fast together.
    #[error(
        "{streams} streams of {each} were asked for; at most {bound} together are possible here: \
        ask for less, or have its owner raise `--test-rate-max`"
    )]
    Rate {
        /// Streams of both directions.
        streams: u16,
        /// Of each stream.
        each: Rate,
        /// The bound.
        bound: Rate,
    },
    /// Streams as fast as they go.
    #[error(
        "a test without a bound on its rate was asked for; at most {bound} are possible here: ask \
        for a rate (iperf3's `-b`, of each stream), or have its owner raise `--test-rate-max`"
    )]
    Unpaced {
        /// The bound.
        bound: Rate,
    },
}

impl BeyondBounds {
    /// The number that says this to an iperf3 client.
    pub fn code(self) -> ErrorCode {
        match self {
            BeyondBounds::Time { .. } => ErrorCode::SERVER_DURATION,
            BeyondBounds::Rate { .. } | BeyondBounds::Unpaced { .. } => ErrorCode::TOTAL_RATE,
        }
    }
}

impl TestBounds {
    /// Checks what a test asks for. One without an agreed time passes: it is ended when its time is
    /// over.
    ///
    /// # Errors
    /// The bound that it exceeds.
    /// ```
    /// use units::Span;
    /// use measure_protocol::{TestBounds, TestEnd, TestRequest};
    /// let bounds = TestBounds { time_max: Some(Span::from_secs(30)), rate_max: None };
    /// let hour = TestRequest::new(1, TestEnd::After(Span::from_secs(3_600)));
    /// assert!(bounds.check(&hour).unwrap_err().to_string().contains("at most 30s are possible"));
    /// ```
    pub fn check(&self, request: &TestRequest) -> Result<(), BeyondBounds> {
        self.check_time(request)?;
        self.check_rate(request)
    }

    fn check_time(&self, request: &TestRequest) -> Result<(), BeyondBounds> {
        let (Some(bound), TestEnd::After(time)) = (self.time_max, request.end) else {
            return Ok(());
        };
        let asked = time + request.omit;
        match asked > bound {
            true => Err(BeyondBounds::Time { asked, bound }),
            false => Ok(()),
        }
    }

    fn check_rate(&self, request: &TestRequest) -> Result<(), BeyondBounds> {
        let Some(bound) = self.rate_max else {
            return Ok(());
        };
        let Some(each) = request.pacing else {
            return Err(BeyondBounds::Unpaced { bound });
        };
        let streams = request.client_streams().total();
        let together = each.bits_per_second().saturating_mul(streams.into());
        match together > bound.bits_per_second() {
            true => Err(BeyondBounds::Rate {
                streams,
                each,
                bound,
            }),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Direction;

    fn second(streams: u16) -> TestRequest {
        TestRequest::new(streams, TestEnd::After(Span::from_secs(1)))
    }

    #[test]
    fn the_omitted_time_counts() {
        let bounds = TestBounds {
            time_max: Some(Span::from_secs(2)),
            ..TestBounds::default()
        };
        let mut request = second(1);
        request.omit = Span::from_secs(1);
        assert_eq!(bounds.check(&request), Ok(()));
        request.omit = Span::from_millis(1_001);
        let refused = bounds.check(&request).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::SERVER_DURATION);
    }

    #[test]
    fn rates_of_all_streams_in_both_directions_are_added() {
        let bounds = TestBounds {
            rate_max: Some(Rate::from_bits_per_second(8_000_000)),
            ..TestBounds::default()
        };
        let mut request = second(4);
        let unpaced = bounds.check(&request).unwrap_err();
        assert!(unpaced.to_string().contains("8Mbit/s"), "{unpaced}");
        request.pacing = Some(Rate::from_bits_per_second(2_000_000));
        assert_eq!(bounds.check(&request), Ok(()));
        request.direction = Direction::Both;
        let refused = bounds.check(&request).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::TOTAL_RATE);
        let text = refused.to_string();
        assert!(text.starts_with("8 streams of 2Mbit/s were"), "{text}");
        request.pacing = Some(Rate::from_bits_per_second(u64::MAX));
        assert!(bounds.check(&request).is_err());
    }
}
