//! A run cut into seconds.

use observe::{Observation, Probe, Progress, Stream, TcpSample};
use units::{Rate, Span, Time};

use super::{INTERVAL, Interval};

/// The whole intervals of a run; a run that ended a little early still has its last one.
pub(super) fn intervals(seen: &Observation) -> Vec<Interval> {
    let count = (seen.duration.as_secs_f64() / INTERVAL.as_secs_f64() + EARLY).floor();
    (0..count as u64)
        .map(|number| interval(seen, number))
        .collect()
}

/// Share of an interval that its last reading may come early.
const EARLY: f64 = 0.2;

fn interval(seen: &Observation, number: u64) -> Interval {
    let (from, to) = (INTERVAL.times(number), INTERVAL.times(number + 1));
    let probes = seen.round_trips.loaded.iter();
    let probes = probes.flat_map(|series| &series.probes);
    let within: Vec<&Probe> = probes
        .filter(|probe| is_within(probe.sent, from, to))
        .collect();
    let answered = within.iter().filter_map(|probe| probe.rtt);
    let lost = within.iter().filter(|probe| probe.rtt.is_none()).count();
    Interval {
        streams: seen.setting.streams,
        goodput: Rate::from_f64(
            seen.streams
                .iter()
                .map(|stream| goodput(stream, from, to))
                .sum(),
        ),
        foreign: answered.map(Span::as_secs_f64).collect(),
        foreign_lost: u32::try_from(lost).unwrap_or(u32::MAX),
        loaded: seen
            .streams
            .iter()
            .flat_map(|stream| loaded(stream, from, to))
            .collect(),
    }
}

fn is_within(at: Time, from: Span, to: Span) -> bool {
    let at = at.since(Time::ZERO);
    at >= from && at < to
}

/// In bits per second; up to the last reading where the interval is longer.
fn goodput(stream: &Stream, from: Span, to: Span) -> f64 {
    let readings = &stream.delivery.progress;
    let last = readings
        .last()
        .map_or(Span::ZERO, |last| last.at.since(Time::ZERO));
    let to = to.min(last);
    let seconds = (to - from).as_secs_f64();
    let bytes = bytes_by(readings, to) - bytes_by(readings, from);
    match seconds > 0.0 {
        true => bytes * 8.0 / seconds,
        false => 0.0,
    }
}

/// Bytes that had arrived by `at`, on the straight line between the readings around it.
fn bytes_by(readings: &[Progress], at: Span) -> f64 {
    let place = |reading: &Progress| {
        (
            reading.at.since(Time::ZERO).as_secs_f64(),
            reading.bytes.get() as f64,
        )
    };
    let at = at.as_secs_f64();
    let next = readings.partition_point(|reading| place(reading).0 < at);
    let before = next
        .checked_sub(1)
        .map_or((0.0, 0.0), |index| place(&readings[index]));
    match readings.get(next) {
        Some(after) => stats::between(before, place(after), at),
        None => before.1,
    }
}

fn loaded(stream: &Stream, from: Span, to: Span) -> impl Iterator<Item = f64> {
    let within = move |sample: &&TcpSample| is_within(sample.at, from, to);
    let samples = stream.tcp.iter().filter(within);
    samples
        .filter_map(|sample| sample.rtt)
        .map(Span::as_secs_f64)
}
