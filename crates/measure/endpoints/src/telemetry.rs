//! Readings of the streams in their form on the wire.

use measure_protocol::{Role, StreamTelemetry, Telemetry, stream_id};
use observe::{Progress, SamplePlan, StreamDirection, TcpSample};
use units::{Bytes, Rate, Span, Time};

use crate::series::StreamSeries;
use crate::stream::StreamThread;

/// Most cells sent to the peer: a few megabytes of JSON.
pub(crate) const CELLS_MAX: usize = 400_000;
/// Most cells sent against the streams' own data, of which they get the share of one stream: a few
/// hundred kilobytes.
pub(crate) const CELLS_BESIDE_DATA_MAX: usize = 50_000;

type Get = fn(&TcpSample) -> Option<u64>;
type Put = fn(&mut TcpSample, u64);

fn bytes(value: Option<Bytes>) -> Option<u64> {
    value.map(Bytes::get)
}

fn micros(value: Option<Span>) -> Option<u64> {
    value.map(|span| span.as_nanos() / 1_000)
}

fn count(value: u64) -> Option<u32> {
    u32::try_from(value).ok()
}

/// The sender's columns behind `time_us` and `bytes`.
const COLUMNS: &[(&str, Get, Put)] = &[
    (
        "rtt_us",
        |s| micros(s.rtt),
        |s, v| s.rtt = Some(Span::from_micros(v)),
    ),
    (
        "rtt_min_us",
        |s| micros(s.rtt_min),
        |s, v| s.rtt_min = Some(Span::from_micros(v)),
    ),
    (
        "cwnd_segments",
        |s| s.cwnd_segments.map(u64::from),
        |s, v| s.cwnd_segments = count(v),
    ),
    (
        "ssthresh_segments",
        |s| s.ssthresh_segments.map(u64::from),
        |s, v| s.ssthresh_segments = count(v),
    ),
    (
        "mss_bytes",
        |s| bytes(s.mss),
        |s, v| s.mss = Some(Bytes::new(v)),
    ),
    (
        "unacked_segments",
        |s| s.unacked_segments.map(u64::from),
        |s, v| s.unacked_segments = count(v),
    ),
    (
        "peer_window_bytes",
        |s| bytes(s.peer_window),
        |s, v| s.peer_window = Some(Bytes::new(v)),
    ),
    (
        "acked_bytes",
        |s| bytes(s.bytes_acked),
        |s, v| s.bytes_acked = Some(Bytes::new(v)),
    ),
    (
        "arrived_bytes",
        |s| bytes(s.bytes_arrived),
        |s, v| s.bytes_arrived = Some(Bytes::new(v)),
    ),
    (
        "received_bytes",
        |s| bytes(s.bytes_received),
        |s, v| s.bytes_received = Some(Bytes::new(v)),
    ),
    (
        "sent_bytes",
        |s| bytes(s.bytes_sent),
        |s, v| s.bytes_sent = Some(Bytes::new(v)),
    ),
    (
        "retransmitted_bytes",
        |s| bytes(s.bytes_retransmitted),
        |s, v| s.bytes_retransmitted = Some(Bytes::new(v)),
    ),
    (
        "retransmits",
        |s| s.retransmits.map(u64::from),
        |s, v| s.retransmits = count(v),
    ),
    (
        "not_sent_bytes",
        |s| bytes(s.not_sent),
        |s, v| s.not_sent = Some(Bytes::new(v)),
    ),
    (
        "delivery_bits_per_second",
        |s| s.delivery_rate.map(Rate::bits_per_second),
        |s, v| s.delivery_rate = Some(Rate::from_bits_per_second(v)),
    ),
    (
        "busy_us",
        |s| micros(s.busy),
        |s, v| s.busy = Some(Span::from_micros(v)),
    ),
    (
        "receive_window_limited_us",
        |s| micros(s.receive_window_limited),
        |s, v| s.receive_window_limited = Some(Span::from_micros(v)),
    ),
    (
        "send_buffer_limited_us",
        |s| micros(s.send_buffer_limited),
        |s, v| s.send_buffer_limited = Some(Span::from_micros(v)),
    ),
    (
        "reorderings",
        |s| s.reorderings.map(u64::from),
        |s, v| s.reorderings = count(v),
    ),
    (
        "duplicates_reported",
        |s| s.duplicates_reported.map(u64::from),
        |s, v| s.duplicates_reported = count(v),
    ),
    (
        "mark_echoed_segments",
        |s| s.mark_echoed.map(u64::from),
        |s, v| s.mark_echoed = count(v),
    ),
    (
        "ecn",
        |s| s.ecn.map(u64::from),
        |s, v| s.ecn = (v <= 1).then_some(v == 1),
    ),
    (
        "windows_unscaled",
        |s| s.window_scaling.filter(|scales| !scales).map(|_| 1),
        |s, v| s.window_scaling = (v == 1).then_some(false),
    ),
];

const TIME: &str = "time_us";
const BYTES: &str = "bytes";

/// What this end's streams are told apart by in the table.
pub(crate) struct Written<'a> {
    pub series: &'a StreamSeries,
    pub role: Role,
    pub stream: &'a StreamThread,
}

