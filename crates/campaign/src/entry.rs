//! The text that a run is kept as.
//!
//! One line for each part, numbers in full so that they come back bit by bit, absent values as `-`.
//! The second line is the name under which it is kept, the last one a digest of all lines before.

use std::fmt::Write;
use std::str::{FromStr, SplitWhitespace};

use sim::{CrossResult, Drops, QueueUse, RoundTrips, RunResult, Sample, StreamResult, WorkDone};
use units::{Bytes, Rate, Span, Time};

/// The first line. Another form of the text needs another number.
pub(super) const FORM: &str = "trunkline simulated run, form 1";
const SEAL: &str = "digest ";

/// `result`, which took `cpu`, to be kept under `name`.
pub(super) fn write(result: &RunResult, cpu: Span, name: &str) -> String {
    let RunResult {
        seed,
        measured,
        streams,
        cross,
        drops,
        marks,
        queue,
        utilisation,
        round_trips,
        completion,
        series,
        work,
    } = result;
    let mut text = format!("{FORM}\n{name}\n");
    let mut line = |words: String| {
        text.push_str(&words);
        text.push('\n');
    };
    line(format!("{} {seed} {}", cpu.as_nanos(), measured.as_nanos()));
    line(streams.len().to_string());
    streams.iter().for_each(|stream| line(stream_line(stream)));
    line(cross.len().to_string());
    let cross_line = |cross: &CrossResult| {
        let goodput = cross.goodput.bits_per_second();
        format!("{goodput} {} {}", cross.transfers, cross.turned_away)
    };
    cross.iter().for_each(|cross| line(cross_line(cross)));
    line(drops_line(drops));
    line(format!(
        "{marks} {:?} {} {utilisation:?}",
        queue.mean_packets,
        queue.peak_bytes.get()
    ));
    line(
        round_trips
            .as_ref()
            .map_or("-".to_owned(), round_trips_line),
    );
    line(span(*completion));
    line(format!("{} {}", work.data_packets, work.events));
    line(series.len().to_string());
    series.iter().for_each(|sample| line(sample_line(sample)));
    let seal = blake3::hash(text.as_bytes()).to_hex();
    let _ = writeln!(text, "{SEAL}{seal}");
    text
}

/// What [`write`] wrote for `name`; `None` for any other text.
pub(super) fn read(text: &str, name: &str) -> Option<(RunResult, Span)> {
    let body = unsealed(text)?;
    let mut lines = body.lines();
    if lines.next()? != FORM || lines.next()? != name {
        return None;
    }
    let mut words = Words::of(lines.next()?);
    let (cpu, seed, measured) = (words.span()?, words.number()?, words.span()?);
    let streams = list(&mut lines, stream)?;
    let cross = list(&mut lines, cross)?;
    let drops = drops(&mut Words::of(lines.next()?))?;
    let mut words = Words::of(lines.next()?);
    let marks = words.number()?;
    let queue = QueueUse {
        mean_packets: words.number()?,
        peak_bytes: Bytes::new(words.number()?),
    };
    let utilisation = words.number()?;
    let round_trips = match lines.next()? {
        "-" => None,
        line => Some(round_trips(&mut Words::of(line))?),
    };
    let completion = Words::of(lines.next()?).optional_span()?;
    let mut words = Words::of(lines.next()?);
    let work = WorkDone {
        data_packets: words.number()?,
        events: words.number()?,
    };
    let series = list(&mut lines, sample)?;
    let result = RunResult {
        seed,
        measured,
        streams,
        cross,
        drops,
        marks,
        queue,
        utilisation,
        round_trips,
        completion,
        series,
        work,
    };
    Some((result, cpu))
}

/// What stands before the last line, if that is its digest.
fn unsealed(text: &str) -> Option<&str> {
    let end = text.strip_suffix('\n')?.rfind('\n')? + 1;
    let (body, seal) = text.split_at(end);
    let seal = seal.trim_end().strip_prefix(SEAL)?;
    (blake3::hash(body.as_bytes()).to_hex().as_str() == seal).then_some(body)
}

fn span(span: Option<Span>) -> String {
    span.map_or("-".to_owned(), |span| span.as_nanos().to_string())
}

fn stream_line(stream: &StreamResult) -> String {
    let StreamResult {
        goodput,
        acknowledged,
        retransmitted,
        timeouts,
        completed,
    } = stream;
    format!(
        "{} {} {retransmitted} {timeouts} {}",
        goodput.bits_per_second(),
        acknowledged.get(),
        span(*completed)
    )
}

