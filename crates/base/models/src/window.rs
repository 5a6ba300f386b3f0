//! Windows and the path they have to fill.

use units::{Bytes, Rate, Span};

/// Rate of `streams` taken together when each sends one window a round trip: `n W / RTT` for
/// [`Bytes::times`] `n`, `W / RTT` for one.
///
/// An upper bound under any loss. `None` for a round-trip time of zero, where a window limits
/// nothing.
///
/// Source: RFC 7323 section 1.1.
/// ```
/// use models::window_limited;
/// use units::{Bytes, Rate, Span};
/// // 64 KiB at 165 ms: 3.18 Mbit/s; eight of them 25.4. Cottrell et al. measured 26.8 from
/// // SLAC to CERN in 2000-2001.
/// let window = Bytes::from_kib(64);
/// let one = window_limited(window, Span::from_millis(165)).unwrap();
/// assert_eq!(one.human(), "3.18 Mbit/s");
/// let eight = window_limited(window.times(8), Span::from_millis(165)).unwrap();
/// assert_eq!(eight.human(), "25.4 Mbit/s");
/// ```
pub fn window_limited(window: Bytes, rtt: Span) -> Option<Rate> {
    (rtt > Span::ZERO).then(|| Rate::of(window, rtt))
}

/// Bytes under way when a path of this rate and round-trip time is full.
///
/// Source: RFC 1072 section 1.
/// ```
/// use models::bandwidth_delay_product;
/// use units::{Rate, Span};
/// // SLAC to TWAREN, 2006: 600 Mbit/s at 175 ms. (Its report states about 20 MB.)
/// let product = bandwidth_delay_product("600Mbit/s".parse().unwrap(), Span::from_millis(175));
/// assert_eq!(product.get(), 13_125_000);
/// ```
pub fn bandwidth_delay_product(rate: Rate, rtt: Span) -> Bytes {
    rate.bytes_in(rtt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn no_distance_is_no_limit() {
        assert_eq!(window_limited(Bytes::from_kib(64), Span::ZERO), None);
    }

    proptest! {
        #[test]
        fn the_product_as_a_window_gives_the_rate_back(mbit in 1_u64..100_000, rtt_ms in 1_u64..500) {
            let (rate, rtt) = (Rate::from_bits_per_second(mbit * 1_000_000), Span::from_millis(rtt_ms));
            let back = window_limited(bandwidth_delay_product(rate, rtt), rtt).unwrap();
            // Whole bytes: at most one is lost each round trip.
            prop_assert!(rate.as_f64() - back.as_f64() <= 8.0 / rtt.as_secs_f64() + 1.0);
        }
    }
}
