//! Points of a file of comma-separated values.

use std::path::Path;

use csv::{ReaderBuilder, StringRecord, Trim};
use units::{Bytes, Rate};

use super::{Point, PointsError};
use crate::Window;

/// Where the columns are.
struct Columns {
    streams: usize,
    goodput: usize,
    unit: Unit,
    window: Option<usize>,
    /// Columns whose values are the same on all points of one curve.
    series: Vec<usize>,
    kind: Option<usize>,
}

/// Where the unit of a rate stands.
enum Unit {
    /// The value is in bits per second, and the file is ours: no value, no point.
    Bits,
    /// In the column's name.
    Named(String),
    /// Behind each value.
    Each,
}

pub(super) fn points(file: &Path, text: &str) -> Result<Vec<Point>, PointsError> {
    let mut reader = ReaderBuilder::new()
        .comment(Some(b'#'))
        .flexible(true)
        .has_headers(false)
        .trim(Trim::All)
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let mut records = reader.records().flatten();
    let empty = || PointsError::Empty {
        file: file.to_owned(),
    };
    let columns = columns(file, &records.next().ok_or_else(empty)?)?;
    let mut points = Vec::new();
    for record in records {
        points.extend(columns.point(file, &record)?);
    }
    match points.is_empty() {
        true => Err(empty()),
        false => Ok(points),
    }
}

fn columns(file: &Path, names: &StringRecord) -> Result<Columns, PointsError> {
    let place = |column: &str| {
        names
            .iter()
            .position(|name| name.eq_ignore_ascii_case(column))
    };
    let missing = |column| PointsError::Column {
        file: file.to_owned(),
        line: line(names),
        column,
        found: shortened(&names.iter().collect::<Vec<_>>().join(",")),
    };
    let goodput = names
        .iter()
        .enumerate()
        .find_map(|(index, name)| Some((index, unit(name)?)));
    let streams = place("streams").ok_or_else(|| missing("streams"))?;
    let (goodput, unit) = goodput.ok_or_else(|| missing("goodput"))?;
    let series = ["target", "path", "direction", "variant"];
    Ok(Columns {
        streams,
        goodput,
        unit,
        window: place("window_bytes").or_else(|| place("window")),
        series: series.iter().filter_map(|name| place(name)).collect(),
        kind: place("kind"),
    })
}

/// The unit of a column of rates; `None` of any other column. `goodput_standard_deviation...` is
/// none.
fn unit(name: &str) -> Option<Unit> {
    let name = name.trim();
    let lower = name.to_ascii_lowercase();
    let word = ["goodput", "throughput"]
        .into_iter()
        .find(|word| lower.starts_with(word))?;
    match &lower[word.len()..] {
        "" => Some(Unit::Each),
        "_bits_per_second" => Some(Unit::Bits),
        _ => {
            let unit = name[word.len()..].trim_matches([' ', '_', '[', ']', '(', ')']);
            format!("1{unit}")
                .parse::<Rate>()
                .is_ok()
                .then(|| Unit::Named(unit.to_owned()))
        }
    }
}

impl Columns {
    /// `None` of a row that is no measurement of streams: a copy or a sweep of our own list.
    fn point(&self, file: &Path, row: &StringRecord) -> Result<Option<Point>, PointsError> {
        let cell = |index: usize| row.get(index).unwrap_or("");
        let is_other = self
            .kind
            .is_some_and(|kind| ["copy", "sweep"].contains(&cell(kind)));
        let goodput = cell(self.goodput);
        if is_other || goodput.is_empty() && matches!(self.unit, Unit::Bits) {
            return Ok(None);
        }
        let wrong = |value: &str, expected| PointsError::Value {
            file: file.to_owned(),
            line: line(row),
            value: shortened(value),
            expected,
        };
        let (rate, expected) = self.rate(goodput);
        let streams = cell(self.streams);
        let count = streams.parse::<u32>().ok().filter(|count| *count > 0);
        let window = self.window.map(|index| window(cell(index)));
        let window = window.map(|window| {
            window.ok_or_else(|| wrong(cell(self.window.unwrap_or_default()), "window in bytes"))
        });
        let series: Vec<&str> = self.series.iter().map(|index| cell(*index)).collect();
        Ok(Some(Point {
            streams: count.ok_or_else(|| wrong(streams, "number of streams above 0"))?,
            window: window.transpose()?,
            series: series.join(" "),
            rate: rate
                .filter(|rate| *rate > Rate::ZERO)
                .ok_or_else(|| wrong(goodput, expected))?,
        }))
    }

    /// The value, and what should have stood there.
    fn rate(&self, text: &str) -> (Option<Rate>, &'static str) {
        match &self.unit {
            Unit::Bits => {
                let bits = text.parse().ok().map(Rate::from_bits_per_second);
                (bits, "whole number of bits per second above 0")
            }
            Unit::Named(unit) => {
                let rate = format!("{text}{unit}").parse().ok();
                (rate, "number above 0, whose unit stands in the first line")
            }
            Unit::Each => (text.parse().ok(), "goodput with its unit above 0"),
        }
    }
}

/// A window that was left to the kernel is empty in our own files.
fn window(text: &str) -> Option<Window> {
    match text {
        "" | "auto" => Some(Window::Auto),
        bytes => bytes
            .parse()
            .ok()
            .map(|bytes| Window::Fixed(Bytes::new(bytes))),
    }
}

fn line(row: &StringRecord) -> u64 {
    row.position().map_or(0, csv::Position::line)
}

/// What a message quotes of the file.
fn shortened(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}
