//! The page of one measurement.

use record::{Direction, Measure, Setting, Stream};

use super::run;
use crate::text;
use draw::format::{self, ABSENT, or_absent};
use draw::page::{Block, Cell, Column, Page, Row, Table};

/// More streams than this are summed up in a terminal.
const STREAMS_SHOWN: usize = 12;
/// A browser folds away the table of more streams than this.
const STREAMS_OPEN: usize = 16;

pub fn page(measure: &Measure) -> Page {
    let run = &measure.run;
    let mut blocks = vec![
        Block::Facts(run::facts(run)),
        Block::Why(text::measure(measure)),
    ];
    blocks.push(Block::wide(run::figures(run, "")));
    blocks.extend(streams(&run.streams));
    Page::new("measure", &measure.target.name, blocks).subtitled(subtitle(&run.setting))
}

fn subtitle(setting: &Setting) -> String {
    match setting.direction {
        Direction::Forward => text::setting(setting),
        way => format!("{}, {}", text::setting(setting), text::direction(way)),
    }
}

/// A table of streams; a single one is all that the facts are about, and only a browser shows it.
fn streams(streams: &[Stream]) -> Option<Block> {
    let columns = [
        "stream",
        "goodput",
        "delivered",
        "segments resent",
        "TCP's RTT ms",
    ];
    let columns = columns.map(|heading| match heading {
        "stream" => Column::words(heading),
        heading => Column::number(heading),
    });
    let both = streams
        .iter()
        .any(|stream| stream.direction != streams[0].direction);
    let table = Table::new(columns, streams.iter().map(|stream| row(stream, both)));
    let table = table.shortened(STREAMS_SHOWN, |shown| others(&streams[shown..]));
    let table = Block::details(
        "Streams",
        streams.len(),
        STREAMS_OPEN,
        vec![Block::Table(table)],
    );
    match streams.len() {
        0 => None,
        1 => Some(Block::wide([table])),
        _ => Some(table),
    }
}

/// One stream; with its direction where the streams have `both`.
fn row(stream: &Stream, both: bool) -> Row {
    let rtt = stream.tcp.last().and_then(|sample| sample.rtt);
    let name = match both {
        true => format!(
            "{} {}",
            stream.number,
            text::stream_direction(stream.direction)
        ),
        false => stream.number.to_string(),
    };
    Row::new([
        name,
        or_absent(stream.goodput_bits_per_second, format::rate),
        format::size(stream.delivered_bytes),
        or_absent(stream.retransmits, |segments| segments.to_string()),
        or_absent(rtt, |rtt| format::milliseconds(rtt.as_secs_f64())),
    ])
}

/// Several streams in one row.
fn others(streams: &[Stream]) -> Vec<Cell> {
    let add = |count: fn(&Stream) -> Option<u64>| {
        let counts = streams.iter().filter_map(count);
        counts.reduce(u64::saturating_add)
    };
    let cells = [
        format!("{} others", streams.len()),
        or_absent(add(|s| s.goodput_bits_per_second), format::rate),
        or_absent(add(|s| Some(s.delivered_bytes)), format::size),
        or_absent(add(|s| s.retransmits), |segments| segments.to_string()),
        ABSENT.to_owned(),
    ];
    cells.map(Cell::from).into()
}
