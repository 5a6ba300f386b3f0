//! Several streams side by side, from formulas alone.

use units::Rate;

use crate::{Acks, Conditions, Response};

/// Aggregate of Reno streams that do not disturb each other: the sum of what each gets alone.
///
/// `sum_i MSS_i/RTT_i K/sqrt(p_i)`, never more than `available` when that is known. Holds while the
/// loss is the path's own; once the streams fill the bottleneck they raise `p` themselves.
///
/// `None` without streams, and when one of them has no rate by [`Response::rate`].
///
/// Source: Hacker, Athey and Noble, "The end-to-end performance effects of parallel TCP sockets on
/// a lossy wide-area network", IPDPS 2002.
/// ```
/// use models::{Acks, Conditions, hacker};
/// use units::{Bytes, Rate, Span};
/// let one = Conditions { segment: Bytes::new(1460), rtt: Span::from_millis(165), loss: 1e-5 };
/// // Four times 27.416 Mbit/s, until a 100 Mbit/s path is full.
/// assert_eq!(hacker(&[one; 4], Acks::Every, None).unwrap().human(), "110 Mbit/s");
/// let path = Rate::from_bits_per_second(100_000_000);
/// assert_eq!(hacker(&[one; 4], Acks::Every, Some(path)), Some(path));
/// ```
pub fn hacker(streams: &[Conditions], acks: Acks, available: Option<Rate>) -> Option<Rate> {
    if streams.is_empty() {
        return None;
    }
    let rate = |stream| Some(Response::Reno(acks).rate(stream)?.as_f64());
    let sum = Rate::from_f64(streams.iter().map(rate).sum::<Option<f64>>()?);
    Some(available.map_or(sum, |available| sum.min(available)))
}

/// Share of a bottleneck that `streams` use when each congestion event hits one of them:
/// `1 - 1/(1 + n (1 + beta)/(1 - beta))`.
///
/// * `kept`: beta, the share of its window that a stream keeps at a loss: 0.5 for Reno, 0.7 for
///   CUBIC.
/// * The queue is short; with a queue of a bandwidth-delay product one stream is enough.
/// * Zero streams use nothing. `None` for a `kept` outside 0 up to but not including 1.
///
/// Source: Altman, Barman, Tuffin and Vojnovic, "Parallel TCP sockets: simple model, throughput and
/// validation", INFOCOM 2006.
/// ```
/// use models::altman_utilisation;
/// for (streams, kept, percent) in [(1, 0.5, 75.0), (3, 0.5, 90.0), (6, 0.5, 94.7), (1, 0.7, 85.0), (3, 0.7, 94.4)] {
///     let utilisation = altman_utilisation(streams, kept).unwrap();
///     assert!((utilisation * 100.0 - percent).abs() < 0.05);
/// }
/// ```
pub fn altman_utilisation(streams: u32, kept: f64) -> Option<f64> {
    let odds = f64::from(streams) * (1.0 + kept) / (1.0 - kept);
    (0.0..1.0)
        .contains(&kept)
        .then_some(1.0 - 1.0 / (1.0 + odds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use units::{Bytes, Span};

    fn stream(rtt_ms: u64) -> Conditions {
        Conditions {
            segment: Bytes::new(1460),
            rtt: Span::from_millis(rtt_ms),
            loss: 1e-4,
        }
    }

    #[test]
    fn unlike_streams_add_up() {
        // Twice the round trip, half the rate.
        let both = hacker(&[stream(50), stream(100)], Acks::Every, None)
            .unwrap()
            .as_f64();
        let short = hacker(&[stream(50)], Acks::Every, None).unwrap().as_f64();
        assert!((both / short - 1.5).abs() < 1e-6);
    }

    #[test]
    fn nothing_gives_nothing() {
        assert_eq!(hacker(&[], Acks::Every, None), None);
        let lossless = Conditions {
            loss: 0.0,
            ..stream(50)
        };
        assert_eq!(hacker(&[stream(50), lossless], Acks::Every, None), None);
        assert_eq!(altman_utilisation(0, 0.5), Some(0.0));
    }

    #[test]
    fn keeping_everything_or_less_than_nothing_is_refused() {
        for kept in [1.0, 1.5, -0.1, f64::NAN] {
            assert_eq!(altman_utilisation(4, kept), None, "{kept}");
        }
    }

    #[test]
    fn very_many_streams_fill_the_bottleneck() {
        assert!(altman_utilisation(u32::MAX, 0.5).unwrap() > 1.0 - 1e-9);
    }

    proptest! {
        #[test]
        fn one_more_stream_never_uses_less(streams in 0_u32..1_000, kept in 0.0..0.99_f64) {
            let fewer = altman_utilisation(streams, kept).unwrap();
            let more = altman_utilisation(streams + 1, kept).unwrap();
            prop_assert!(fewer < more && more < 1.0);
        }
    }
}
