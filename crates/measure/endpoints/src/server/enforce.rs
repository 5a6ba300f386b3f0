//! Keeps a running test within what the owner allows, whatever its client had said.

use units::{Bytes, Rate, Span};

use super::ServerLimits;
use super::event::SessionError;
use super::flow::Flow;

/// What may come before the rate is judged: kernels pace bursts, and clocks are read ten times a
/// second.
const BURST: Span = Span::from_secs(2);

/// Ends a test that is too long or too fast.
pub(super) fn check(limits: &ServerLimits, flow: &Flow) -> Result<(), SessionError> {
    check_amount(limits, flow.elapsed(), flow.totals().0)
}

/// Ends a test that has received more in its time than it may, or takes longer.
pub(super) fn check_amount(
    limits: &ServerLimits,
    took: Span,
    received: Bytes,
) -> Result<(), SessionError> {
    check_time(limits, took)?;
    match limits.tests.rate_max {
        Some(bound) => check_rate(bound, took, received),
        None => Ok(()),
    }
}

/// Ends what has no agreed time, or does not keep to it.
pub(super) fn check_time(limits: &ServerLimits, took: Span) -> Result<(), SessionError> {
    match limits.tests.time_max {
        Some(bound) if took > bound + limits.waits.grace => Err(SessionError::Overtime(bound)),
        _ => Ok(()),
    }
}

fn check_rate(bound: Rate, took: Span, received: Bytes) -> Result<(), SessionError> {
    match received > bound.bytes_in(took + BURST) {
        true => Err(SessionError::TooFast {
            received,
            took,
            bound,
        }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_sends_faster_than_it_said_is_found_out() {
        let (bound, took) = (Rate::from_bits_per_second(8_000_000), Span::from_secs(10));
        assert!(check_rate(bound, took, Bytes::new(12_000_000)).is_ok());
        let fast = check_rate(bound, took, Bytes::new(12_000_001)).unwrap_err();
        assert!(fast.to_string().contains("at most 8Mbit/s"), "{fast}");
    }
}
