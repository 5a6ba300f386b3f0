//! What one interval of a copy showed.

use std::collections::BTreeMap;

use copy_protocol::Activity;
use observe::{TcpSample, Transport};
use units::{Bytes, Rate, Span};

/// What one interval of a copy showed. Intervals follow each other without gaps; 0.1 to 0.5 s is
/// best, shorter ones do no harm.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Interval {
    /// How long it was.
    pub length: Span,
    /// What the sender's kernel said of the streams, see [`Meter`].
    pub streams: Streams,
    /// Bytes of files that are still to be sent; `None` while unknown.
    pub left: Option<Bytes>,
    /// The bound on the rate that was in force.
    pub rate_max: Option<RateMax>,
    /// The rate that a gentle copy allowed itself.
    pub rate_gentle: Option<Rate>,
    /// Both ends are on one host, so that there is no path between them.
    pub is_one_host: bool,
    /// What carries the streams.
    pub transport: Transport,
    /// What the sender's threads did, as of its last report.
    pub sender: Option<Activity>,
    /// What the receiver's threads did, as of its last report.
    pub receiver: Option<Activity>,
}

/// A bound on the rate of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateMax {
    /// The bound.
    pub rate: Rate,
    /// Whose it is.
    pub set_by: SetBy,
}

/// Who set a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetBy {
    /// The user of the copy.
    User,
    /// The server: the copy's part of what all of its copies may have.
    Server,
}

impl RateMax {
    /// The lower one of two bounds.
    pub fn lower(user: Option<Rate>, server: Option<Rate>) -> Option<Self> {
        let bound = |rate: Option<Rate>, set_by| rate.map(|rate| RateMax { rate, set_by });
        let both = [bound(user, SetBy::User), bound(server, SetBy::Server)];
        both.into_iter().flatten().min_by_key(|bound| bound.rate)
    }
}

/// What the sender's kernel said of all streams over one interval, sums over the streams unless it
/// says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Streams {
    /// Streams that carried data at its end.
    pub count: u16,
    /// Payload that reached the receiver.
    pub arrived: Bytes,
    /// Payload sent, repeats included; `None` where the kernel does not count it.
    pub sent: Option<Bytes>,
    /// Payload sent again.
    pub retransmitted: Option<Bytes>,
    /// Segments of which an acknowledgement echoed a congestion mark; `None` without ECN.
    pub mark_echoed: Option<u64>,
    /// Whether all streams of which that is known agreed on ECN.
    pub ecn: Option<bool>,
    /// Mean smoothed round trip.
    pub rtt: Option<Span>,
    /// The smallest round trip that any stream ever saw.
    pub rtt_min: Option<Span>,
    /// Payload of a segment.
    pub segment: Option<Bytes>,
    /// Congestion windows.
    pub congestion_window: Option<Bytes>,
    /// Sent and not yet acknowledged.
    pub outstanding: Option<Bytes>,
    /// The mean window that the receiver offers to one stream.
    pub peer_window: Option<Bytes>,
    /// Time with data outstanding.
    pub busy: Option<Span>,
    /// Busy time held back by the receiver's window.
    pub receive_window_limited: Option<Span>,
    /// Busy time held back by the send buffer.
    pub send_buffer_limited: Option<Span>,
    /// Streams whose kernel had nothing left to send.
    pub without_data: Option<u16>,
}

impl Streams {
    /// Payload sent again as a share of what was sent.
    pub fn retransmitted_share(&self) -> Option<f64> {
        let (again, sent) = (self.retransmitted?, self.sent?);
        (sent > Bytes::ZERO).then(|| again.as_f64() / sent.as_f64())
    }

    /// Segments of which an acknowledgement echoed a mark, as a share of those that arrived.
    pub fn mark_echoed_share(&self) -> Option<f64> {
        mark_echoed_share(self.mark_echoed, self.segment, self.arrived)
    }
}

/// Segments of the usual size, as a share of what arrived.
pub(super) fn mark_echoed_share(
    echoed: Option<u64>,
    segment: Option<Bytes>,
    arrived: Bytes,
) -> Option<f64> {
    let echoed = segment?.times(echoed?).as_f64();
    (arrived > Bytes::ZERO).then(|| (echoed / arrived.as_f64()).min(1.0))
}

/// Turns readings of `TCP_INFO`, which count from the start of each connection, into differences.
#[derive(Debug, Clone, Default)]
pub struct Meter {
    last: BTreeMap<u32, TcpSample>,
}

