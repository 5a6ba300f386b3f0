//! One reading of several subflows.

use observe::TcpSample;
use units::{Bytes, Rate, Span, Time};

/// What the kernel counts of a connection itself, whatever its subflows carry twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Whole {
    /// Written, and not acknowledged yet.
    pub outstanding: Bytes,
    /// Sent once more over another subflow; this and the counts below since Linux 6.5.
    pub sent_again: Option<Bytes>,
    /// Each byte once.
    pub sent: Option<Bytes>,
    pub received: Option<Bytes>,
    pub acked: Option<Bytes>,
}

/// Counts and windows are sums, times those of the subflow with the longest. What arrived is what
/// the connection acknowledged, so that nothing counts twice.
pub(super) fn together(at: Time, parts: &[TcpSample], whole: &Whole) -> TcpSample {
    let each = || parts.iter();
    let under_way = each().map(|one| Some(one.mss?.times(one.unacked_segments?.into())));
    let under_way: Option<Bytes> = under_way.sum();
    let again = bytes(parts, |one| one.bytes_retransmitted);
    let again = again.map(|again| again + whole.sent_again.unwrap_or(Bytes::ZERO));
    let acked = whole.acked.or_else(|| bytes(parts, |one| one.bytes_acked));
    let received = || bytes(parts, |one| one.bytes_received);
    let sent = whole.sent.zip(again).map(|(once, again)| once + again);
    TcpSample {
        at,
        rtt: round_trip(parts, |one| one.rtt),
        rtt_min: round_trip(parts, |one| one.rtt_min),
        cwnd_segments: count(parts, |one| one.cwnd_segments),
        ssthresh_segments: count(parts, |one| one.ssthresh_segments),
        mss: each().filter_map(|one| one.mss).max(),
        unacked_segments: match parts {
            [] => (whole.outstanding == Bytes::ZERO).then_some(0),
            _ => count(parts, |one| one.unacked_segments),
        },
        peer_window: each().filter_map(|one| one.peer_window).max(),
        bytes_acked: acked,
        bytes_arrived: acked,
        bytes_received: whole.received.or_else(received),
        bytes_sent: sent.or_else(|| bytes(parts, |one| one.bytes_sent)),
        bytes_retransmitted: again,
        retransmits: count(parts, |one| one.retransmits),
        not_sent: under_way.map(|under_way| whole.outstanding - under_way),
        delivery_rate: rate(parts),
        busy: each().filter_map(|one| one.busy).max(),
        receive_window_limited: each().filter_map(|one| one.receive_window_limited).max(),
        send_buffer_limited: each().filter_map(|one| one.send_buffer_limited).max(),
        reorderings: count(parts, |one| one.reorderings),
        duplicates_reported: count(parts, |one| one.duplicates_reported),
        mark_echoed: each()
            .filter_map(|one| one.mark_echoed)
            .reduce(u32::saturating_add),
        ecn: each()
            .filter_map(|one| one.ecn)
            .reduce(|all, one| all && one),
        window_scaling: each().find_map(|one| one.window_scaling),
    }
}

/// `None` where one of them lacks it, or there is none.
fn count(parts: &[TcpSample], of: impl Fn(&TcpSample) -> Option<u32>) -> Option<u32> {
    let mut counts = parts.iter().map(of);
    let first = counts.next()??;
    counts.try_fold(first, |sum, one| Some(sum.saturating_add(one?)))
}

/// Zero where there is none: the connection tells of all its bytes.
fn bytes(parts: &[TcpSample], of: impl Fn(&TcpSample) -> Option<Bytes>) -> Option<Bytes> {
    parts.iter().map(of).sum()
}

fn rate(parts: &[TcpSample]) -> Option<Rate> {
    let rates = parts.iter().filter_map(|one| one.delivery_rate);
    let bits = rates.map(Rate::bits_per_second).reduce(u64::saturating_add);
    bits.map(Rate::from_bits_per_second)
}

/// All windows over all rates, where each subflow has the rate of its window over its round trip:
/// 10 segments of 10 ms and 30 of 30 ms are 40 segments of 20 ms.
fn round_trip(parts: &[TcpSample], of: impl Fn(&TcpSample) -> Option<Span>) -> Option<Span> {
    let known = parts.iter().filter_map(|one| {
        let window = f64::from(one.cwnd_segments?.max(1));
        Some((window, window / of(one)?.as_secs_f64()))
    });
    let (windows, rates) = known.fold((0.0, 0.0), |(windows, rates), (window, rate)| {
        (windows + window, rates + rate)
    });
    (rates > 0.0).then(|| Span::from_secs_f64(windows / rates))
}
