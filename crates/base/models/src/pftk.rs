//! Reno with retransmission timeouts.

use units::{Bytes, Rate, Span};

use crate::{Acks, Conditions};

/// Rate of one Reno stream, timeouts and a limited window included.
///
/// `MSS min(W/RTT, 1/(RTT sqrt(2 b p / 3) + RTO min(1, 3 sqrt(3 b p / 8)) p (1 + 32 p^2)))`, `b`
/// the segments covered by an acknowledgement.
///
/// * `window`: the most the receiver or sender allows; `None` when that never limits.
/// * `timeout`: the first retransmission timeout, RTO.
/// * `None` when segment, round trip or window are zero, when the loss is not within 0 to 1, and
///   when neither loss nor window bounds the rate.
///
/// Source: Padhye, Firoiu, Towsley and Kurose, "Modeling TCP throughput: a simple model and its
/// empirical validation", SIGCOMM 1998, section 2, the approximate form with a limited window.
/// ```
/// use models::{Acks, Conditions, pftk};
/// use units::{Bytes, Span};
/// let path = Conditions { segment: Bytes::new(1460), rtt: Span::from_millis(80), loss: 1e-3 };
/// let at = |acks| pftk(&path, None, Span::from_secs(1), acks).unwrap().as_f64() / 1e6;
/// assert!((at(Acks::Every) - 5.4999).abs() < 5e-5);
/// assert!((at(Acks::Delayed) - 3.8890).abs() < 5e-5);
/// ```
pub fn pftk(
    conditions: &Conditions,
    window: Option<Bytes>,
    timeout: Span,
    acks: Acks,
) -> Option<Rate> {
    let by_window = match window {
        Some(window) => Some(conditions.rate_of(conditions.segments_in(window)?)?),
        None => None,
    };
    if conditions.loss == 0.0 {
        return by_window;
    }
    let round_trips = timeout.as_secs_f64() / conditions.rtt.as_secs_f64();
    let by_loss = conditions.rate_of(window_under_loss(
        conditions.some_loss()?,
        round_trips,
        acks,
    ))?;
    Some(by_window.map_or(by_loss, |by_window| by_window.min(by_loss)))
}

/// Segments sent each round trip under `loss`, with a timeout of so many round trips.
fn window_under_loss(loss: f64, timeout_round_trips: f64, acks: Acks) -> f64 {
    let b = acks.segments();
    let recovery = (2.0 * b * loss / 3.0).sqrt();
    let timeout_share = (3.0 * (3.0 * b * loss / 8.0).sqrt()).min(1.0);
    let backoff = loss * (1.0 + 32.0 * loss * loss);
    1.0 / (recovery + timeout_round_trips * timeout_share * backoff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Response, window_limited};
    use proptest::prelude::*;

    const RTO: Span = Span::from_millis(200);

    fn path(loss: f64) -> Conditions {
        Conditions {
            segment: Bytes::new(1460),
            rtt: Span::from_millis(80),
            loss,
        }
    }

    #[test]
    fn without_loss_only_the_window_limits() {
        let window = Bytes::from_kib(64);
        let limited = window_limited(window, Span::from_millis(80));
        assert_eq!(pftk(&path(0.0), Some(window), RTO, Acks::Every), limited);
        assert_eq!(pftk(&path(0.0), None, RTO, Acks::Every), None);
    }

    #[test]
    fn what_is_empty_or_no_share_has_no_rate() {
        assert_eq!(pftk(&path(1e-3), Some(Bytes::ZERO), RTO, Acks::Every), None);
        assert_eq!(
            pftk(&path(2.0), Some(Bytes::from_kib(64)), RTO, Acks::Every),
            None
        );
        assert_eq!(pftk(&path(f64::NAN), None, RTO, Acks::Every), None);
        let nowhere = Conditions {
            rtt: Span::ZERO,
            ..path(1e-3)
        };
        assert_eq!(pftk(&nowhere, None, RTO, Acks::Every), None);
    }

    #[test]
    fn rare_loss_makes_timeouts_irrelevant() {
        let mathis = Response::Reno(Acks::Every)
            .rate(&path(1e-8))
            .unwrap()
            .as_f64();
        let pftk = pftk(&path(1e-8), None, RTO, Acks::Every).unwrap().as_f64();
        assert!(
            (pftk / mathis - 1.0).abs() < 1e-3,
            "{pftk} against {mathis}"
        );
    }

    proptest! {
        #[test]
        fn more_loss_is_never_faster(exponent in -9.0..0.0_f64, more in 1.0..10.0_f64, kib in 2_u64..10_000) {
            let loss = 10_f64.powf(exponent);
            let at = |loss| pftk(&path(loss), Some(Bytes::from_kib(kib)), RTO, Acks::Delayed).unwrap();
            prop_assert!(at((loss * more).min(1.0)) <= at(loss));
        }

        #[test]
        fn timeouts_only_ever_cost(exponent in -9.0..0.0_f64) {
            let path = path(10_f64.powf(exponent));
            prop_assert!(pftk(&path, None, RTO, Acks::Every) <= Response::Reno(Acks::Every).rate(&path));
        }
    }
}
