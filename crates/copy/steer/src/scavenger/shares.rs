//! Splits the rate of a gentle copy among its streams.

use observe::TcpSample;
use units::Rate;

use super::StreamReading;

/// A stream may have this multiple of what its window carries, so that the window can grow: Linux
/// itself paces at 1.2 windows per round trip.
const ROOM: f64 = 1.25;

/// Rates of the streams that together keep to `rate`: even shares, but what a stream cannot use,
/// because a loss has just halved its window, goes to the others.
///
/// 30 Mbit/s over three streams, of which one has a window of 4 Mbit/s: it may have 5, the others
/// 12.5 each.
///
/// ```
/// # use observe::TcpSample;
/// # use steer::{StreamReading, scavenger};
/// # use units::{Bytes, Rate, Span};
/// let reading = |stream, window| StreamReading {
///     stream,
///     tcp: TcpSample {
///         rtt: Some(Span::from_millis(100)),
///         mss: Some(Bytes::new(1_250)),
///         cwnd_segments: Some(window),
///         ..TcpSample::default()
///     },
/// };
/// let all = [reading(1, 40), reading(2, 200), reading(3, 300)];
/// let shares = scavenger::shares("30Mbit/s".parse().unwrap(), &all);
/// let rates: Vec<u64> = shares.iter().map(|(_, rate)| rate.bits_per_second()).collect();
/// assert_eq!(rates, [5_000_000, 12_500_000, 12_500_000]);
/// ```
pub fn shares(rate: Rate, streams: &[StreamReading]) -> Vec<(u32, Rate)> {
    let mut by_need: Vec<(u32, f64)> = streams
        .iter()
        .map(|one| {
            (
                one.stream,
                carried(&one.tcp).map_or(f64::INFINITY, |rate| ROOM * rate),
            )
        })
        .collect();
    by_need.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut left = rate.as_f64();
    let mut shares = Vec::with_capacity(streams.len());
    for (at, (stream, need)) in by_need.into_iter().enumerate() {
        let share = need.min(left / (streams.len() - at) as f64);
        left -= share;
        shares.push((stream, share));
    }
    // Where no window carries its share, each may still grow into it.
    let rest = left / streams.len().max(1) as f64;
    shares
        .into_iter()
        .map(|(stream, share)| (stream, Rate::from_f64(share + rest)))
        .collect()
}

/// Bits per second that the congestion window carries.
fn carried(tcp: &TcpSample) -> Option<f64> {
    let rtt = tcp.rtt?.as_secs_f64();
    let window = f64::from(tcp.cwnd_segments?) * tcp.mss?.as_f64() * 8.0;
    (rtt > 0.0).then(|| window / rtt)
}

#[cfg(test)]
mod tests {
    use units::{Bytes, Span};

    use super::*;

    fn reading(stream: u32, cwnd_segments: Option<u32>) -> StreamReading {
        StreamReading {
            stream,
            tcp: TcpSample {
                rtt: Some(Span::from_millis(100)),
                mss: Some(Bytes::new(1_250)),
                cwnd_segments,
                ..TcpSample::default()
            },
        }
    }

    #[test]
    fn all_of_the_rate_is_given_out_whatever_the_windows_are() {
        for windows in [
            vec![],
            vec![None],
            vec![None, Some(10), None],
            vec![Some(1), Some(2)],
            vec![Some(0), Some(5_000)],
        ] {
            let all: Vec<_> = (0..)
                .zip(&windows)
                .map(|(at, window)| reading(at, *window))
                .collect();
            let sum: f64 = shares(Rate::from_f64(9e6), &all)
                .iter()
                .map(|(_, rate)| rate.as_f64())
                .sum();
            let wanted = if windows.is_empty() { 0.0 } else { 9e6 };
            assert!((sum - wanted).abs() < 10.0, "{windows:?}: {sum}");
        }
    }

    #[test]
    fn windows_that_are_large_enough_have_even_shares() {
        let all = [
            reading(7, Some(900)),
            reading(3, Some(300)),
            reading(5, None),
        ];
        let mut shares = shares(Rate::from_f64(9e6), &all);
        shares.sort_unstable_by_key(|(stream, _)| *stream);
        let each = Rate::from_f64(3e6);
        assert_eq!(shares, [(3, each), (5, each), (7, each)]);
    }
}