impl Meter {
    /// What happened since the last reading. Streams are identified by their numbers, which are not
    /// used twice; those that are missing have ended.
    ///
    /// ```
    /// use observe::TcpSample;
    /// use steer::online::Meter;
    /// use units::Bytes;
    /// let acked = |kib| TcpSample { bytes_acked: Some(Bytes::from_kib(kib)), ..TcpSample::default() };
    /// let mut meter = Meter::default();
    /// meter.read([(1, acked(100)), (2, acked(40))]);
    /// // Stream 1 carried 50 KiB more, stream 2 left, and stream 3 came.
    /// let streams = meter.read([(1, acked(150)), (3, acked(10))]);
    /// assert_eq!((streams.count, streams.arrived), (2, Bytes::from_kib(60)));
    /// ```
    pub fn read(&mut self, samples: impl IntoIterator<Item = (u32, TcpSample)>) -> Streams {
        let now: BTreeMap<u32, TcpSample> = samples.into_iter().collect();
        let nothing = TcpSample::default();
        let pairs: Vec<(&TcpSample, &TcpSample)> = now
            .iter()
            .map(|(number, sample)| (self.last.get(number).unwrap_or(&nothing), sample))
            .collect();
        let streams = between(&pairs);
        self.last = now;
        streams
    }
}

/// The sum over streams of a counter's growth; `None` where no kernel has it.
fn grown<T>(
    pairs: &[(&TcpSample, &TcpSample)],
    counter: impl Fn(&TcpSample) -> Option<T>,
    minus: impl Fn(T, T) -> T,
    plus: impl Fn(T, T) -> T,
) -> Option<T> {
    let each = pairs.iter().filter_map(|(before, now)| {
        let now = counter(now)?;
        Some(match counter(before) {
            Some(before) => minus(now, before),
            None => now,
        })
    });
    each.reduce(plus)
}

fn bytes(
    pairs: &[(&TcpSample, &TcpSample)],
    counter: impl Fn(&TcpSample) -> Option<Bytes>,
) -> Option<Bytes> {
    grown(pairs, counter, |a, b| a - b, |a, b| a + b)
}

fn span(
    pairs: &[(&TcpSample, &TcpSample)],
    counter: impl Fn(&TcpSample) -> Option<Span>,
) -> Option<Span> {
    grown(pairs, counter, |a, b| a - b, |a, b| a + b)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    stats::mean(&values)
}

fn between(pairs: &[(&TcpSample, &TcpSample)]) -> Streams {
    let now = || pairs.iter().map(|(_, now)| *now);
    let in_bytes = |segments: fn(&TcpSample) -> Option<u32>| {
        let each = now().filter_map(|one| Some(one.mss?.times(segments(one)?.into())));
        each.reduce(|a, b| a + b)
    };
    let seconds = |value: Option<Span>| value.map(Span::as_secs_f64);
    let empty = now().filter_map(|one| Some(one.not_sent? == Bytes::ZERO));
    Streams {
        count: u16::try_from(pairs.len()).unwrap_or(u16::MAX),
        arrived: bytes(pairs, |one| one.bytes_arrived.or(one.bytes_acked)).unwrap_or(Bytes::ZERO),
        sent: bytes(pairs, |one| one.bytes_sent),
        retransmitted: bytes(pairs, |one| one.bytes_retransmitted),
        mark_echoed: grown(
            pairs,
            |one| one.mark_echoed.map(u64::from),
            u64::saturating_sub,
            |a, b| a + b,
        ),
        ecn: now().filter_map(|one| one.ecn).reduce(|a, b| a && b),
        rtt: mean(now().filter_map(|one| seconds(one.rtt))).map(Span::from_secs_f64),
        rtt_min: now().filter_map(|one| one.rtt_min).min(),
        segment: now().filter_map(|one| one.mss).min(),
        congestion_window: in_bytes(|one| one.cwnd_segments),
        outstanding: in_bytes(|one| one.unacked_segments),
        peer_window: mean(now().filter_map(|one| Some(one.peer_window?.as_f64())))
            .map(|bytes| Bytes::new(bytes as u64)),
        busy: span(pairs, |one| one.busy),
        receive_window_limited: span(pairs, |one| one.receive_window_limited),
        send_buffer_limited: span(pairs, |one| one.send_buffer_limited),
        without_data: empty.map(u16::from).reduce(|a, b| a.saturating_add(b)),
    }
}
