//! The readings of measured runs: ten times a second of each stream, and every probe.

use trunkline::AnyDocument;
use trunkline::record::{Probe, Run, Stream, StreamDirection, TcpSample};
use trunkline::units::{Bytes, Rate, Span};

use super::Columns;

/// The runs of a document, in its order.
pub fn of(document: &AnyDocument) -> Vec<&Run> {
    match document {
        AnyDocument::Measure(document) => vec![&document.body.run],
        AnyDocument::Tune(document) => {
            let samples = document.body.samples.iter();
            samples.map(|sample| &sample.run).collect()
        }
        AnyDocument::Demo(document) => {
            let runs = document.body.runs.iter().map(|labelled| &labelled.run);
            runs.chain(&document.body.tuned).collect()
        }
        _ => Vec::new(),
    }
}

/// Where a reading comes from.
#[derive(Clone, Copy)]
struct Of<'a, R> {
    result: usize,
    visit: usize,
    stream: &'a Stream,
    reading: &'a R,
}

fn each<'a, R>(
    runs: &[(usize, usize, &'a Run)],
    readings: impl Fn(&'a Stream) -> &'a [R],
) -> Vec<Of<'a, R>> {
    let streams = runs.iter().flat_map(|(result, visit, run)| {
        let place = (*result, *visit);
        run.streams.iter().map(move |stream| (place, stream))
    });
    let mut rows = Vec::new();
    for ((result, visit), stream) in streams {
        rows.extend(readings(stream).iter().map(|reading| Of {
            result,
            visit,
            stream,
            reading,
        }));
    }
    rows
}

fn place<R>(columns: &mut Columns, rows: &[Of<'_, R>]) {
    columns.u32("result", rows, |row| u32::try_from(row.result).ok());
    columns.u32("visit", rows, |row| u32::try_from(row.visit).ok());
    columns.u32("stream", rows, |row| Some(row.stream.number.into()));
    columns.word(
        "direction",
        rows,
        &["sending", "receiving"],
        |row| match row.stream.direction {
            StreamDirection::Sending => 0,
            StreamDirection::Receiving => 1,
        },
    );
}

/// What the kernel said of each stream, ten times a second.
pub fn samples(runs: &[(usize, usize, &Run)]) -> Columns {
    let rows = each(runs, |stream| &stream.tcp[..]);
    let mut columns = Columns::default();
    place(&mut columns, &rows);
    columns.f64("at_seconds", &rows, |row| {
        Some(row.reading.at.as_secs_f64())
    });
    let mut time = |name: &str, value: fn(&TcpSample) -> Option<Span>| {
        columns.f64(name, &rows, |row| value(row.reading).map(Span::as_secs_f64));
    };
    time("rtt_seconds", |one| one.rtt);
    time("rtt_min_seconds", |one| one.rtt_min);
    time("busy_seconds", |one| one.busy);
    time("receive_window_limited_seconds", |one| {
        one.receive_window_limited
    });
    time("send_buffer_limited_seconds", |one| one.send_buffer_limited);
    let mut count = |name: &str, value: fn(&TcpSample) -> Option<u32>| {
        columns.u32(name, &rows, |row| value(row.reading));
    };
    count("congestion_window_segments", |one| one.cwnd_segments);
    count("slow_start_threshold_segments", |one| one.ssthresh_segments);
    count("unacknowledged_segments", |one| one.unacked_segments);
    count("retransmits", |one| one.retransmits);
    count("reorderings", |one| one.reorderings);
    count("duplicates_reported", |one| one.duplicates_reported);
    count("mark_echoed_segments", |one| one.mark_echoed);
    let mut size = |name: &str, value: fn(&TcpSample) -> Option<Bytes>| {
        columns.u64(name, &rows, |row| value(row.reading).map(Bytes::get));
    };
    size("mss_bytes", |one| one.mss);
    size("peer_window_bytes", |one| one.peer_window);
    size("acknowledged_bytes", |one| one.bytes_acked);
    size("arrived_bytes", |one| one.bytes_arrived);
    size("received_bytes", |one| one.bytes_received);
    size("sent_bytes", |one| one.bytes_sent);
    size("retransmitted_bytes", |one| one.bytes_retransmitted);
    size("not_sent_bytes", |one| one.not_sent);
    columns.u64("delivery_rate_bits_per_second", &rows, |row| {
        row.reading.delivery_rate.map(Rate::bits_per_second)
    });
    columns.bool("ecn", &rows, |row| row.reading.ecn);
    columns.bool("window_scaling", &rows, |row| row.reading.window_scaling);
    columns
}

/// Bytes that had arrived on each stream, ten times a second.
pub fn deliveries(runs: &[(usize, usize, &Run)]) -> Columns {
    let rows = each(runs, |stream| &stream.delivery.progress[..]);
    let mut columns = Columns::default();
    place(&mut columns, &rows);
    columns.f64("at_seconds", &rows, |row| {
        Some(row.reading.at.as_secs_f64())
    });
    columns.u64("bytes", &rows, |row| Some(row.reading.bytes.get()));
    columns
}

/// Every probe of the idle and of the loaded path.
pub fn probes(runs: &[(usize, usize, &Run)]) -> Columns {
    let mut rows: Vec<(usize, usize, bool, &Probe)> = Vec::new();
    for (result, visit, run) in runs {
        for (series, loaded) in [(&run.rtt.unloaded, false), (&run.rtt.loaded, true)] {
            let probes = series.iter().flat_map(|series| &series.probes);
            rows.extend(probes.map(|probe| (*result, *visit, loaded, probe)));
        }
    }
    let mut columns = Columns::default();
    columns.u32("result", &rows, |row| u32::try_from(row.0).ok());
    columns.u32("visit", &rows, |row| u32::try_from(row.1).ok());
    columns.bool("loaded", &rows, |row| Some(row.2));
    columns.f64("sent_seconds", &rows, |row| Some(row.3.sent.as_secs_f64()));
    columns.f64("rtt_seconds", &rows, |row| row.3.rtt.map(Span::as_secs_f64));
    columns
}