fn drops_line(drops: &Drops) -> String {
    let Drops {
        queue_full,
        early,
        sojourn,
        wire_loss,
    } = drops;
    format!("{queue_full} {early} {sojourn} {wire_loss}")
}

fn round_trips_line(rtt: &RoundTrips) -> String {
    let spans = [rtt.min, rtt.mean, rtt.median, rtt.p95, rtt.p99, rtt.max];
    let spans = spans.map(|span| span.as_nanos().to_string());
    format!("{} {}", rtt.samples, spans.join(" "))
}

fn sample_line(sample: &Sample) -> String {
    let Sample {
        at,
        queue_packets,
        windows,
        acknowledged,
        cross_delivered,
    } = sample;
    let mut line = format!(
        "{} {queue_packets} {} {}",
        at.as_nanos(),
        acknowledged.get(),
        cross_delivered.get()
    );
    for window in windows {
        let _ = write!(line, " {window:?}");
    }
    line
}

/// The words of a line.
struct Words<'a>(SplitWhitespace<'a>);

impl<'a> Words<'a> {
    fn of(line: &'a str) -> Self {
        Words(line.split_whitespace())
    }

    fn number<T: FromStr>(&mut self) -> Option<T> {
        self.0.next()?.parse().ok()
    }

    fn span(&mut self) -> Option<Span> {
        self.number().map(Span::from_nanos)
    }

    fn optional_span(&mut self) -> Option<Option<Span>> {
        match self.0.next()? {
            "-" => Some(None),
            word => Some(Some(Span::from_nanos(word.parse().ok()?))),
        }
    }
}

/// A line with a count, and so many lines.
fn list<'a, T>(
    lines: &mut impl Iterator<Item = &'a str>,
    item: impl Fn(&mut Words<'a>) -> Option<T>,
) -> Option<Vec<T>> {
    let count: usize = lines.next()?.parse().ok()?;
    (0..count)
        .map(|_| item(&mut Words::of(lines.next()?)))
        .collect()
}

fn stream(words: &mut Words<'_>) -> Option<StreamResult> {
    Some(StreamResult {
        goodput: Rate::from_bits_per_second(words.number()?),
        acknowledged: Bytes::new(words.number()?),
        retransmitted: words.number()?,
        timeouts: words.number()?,
        completed: words.optional_span()?,
    })
}

fn cross(words: &mut Words<'_>) -> Option<CrossResult> {
    Some(CrossResult {
        goodput: Rate::from_bits_per_second(words.number()?),
        transfers: words.number()?,
        turned_away: words.number()?,
    })
}

fn drops(words: &mut Words<'_>) -> Option<Drops> {
    Some(Drops {
        queue_full: words.number()?,
        early: words.number()?,
        sojourn: words.number()?,
        wire_loss: words.number()?,
    })
}

fn round_trips(words: &mut Words<'_>) -> Option<RoundTrips> {
    Some(RoundTrips {
        samples: words.number()?,
        min: words.span()?,
        mean: words.span()?,
        median: words.span()?,
        p95: words.span()?,
        p99: words.span()?,
        max: words.span()?,
    })
}

fn sample(words: &mut Words<'_>) -> Option<Sample> {
    Some(Sample {
        at: Time::from_nanos(words.number()?),
        queue_packets: words.number()?,
        acknowledged: Bytes::new(words.number()?),
        cross_delivered: Bytes::new(words.number()?),
        windows: words
            .0
            .by_ref()
            .map(|word| word.parse().ok())
            .collect::<Option<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{made_up, scenario};
    use super::*;

    #[test]
    fn a_run_comes_back_bit_by_bit() {
        let result = made_up(&scenario());
        let text = write(&result, Span::from_nanos(77), "name");
        assert_eq!(read(&text, "name"), Some((result, Span::from_nanos(77))));
        assert_eq!(read(&text, "other"), None);
    }

    #[test]
    fn what_is_absent_stays_absent() {
        let mut result = made_up(&scenario());
        result.round_trips = None;
        result.completion = None;
        result.series.clear();
        result
            .streams
            .iter_mut()
            .for_each(|stream| stream.completed = None);
        let text = write(&result, Span::ZERO, "name");
        assert_eq!(read(&text, "name"), Some((result, Span::ZERO)));
    }
}
