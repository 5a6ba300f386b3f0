//! Reno with a limited window, and Mathis's formula read backwards.

use units::{Bytes, Rate};

use crate::{Acks, Conditions, Response};

/// Rate of one Reno stream whose window cannot exceed the receiver's, losses evenly spaced.
///
/// With `W` the window in segments: above `p = 8 / (3 W^2)` the saw-tooth stays below the window
/// and the rate is Mathis's. Below, the window climbs back in `W/2` round trips and stays level
/// until the next loss: `MSS/RTT / (p W / 8 + 1/W)`. Both give 3/4 of `W/RTT` where they meet, and
/// no loss gives `W/RTT`. Every segment is acknowledged.
///
/// `None` when segment, window or round trip are zero, or the loss is not within 0 to 1.
///
/// Source: Mathis, Semke, Mahdavi and Ott (1997) extended by a level stretch where the receiver's
/// window binds, as an analysis of TCP for bulk transfer did about 2002.
/// ```
/// use models::{Conditions, mathis_with_window};
/// use units::{Bytes, Span};
/// let at = |loss| {
///     let path = Conditions { segment: Bytes::new(1460), rtt: Span::from_millis(165), loss };
///     mathis_with_window(&path, Bytes::from_kib(256)).unwrap().as_f64() / 1e6
/// };
/// // 179.55 segments: the boundary lies at p = 8.272e-5.
/// assert!((at(1e-5) - 12.218).abs() < 5e-4);
/// assert!((at(1e-7) - 12.705).abs() < 5e-4);
/// ```
pub fn mathis_with_window(conditions: &Conditions, window: Bytes) -> Option<Rate> {
    let window = conditions.segments_in(window)?;
    let loss = Some(conditions.loss).filter(|loss| (0.0..=1.0).contains(loss))?;
    if loss > boundary_loss(window) {
        return Response::Reno(Acks::Every).rate(conditions);
    }
    conditions.rate_of(1.0 / (loss * window / 8.0 + 1.0 / window))
}

/// The loss at which the top of the saw-tooth just touches a window of so many segments.
fn boundary_loss(window_segments: f64) -> f64 {
    8.0 / (3.0 * window_segments * window_segments)
}

/// The loss at which a Reno stream would run at `rate`: Mathis's formula solved for `p`.
///
/// Reads the segment and round-trip time of `conditions` and ignores its loss. Useful where a
/// stream is neither limited by a window nor by the link: then this is the loss that the path must
/// have.
///
/// `None` when the rate, segment or round trip is zero, and when not even a loss of every packet
/// explains so low a rate.
///
/// Source: as [`Response::Reno`].
/// ```
/// use models::{Acks, Conditions, loss_by_mathis};
/// use units::{Bytes, Rate, Span};
/// // SLAC to CERN, Cottrell et al. 2000-2001: two streams of 256 kB share 9.45 Mbit/s at 167 ms, so p is about 3e-4.
/// let path = Conditions { segment: Bytes::new(1460), rtt: Span::from_millis(167), loss: 0.0 };
/// let loss = loss_by_mathis(&path, Rate::from_bits_per_second(4_725_000), Acks::Every).unwrap();
/// assert!((loss - 3.287e-4).abs() < 1e-7);
/// ```
pub fn loss_by_mathis(conditions: &Conditions, rate: Rate, acks: Acks) -> Option<f64> {
    let every_packet_lost = Conditions {
        loss: 1.0,
        ..*conditions
    };
    let slowest = Response::Reno(acks).rate(&every_packet_lost)?;
    let loss = (slowest.as_f64() / rate.as_f64()).powi(2);
    (loss > 0.0 && loss <= 1.0).then_some(loss)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use units::Span;

    const WINDOW: Bytes = Bytes::from_kib(256);

    fn path(loss: f64) -> Conditions {
        Conditions {
            segment: Bytes::new(1460),
            rtt: Span::from_millis(165),
            loss,
        }
    }

    fn rate(loss: f64) -> f64 {
        mathis_with_window(&path(loss), WINDOW).unwrap().as_f64()
    }

    #[test]
    fn both_branches_meet_at_three_quarters_of_the_window() {
        let boundary = boundary_loss(WINDOW.as_f64() / 1460.0);
        assert!((boundary - 8.272e-5).abs() < 5e-9, "{boundary}");
        let level = WINDOW.as_f64() * 8.0 / 0.165 * 0.75;
        for loss in [boundary * (1.0 - 1e-9), boundary * (1.0 + 1e-9)] {
            assert!((rate(loss) / level - 1.0).abs() < 1e-6, "{loss}");
        }
    }

    #[test]
    fn no_loss_fills_the_window() {
        assert_eq!(
            mathis_with_window(&path(0.0), WINDOW),
            Some(Rate::of(WINDOW, Span::from_millis(165)))
        );
    }

    #[test]
    fn heavy_loss_forgets_the_window() {
        let unlimited = Response::Reno(Acks::Every).rate(&path(1e-3));
        assert_eq!(mathis_with_window(&path(1e-3), WINDOW), unlimited);
    }

    #[test]
    fn what_is_empty_or_no_share_has_no_rate() {
        assert_eq!(mathis_with_window(&path(0.0), Bytes::ZERO), None);
        assert_eq!(mathis_with_window(&path(-1.0), WINDOW), None);
        assert_eq!(mathis_with_window(&path(f64::NAN), WINDOW), None);
        assert_eq!(loss_by_mathis(&path(0.0), Rate::ZERO, Acks::Every), None);
        assert_eq!(
            loss_by_mathis(&path(0.0), Rate::from_bits_per_second(1), Acks::Every),
            None
        );
    }

    proptest! {
        #[test]
        fn more_loss_is_never_faster(exponent in -9.0..0.0_f64, more in 1.0..10.0_f64) {
            let loss = 10_f64.powf(exponent);
            prop_assert!(rate((loss * more).min(1.0)) <= rate(loss));
        }

        #[test]
        fn a_larger_window_is_never_slower(exponent in -9.0..0.0_f64, kib in 2_u64..10_000) {
            let at = |kib| mathis_with_window(&path(10_f64.powf(exponent)), Bytes::from_kib(kib));
            prop_assert!(at(kib) <= at(kib + 1));
        }

        #[test]
        fn the_inverse_finds_the_loss_again(exponent in -9.0..-0.1_f64) {
            let loss = 10_f64.powf(exponent);
            for acks in [Acks::Every, Acks::Delayed] {
                let rate = Response::Reno(acks).rate(&path(loss)).unwrap();
                let found = loss_by_mathis(&path(0.0), rate, acks).unwrap();
                prop_assert!((found / loss - 1.0).abs() < 1e-4, "{found} for {loss}");
            }
        }
    }
}
