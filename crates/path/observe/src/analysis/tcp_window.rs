//! What the senders' kernels counted between the two ends of the steady window.

use units::{Bytes, Span, Time};

use super::{SteadyWindow, TcpSummary};
use crate::{SamplePlan, Stream, TcpSample};

/// A window counts as full from this share on: the last bit is held back by Linux to send whole
/// segments.
const WINDOW_FULL: f64 = 0.9;

/// The counters of all streams of one direction over `window`.
pub(super) fn tcp_summary(streams: &[&Stream], window: &SteadyWindow) -> TcpSummary {
    let slices: Vec<&[TcpSample]> = streams
        .iter()
        .map(|stream| within(&stream.tcp, window))
        .collect();
    let slices = Slices(slices.into_iter().filter(|slice| slice.len() > 1).collect());
    let busy = slices.grown(|sample| sample.busy.map(Span::as_secs_f64));
    let retransmits = slices.grown(|sample| sample.retransmits.map(f64::from));
    TcpSummary {
        busy_share: ratio(busy, Some(slices.wall_seconds())),
        receive_window_share: ratio(
            slices.grown(|sample| sample.receive_window_limited.map(Span::as_secs_f64)),
            busy,
        ),
        send_buffer_share: ratio(
            slices.grown(|sample| sample.send_buffer_limited.map(Span::as_secs_f64)),
            busy,
        ),
        not_sent_empty_share: not_sent_empty(&slices),
        window_full_share: slices.share(window_full),
        peer_window: slices
            .mean(|sample| sample.peer_window.map(Bytes::as_f64))
            .map(bytes),
        peer_window_fall: slices.largest_fall(|sample| sample.peer_window.map(Bytes::as_f64)),
        flight: slices.mean(flight).map(bytes),
        congestion_window: slices.mean(congestion_window).map(bytes),
        congestion_window_growth: slices.growth(congestion_window),
        mss: slices
            .mean(|sample| sample.mss.map(Bytes::as_f64))
            .map(bytes),
        retransmitted_share: retransmitted_share(&slices, retransmits),
        retransmits: retransmits.map(|segments| segments as u64),
        mark_echoed_share: mark_echoed_share(&slices),
        ecn: agreed_on_ecn(streams),
        duplicate_share: ratio(
            slices.grown(|sample| sample.duplicates_reported.map(f64::from)),
            retransmits,
        ),
        reorderings: slices
            .grown(|sample| sample.reorderings.map(f64::from))
            .map(|events| events as u64),
        rtt: slices
            .mean(|sample| sample.rtt.map(Span::as_secs_f64))
            .map(Span::from_secs_f64),
        rtt_min: streams
            .iter()
            .flat_map(|stream| &stream.tcp)
            .filter_map(|s| s.rtt_min)
            .min(),
    }
}

/// Share of readings over `window` at which nearly all of the congestion window was outstanding.
pub(super) fn congestion_window_full(streams: &[&Stream], window: &SteadyWindow) -> Option<f64> {
    let slices = streams.iter().map(|stream| within(&stream.tcp, window));
    Slices(slices.collect()).share(|sample| {
        let (outstanding, window) = (sample.unacked_segments?, sample.cwnd_segments?);
        Some(f64::from(outstanding) >= WINDOW_FULL * f64::from(window))
    })
}

/// The samples whose time lies in the window, give or take half an interval.
fn within<'a>(samples: &'a [TcpSample], window: &SteadyWindow) -> &'a [TcpSample] {
    let slack = Span::from_nanos(SamplePlan::INTERVAL.as_nanos() / 2);
    let before = |sample: &TcpSample| sample.at + slack < window.from;
    let start = samples.iter().take_while(|sample| before(sample)).count();
    let inside = |sample: &&TcpSample| sample.at <= window.to + slack;
    let length = samples[start..].iter().take_while(inside).count();
    &samples[start..start + length]
}

/// The samples of each stream within the window; at least two of each.
struct Slices<'a>(Vec<&'a [TcpSample]>);

