//! From the counters of the streams to what happened between two readings.

use std::collections::BTreeMap;

use observe::TcpSample;
use units::{Bytes, Rate, Span, Time};

/// A congestion window that is filled to this share limits its stream.
const WINDOW_FULL: f64 = 0.9;

/// Segment size where the kernel does not tell it.
const SEGMENT: Bytes = Bytes::new(1448);

/// One stream of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamReading {
    /// Its number: the same from reading to reading, and never that of another stream.
    pub stream: u32,
    /// What its sender's kernel says.
    pub tcp: TcpSample,
}

/// What all streams did between two readings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Interval {
    pub length: Span,
    /// Bytes that reached the peer.
    pub delivered: Bytes,
    pub packets: f64,
    /// Packets sent again, without those that the peer had already.
    pub lost: f64,
    /// Lower quartile of the round trips of the streams that delivered.
    pub rtt: Option<Span>,
    /// Smallest round trip that any of them ever saw.
    pub rtt_min: Option<Span>,
    /// Whether congestion windows limit at least a quarter of the streams that delivered.
    pub windows_bind: bool,
}

impl Interval {
    pub fn rate(&self) -> f64 {
        Rate::of(self.delivered, self.length).as_f64()
    }
}

/// The last reading of each stream.
#[derive(Debug, Clone, Default)]
pub(super) struct Readings {
    last: BTreeMap<u32, TcpSample>,
    at: Option<Time>,
}

impl Readings {
    /// What happened since the last reading; `None` for the first and for one at the same time.
    pub fn take(&mut self, at: Time, streams: &[StreamReading]) -> Option<Interval> {
        let before = self.at.replace(at);
        let moves: Vec<Move> = streams.iter().filter_map(|one| self.moved(one)).collect();
        self.last = streams.iter().map(|one| (one.stream, one.tcp)).collect();
        let length = at.since(before?);
        (length > Span::ZERO).then(|| sum(length, &moves))
    }

    /// What one stream did; `None` when it is new or delivered nothing.
    fn moved(&self, one: &StreamReading) -> Option<Move> {
        let (now, before) = (&one.tcp, self.last.get(&one.stream)?);
        let delivered = arrived(now)? - arrived(before)?;
        if delivered == Bytes::ZERO {
            return None;
        }
        let sent = now.bytes_sent.zip(before.bytes_sent);
        let sent = sent.map_or(delivered, |(now, before)| now - before);
        let again = grown(now.retransmits, before.retransmits);
        let in_vain = grown(now.duplicates_reported, before.duplicates_reported);
        Some(Move {
            delivered,
            packets: packets_of(sent, now),
            lost: f64::from(again.saturating_sub(in_vain)),
            rtt: latest(now.rtt, before.rtt, packets_of(delivered, now)).max(now.rtt_min),
            rtt_min: now.rtt_min,
            window_binds: is_window_full(now),
        })
    }
}

struct Move {
    delivered: Bytes,
    packets: f64,
    lost: f64,
    rtt: Option<Span>,
    rtt_min: Option<Span>,
    window_binds: bool,
}

fn sum(length: Span, moves: &[Move]) -> Interval {
    let mut trips: Vec<Span> = moves.iter().filter_map(|one| one.rtt).collect();
    trips.sort_unstable();
    let full = moves.iter().filter(|one| one.window_binds).count();
    Interval {
        length,
        delivered: Bytes::new(moves.iter().map(|one| one.delivered.get()).sum()),
        packets: moves.iter().map(|one| one.packets).sum(),
        lost: moves.iter().map(|one| one.lost).sum(),
        // A long round trip is a slow host at least as often as a queue.
        rtt: trips.get(trips.len().saturating_sub(1) / 4).copied(),
        rtt_min: moves.iter().filter_map(|one| one.rtt_min).min(),
        windows_bind: full > 0 && 4 * full >= moves.len(),
    }
}

fn packets_of(bytes: Bytes, tcp: &TcpSample) -> f64 {
    let size = tcp.mss.filter(|mss| *mss > Bytes::ZERO);
    bytes.as_f64() / size.unwrap_or(SEGMENT).as_f64()
}

/// Round trip since the last reading, with the older share taken out of the smoothed one.
///
/// Each acknowledgement moves the smoothed round trip by an eighth of the difference (RFC 6298
/// section 2) and covers two packets. After one of them the smoothed value says little: 40 ms and
/// then 48 ms give 41 ms. After many there is nothing to correct.
fn latest(now: Option<Span>, before: Option<Span>, packets: f64) -> Option<Span> {
    let (now, before) = (now?, before.or(now)?);
    let old = 0.875_f64.powf((packets / 2.0).round().max(1.0));
    let (new, past) = (now.as_secs_f64(), before.as_secs_f64());
    Some(Span::from_secs_f64(
        ((new - old * past) / (1.0 - old)).max(0.0),
    ))
}

/// Bytes that arrived, in order or not where the kernel tells, else acknowledged.
fn arrived(tcp: &TcpSample) -> Option<Bytes> {
    tcp.bytes_arrived.or(tcp.bytes_acked)
}

fn grown(now: Option<u32>, before: Option<u32>) -> u32 {
    now.unwrap_or(0).saturating_sub(before.unwrap_or(0))
}

fn is_window_full(tcp: &TcpSample) -> bool {
    let filled = tcp.unacked_segments.zip(tcp.cwnd_segments);
    filled.is_some_and(|(unacked, cwnd)| f64::from(unacked) >= WINDOW_FULL * f64::from(cwnd))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_acknowledgement_is_taken_out_of_the_mean() {
        let millis = |millis| Some(Span::from_millis(millis));
        assert_eq!(latest(millis(41), millis(40), 2.0), millis(48));
        assert_eq!(latest(millis(41), None, 2.0), millis(41));
        // After 24 of them a twenty-fourth of the old one is left.
        let many = latest(millis(41), millis(40), 48.0).unwrap();
        assert!(many < Span::from_micros(41_050), "{many}");
    }
}
