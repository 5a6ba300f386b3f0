//! What arrived over the steady window, which bounds the goodput.
//!
//! A receiving program reads in order. What arrives after a loss waits behind the hole, and is read
//! all at once when the hole is filled. Where that happens at the beginning of the window, it is
//! read within the window and had come before: after many losses a short run would show some per
//! cent more than its link carries. The senders count what reached the receiver in order or not
//! (`tcpi_delivered`), so goodput is taken for no more than what arrived.
//!
//! It is an upper bound and no second goodput: Linux counts whole segments, short ones and
//! duplicates included, and what waits at the end of the window has arrived and is not goodput yet.
//!
//! A sender hears of arrivals half a round trip late. Over a window in which the rate has settled
//! that makes no difference; while the rate still grows it would take away what has just arrived.
//! There, what was read by the end of the window counts as arrived, whether or not the sender has
//! heard of it.

use units::{Bytes, Rate};

use super::series::bytes_at;
use super::{Goodput, RateInterval, Steadiness, SteadyWindow};
use crate::{Progress, SamplePlan, Stream, TcpSample};

/// Lowers the goodput of one direction, and its streams' shares with it, to what arrived over the
/// window. Nothing changes where a sender does not tell.
pub(super) fn bound(
    streams: &[&Stream],
    window: &SteadyWindow,
    goodput: Goodput,
    shares: Vec<Rate>,
) -> (Goodput, Vec<Rate>) {
    let arrived = streams.iter().map(|stream| arrived(stream, window));
    match arrived.sum::<Option<f64>>() {
        Some(most) if most < goodput.mean.as_f64() => lowered(goodput, shares, most),
        _ => (goodput, shares),
    }
}

/// The interval keeps its width, the shares their proportions.
fn lowered(goodput: Goodput, shares: Vec<Rate>, mean: f64) -> (Goodput, Vec<Rate>) {
    let before = goodput.mean.as_f64();
    let less = |rate: Rate| Rate::from_f64((rate.as_f64() - (before - mean)).max(0.0));
    let shifted =
        |interval: RateInterval| RateInterval::new(less(interval.low), less(interval.high));
    let scaled = |share: Rate| Rate::from_f64(share.as_f64() * (mean / before));
    let lowered = Goodput {
        mean: Rate::from_f64(mean),
        interval: goodput.interval.map(shifted),
        scatter: goodput.scatter.map(shifted),
    };
    (lowered, shares.into_iter().map(scaled).collect())
}

/// Bits per second of one stream that arrived over the window; `None` where its sender did not tell
/// of nearly all of it.
fn arrived(stream: &Stream, window: &SteadyWindow) -> Option<f64> {
    let readings = readings(&stream.tcp)?;
    let to = window.to.min(readings.last()?.at);
    if to + SamplePlan::INTERVAL < window.to || to <= window.from {
        return None;
    }
    let first = bytes_at(&readings, window.from);
    let last = match window.steadiness {
        Steadiness::Settled => bytes_at(&readings, to),
        _ => bytes_at(&readings, to).max(bytes_at(&stream.delivery.progress, to)),
    };
    let seconds = to.since(window.from).as_secs_f64();
    (last >= first).then(|| (last - first) * 8.0 / seconds)
}

/// What a sender said of arrivals; `None` where one reading lacks it, where counts go back, or
/// where its segments changed their size, by which Linux's count is multiplied.
fn readings(samples: &[TcpSample]) -> Option<Vec<Progress>> {
    let mss = samples.first()?.mss;
    let reading = |sample: &TcpSample| {
        let progress = |bytes: Bytes| Progress {
            at: sample.at,
            bytes,
        };
        sample
            .bytes_arrived
            .filter(|_| sample.mss == mss)
            .map(progress)
    };
    let readings: Option<Vec<Progress>> = samples.iter().map(reading).collect();
    readings.filter(|readings| readings.is_sorted_by(|a, b| a.at <= b.at && a.bytes <= b.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_interval_and_shares_come_down_together() {
        let mbit = |n: u64| Rate::from_bits_per_second(n * 1_000_000);
        let goodput = Goodput {
            mean: mbit(100),
            interval: Some(RateInterval::new(mbit(3), mbit(197))),
            scatter: None,
        };
        let (lower, shares) = lowered(goodput, vec![mbit(75), mbit(25)], 96e6);
        let interval = RateInterval::new(Rate::ZERO, mbit(193));
        assert_eq!((lower.mean, lower.interval), (mbit(96), Some(interval)));
        assert_eq!(shares, [mbit(72), mbit(24)]);
    }
}