impl Slices<'_> {
    /// How much a counter grew, over all streams; `None` when a stream does not have it.
    fn grown(&self, counter: impl Fn(&TcpSample) -> Option<f64>) -> Option<f64> {
        let of_one = |slice: &&[TcpSample]| {
            let (first, last) = (slice.first()?, slice.last()?);
            Some((counter(last)? - counter(first)?).max(0.0))
        };
        let sum = self.0.iter().map(of_one).sum::<Option<f64>>();
        sum.filter(|_| !self.0.is_empty())
    }

    /// Time between first and last sample, over all streams.
    fn wall_seconds(&self) -> f64 {
        let time = |sample: Option<&TcpSample>| sample.map_or(Time::ZERO, |sample| sample.at);
        let wall = |slice: &&[TcpSample]| time(slice.last()).since(time(slice.first()));
        self.0.iter().map(wall).map(Span::as_secs_f64).sum()
    }

    /// Mean of a figure over all samples that have it.
    fn mean(&self, figure: impl Fn(&TcpSample) -> Option<f64>) -> Option<f64> {
        let figures: Vec<f64> = self
            .0
            .iter()
            .copied()
            .flatten()
            .filter_map(figure)
            .collect();
        stats::mean(&figures)
    }

    /// The largest fall of a figure below its highest reading before, as a share of that.
    fn largest_fall(&self, figure: impl Fn(&TcpSample) -> Option<f64> + Copy) -> Option<f64> {
        let of_one = |slice: &&[TcpSample]| {
            let mut most = 0.0_f64;
            let falls = slice.iter().filter_map(figure).map(|now| {
                most = most.max(now);
                if most > 0.0 { 1.0 - now / most } else { 0.0 }
            });
            falls.reduce(f64::max)
        };
        self.0.iter().filter_map(of_one).reduce(f64::max)
    }

    /// Share of samples for which `holds`, among those that tell.
    fn share(&self, holds: impl Fn(&TcpSample) -> Option<bool>) -> Option<f64> {
        self.mean(|sample| holds(sample).map(|held| f64::from(u8::from(held))))
    }

    /// Growth of a figure from the first to the last third of the window, as a share of the first.
    fn growth(&self, figure: impl Fn(&TcpSample) -> Option<f64> + Copy) -> Option<f64> {
        let first = |slice: &&[TcpSample]| slice.len() / 3;
        let mut early = Slices(Vec::new());
        let mut late = Slices(Vec::new());
        for slice in self.0.iter().filter(|slice| slice.len() >= 3) {
            early.0.push(&slice[..first(slice)]);
            late.0.push(&slice[slice.len() - first(slice)..]);
        }
        ratio(late.mean(figure), early.mean(figure)).map(|ratio| ratio - 1.0)
    }
}

/// Share of readings at which nothing was left to send. A sender over UDP tells of it when that is
/// so, and has no figure otherwise.
fn not_sent_empty(slices: &Slices<'_>) -> Option<f64> {
    let mut samples = slices.0.iter().copied().flatten();
    let tells = samples.any(|sample| sample.not_sent.is_some());
    slices.share(|sample| tells.then_some(sample.not_sent == Some(Bytes::ZERO)))
}

fn flight(sample: &TcpSample) -> Option<f64> {
    Some(f64::from(sample.unacked_segments?) * sample.mss?.as_f64())
}

fn congestion_window(sample: &TcpSample) -> Option<f64> {
    Some(f64::from(sample.cwnd_segments?) * sample.mss?.as_f64())
}

fn window_full(sample: &TcpSample) -> Option<bool> {
    Some(flight(sample)? >= WINDOW_FULL * sample.peer_window?.as_f64())
}

/// By bytes where the kernel counts them, else by segments of the usual size.
fn retransmitted_share(slices: &Slices<'_>, retransmits: Option<f64>) -> Option<f64> {
    let repeated = slices.grown(|sample| sample.bytes_retransmitted.map(Bytes::as_f64));
    let sent = slices.grown(|sample| sample.bytes_sent.map(Bytes::as_f64));
    ratio(repeated, sent).or_else(|| {
        let acked = slices.grown(|sample| sample.bytes_acked.map(Bytes::as_f64))?;
        let repeated = retransmits? * slices.mean(|sample| sample.mss.map(Bytes::as_f64))?;
        ratio(Some(repeated), Some(acked + repeated))
    })
}

/// By segments of the usual size.
fn mark_echoed_share(slices: &Slices<'_>) -> Option<f64> {
    let echoed = slices.grown(|sample| sample.mark_echoed.map(f64::from))?;
    let echoed = echoed * slices.mean(|sample| sample.mss.map(Bytes::as_f64))?;
    let arrived = |sample: &TcpSample| sample.bytes_arrived.or(sample.bytes_acked);
    let arrived = slices.grown(|sample| arrived(sample).map(Bytes::as_f64));
    ratio(Some(echoed), arrived).map(|share| share.min(1.0))
}

/// Whether all streams did; `None` where one does not tell.
fn agreed_on_ecn(streams: &[&Stream]) -> Option<bool> {
    let of_one = |stream: &&Stream| stream.tcp.iter().rev().find_map(|sample| sample.ecn);
    let each = streams.iter().map(of_one);
    let each: Vec<bool> = each.collect::<Option<_>>()?;
    (!each.is_empty()).then(|| each.iter().all(|agreed| *agreed))
}

fn ratio(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    let whole = whole.filter(|whole| *whole > 0.0)?;
    Some(part? / whole)
}

fn bytes(count: f64) -> Bytes {
    Bytes::new(count.round() as u64)
}
