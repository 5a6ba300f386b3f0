//! From the counters of many streams to what happened since the reading before.

use std::collections::BTreeMap;

use observe::TcpSample;
use units::{Bytes, Rate, Span, Time};

/// A stream whose congestion window is filled to this share is held back by it.
const WINDOW_FULL: f64 = 0.9;

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
    /// Packets that were sent again, but for those that the peer had already.
    pub lost: f64,
    /// Median smoothed round trip of the streams that moved.
    pub rtt: Option<Span>,
    /// Smallest round trip that any of them ever saw.
    pub rtt_min: Option<Span>,
    /// Whether congestion windows hold back half of the streams that moved.
    pub windows_bind: bool,
}

impl Interval {
    pub fn rate(&self) -> f64 {
        Rate::of(self.delivered, self.length).as_f64()
    }
}

/// The last reading of each stream.
#[derive(Debug, Clone, Default)]
pub(super) struct Intake {
    last: BTreeMap<u32, TcpSample>,
    at: Option<Time>,
}

impl Intake {
    /// Takes in a reading; `None` for the first one and for one that is no later than the one before.
    pub fn take(&mut self, at: Time, streams: &[StreamReading]) -> Option<Interval> {
        let before = self.at.replace(at);
        let moves: Vec<Move> = streams.iter().filter_map(|one| self.moved(one)).collect();
        self.last = streams.iter().map(|one| (one.stream, one.tcp)).collect();
        let length = at.since(before?);
        (length > Span::ZERO).then(|| sum(length, &moves))
    }

    /// What one stream did; `None` when it is new, or nothing of it arrived.
    fn moved(&self, one: &StreamReading) -> Option<Move> {
        let (now, before) = (&one.tcp, self.last.get(&one.stream)?);
        let delivered = arrived(now)? - arrived(before)?;
        if delivered == Bytes::ZERO {
            return None;
        }
        let sent = now.bytes_sent.zip(before.bytes_sent);
        let sent = sent.map_or(delivered, |(now, before)| now - before);
        let packet = now.mss.filter(|mss| *mss > Bytes::ZERO);
        let again = grown(now.retransmits, before.retransmits);
        let in_vain = grown(now.duplicates_reported, before.duplicates_reported);
        Some(Move {
            delivered,
            packets: sent.as_f64() / packet.unwrap_or(Bytes::new(1448)).as_f64(),
            lost: f64::from(again.saturating_sub(in_vain)),
            rtt: now.rtt,
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
        rtt: trips.get(trips.len() / 2).copied(),
        rtt_min: moves.iter().filter_map(|one| one.rtt_min).min(),
        windows_bind: full > 0 && 2 * full >= moves.len(),
    }
}

/// In order or not, where the kernel tells.
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
