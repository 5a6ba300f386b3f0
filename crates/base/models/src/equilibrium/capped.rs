//! A saw-tooth whose peaks are cut off by a window.

use units::Span;

use crate::Response;

/// Mean window in segments under `loss`, with a cap of so many segments.
///
/// A stream that loses at its cap climbs back and stays level until the next loss. What it does not
/// send meanwhile, its deficit, comes on top of the `1/loss` packets between two losses:
/// `cap / (1 + loss deficit)`. For Reno the deficit is `cap^2 / 8` and this is
/// [`crate::mathis_with_window`].
/// CUBIC takes `K = (0.3 cap / 0.4)^(1/3)` seconds back and misses `0.4 K^4 / 4` segments a round
/// trip, or `0.085 cap^2` where it is as friendly as Reno (RFC 9438 sections 4.2 and 4.3).
/// HighSpeed and Scalable give up little and come back soon: theirs is left out.
pub(super) fn window(response: Response, rtt_seconds: f64, loss: f64, cap: f64) -> f64 {
    let free = response.window_segments(Span::from_secs_f64(rtt_seconds), loss);
    let free = free.unwrap_or(f64::INFINITY);
    let (mean_of_peak, deficit) = tooth(response, rtt_seconds, cap);
    match free < mean_of_peak * cap {
        true => free,
        false => cap / (1.0 + loss * deficit),
    }
}

/// The mean of a saw-tooth as a share of its peak, and its deficit in segments when that peak is
/// `cap`.
fn tooth(response: Response, rtt_seconds: f64, cap: f64) -> (f64, f64) {
    match response {
        _ if cap.is_infinite() => (1.0, 0.0),
        Response::Reno(_) => (0.75, cap * cap / 8.0),
        Response::Cubic => {
            let seconds = (0.3 * cap / 0.4).cbrt();
            let (own, friendly) = (0.1 * seconds.powi(4) / rtt_seconds, 0.085 * cap * cap);
            match own < friendly {
                true => (0.925, own),
                false => (0.85, friendly),
            }
        }
        Response::HighSpeed | Response::Scalable => (1.0, 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Acks, Conditions, mathis_with_window};
    use proptest::prelude::*;
    use units::Bytes;

    #[test]
    fn renos_is_mathis_with_a_window() {
        for loss in [1e-7, 1e-5, 1e-4, 1e-3] {
            let path = Conditions {
                segment: Bytes::new(1460),
                rtt: Span::from_millis(165),
                loss,
            };
            let expected = mathis_with_window(&path, Bytes::new(1460 * 180))
                .unwrap()
                .as_f64();
            let mean = window(Response::Reno(Acks::Every), 0.165, loss, 180.0);
            let found = mean * 1460.0 * 8.0 / 0.165;
            assert!(
                (found / expected - 1.0).abs() < 1e-6,
                "{loss}: {found} {expected}"
            );
        }
    }

    proptest! {
        #[test]
        fn more_loss_never_sends_more_and_no_cap_is_passed(
            exponent in -8.0..-0.5_f64, rtt in 0.001..0.4_f64, cap in 2.0..5_000.0_f64,
        ) {
            for response in [Response::Reno(Acks::Every), Response::Cubic, Response::HighSpeed, Response::Scalable] {
                let loss = 10_f64.powf(exponent);
                let (less, more) = (window(response, rtt, loss, cap), window(response, rtt, loss * 1.01, cap));
                prop_assert!(more <= less * (1.0 + 1e-3), "{response:?}: {less} {more}");
                prop_assert!(less <= cap);
            }
        }
    }
}