/// The table for the peer, the streams in the order of their opening.
///
/// * `cells_max`: beyond that readings are left out evenly.
///
/// A receiver's rows end after the bytes it counted: its own `TCP_INFO` tells nothing of the path.
pub(crate) fn write(streams: &[Written<'_>], cells_max: usize) -> Telemetry {
    let names = [TIME, BYTES].into_iter();
    let names = names.chain(COLUMNS.iter().map(|(name, ..)| *name));
    let mut table = Telemetry::new(names.map(str::to_owned).collect());
    let rows = |(index, written): (usize, &Written<'_>)| {
        let buffers = written.stream.connection.buffers().ok();
        StreamTelemetry {
            id: stream_id(u16::try_from(index).unwrap_or(u16::MAX)),
            role: written.role,
            send_buffer: buffers.map(|buffers| buffers.send.granted.get()),
            receive_buffer: buffers.map(|buffers| buffers.receive.granted.get()),
            rows: rows(written),
        }
    };
    table.streams = streams.iter().enumerate().map(rows).collect();
    table.thin(cells_max);
    table
}

fn rows(written: &Written<'_>) -> Vec<Vec<Option<u64>>> {
    let progress = written.series.progress.kept().iter();
    let base = progress.clone().map(|reading| {
        vec![
            micros(Some(reading.at.since(Time::ZERO))),
            bytes(Some(reading.bytes)),
        ]
    });
    match written.role {
        Role::Receiver => base.collect(),
        Role::Sender => base.zip(written.series.tcp.kept()).map(with_tcp).collect(),
    }
}

fn with_tcp((mut row, sample): (Vec<Option<u64>>, &TcpSample)) -> Vec<Option<u64>> {
    row.extend(COLUMNS.iter().map(|(_, get, _)| get(sample)));
    row
}

/// What a peer's table says of one stream, as far as its columns are known here.
pub(crate) struct Read {
    pub progress: Vec<Progress>,
    pub tcp: Vec<TcpSample>,
    /// `SO_SNDBUF` and `SO_RCVBUF` as granted there.
    pub buffers: Option<(Bytes, Bytes)>,
}

impl Read {
    /// The rows of a peer that was told when to begin counting and when to end, `length` apart.
    ///
    /// Either message may be lost on a full path and arrive late, and streams that were told one by
    /// one would then not lie beside each other. Rows that end too soon began late: they are moved
    /// to end in time. Of those that go on too long, more than a reading beyond the end is left
    /// out.
    pub(crate) fn fitted(mut self, length: Span) -> Self {
        let end = Time::ZERO + length;
        let last = self.progress.last().map_or(end, |reading| reading.at);
        let late = end.since(last);
        self.progress
            .iter_mut()
            .for_each(|reading| reading.at += late);
        self.tcp.iter_mut().for_each(|sample| sample.at += late);
        let latest = end + SamplePlan::INTERVAL;
        self.progress.retain(|reading| reading.at <= latest);
        self.tcp.retain(|sample| sample.at <= latest);
        self
    }
}

/// Reads the rows of the stream that the peer served in the `direction` opposite to ours.
pub(crate) fn read(table: &Telemetry, index: u16, direction: StreamDirection) -> Option<Read> {
    let role = match direction {
        StreamDirection::Sending => Role::Receiver,
        StreamDirection::Receiving => Role::Sender,
    };
    let id = stream_id(index);
    let mut streams = table.streams.iter();
    let stream = streams.find(|stream| stream.id == id && stream.role == role)?;
    let header = Header::of(table)?;
    let rows = stream.rows.iter();
    Some(Read {
        progress: rows
            .clone()
            .filter_map(|row| header.progress(row))
            .collect(),
        tcp: match role {
            Role::Sender => rows.filter_map(|row| header.sample(row)).collect(),
            Role::Receiver => Vec::new(),
        },
        buffers: granted(stream),
    })
}

fn granted(stream: &StreamTelemetry) -> Option<(Bytes, Bytes)> {
    let (send, receive) = (stream.send_buffer?, stream.receive_buffer?);
    Some((Bytes::new(send), Bytes::new(receive)))
}

/// Where the columns known here stand in a peer's table.
struct Header {
    time: usize,
    bytes: usize,
    tcp: Vec<(usize, Put)>,
}

impl Header {
    fn of(table: &Telemetry) -> Option<Self> {
        let known = COLUMNS.iter();
        let known = known.filter_map(|(name, _, put)| Some((table.column(name)?, *put)));
        Some(Header {
            time: table.column(TIME)?,
            bytes: table.column(BYTES)?,
            tcp: known.collect(),
        })
    }

    fn at(&self, row: &[Option<u64>]) -> Option<Time> {
        Some(Time::ZERO + Span::from_micros(cell(row, self.time)?))
    }

    fn progress(&self, row: &[Option<u64>]) -> Option<Progress> {
        let (at, bytes) = (self.at(row)?, cell(row, self.bytes)?);
        Some(Progress {
            at,
            bytes: Bytes::new(bytes),
        })
    }

    fn sample(&self, row: &[Option<u64>]) -> Option<TcpSample> {
        let mut sample = TcpSample {
            at: self.at(row)?,
            ..TcpSample::default()
        };
        let cells = self.tcp.iter();
        let cells = cells.filter_map(|(column, put)| Some((put, cell(row, *column)?)));
        cells.for_each(|(put, value)| put(&mut sample, value));
        Some(sample)
    }
}

fn cell(row: &[Option<u64>], column: usize) -> Option<u64> {
    row.get(column).copied().flatten()
}

#[cfg(test)]
mod tests;
