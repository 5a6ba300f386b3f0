//! Lines of JSON, and comma-separated values.

use std::io::{self, Write};

use serde_json::{Map, Number, Value};

use super::Rows;
use super::tables::{Cell, Column, written};

/// A JSON object in each line; every key is in every line.
pub(super) struct Ndjson<W> {
    columns: &'static [Column],
    output: W,
}

impl<W: Write> Ndjson<W> {
    pub fn new(columns: &'static [Column], output: W) -> Self {
        Ndjson { columns, output }
    }
}

impl<W: Write> Rows for Ndjson<W> {
    fn write(&mut self, rows: Vec<Vec<Cell>>) -> io::Result<()> {
        let mut lines = Vec::new();
        for row in rows {
            let names = self.columns.iter().map(|column| column.name.to_owned());
            let object: Map<String, Value> = names.zip(row.into_iter().map(json)).collect();
            serde_json::to_writer(&mut lines, &object)?;
            lines.push(b'\n');
        }
        self.output.write_all(&lines)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.output.flush()
    }
}

fn json(cell: Cell) -> Value {
    match cell {
        Cell::Nothing => Value::Null,
        Cell::Text(text) => Value::String(text),
        Cell::Whole(number) => Value::Number(number.into()),
        // None of the figures is infinite.
        Cell::Real(number) => Number::from_f64(number).map_or(Value::Null, Value::Number),
        Cell::Time(time) => Value::String(written(time)),
    }
}

/// Comma-separated values; what is missing is empty. Source: RFC 4180, with plain line feeds.
pub(super) struct Csv<W>(W);

impl<W: Write> Csv<W> {
    pub fn new(columns: &'static [Column], mut output: W) -> io::Result<Self> {
        let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
        writeln!(output, "{}", names.join(","))?;
        Ok(Csv(output))
    }
}

impl<W: Write> Rows for Csv<W> {
    fn write(&mut self, rows: Vec<Vec<Cell>>) -> io::Result<()> {
        let mut lines = String::new();
        for row in rows {
            let row: Vec<String> = row.into_iter().map(field).collect();
            lines += &row.join(",");
            lines.push('\n');
        }
        self.0.write_all(lines.as_bytes())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.0.flush()
    }
}

fn field(cell: Cell) -> String {
    match cell {
        Cell::Nothing => String::new(),
        Cell::Text(text) => quoted(text),
        Cell::Whole(number) => number.to_string(),
        Cell::Real(number) => number.to_string(),
        Cell::Time(time) => written(time),
    }
}

/// An empty text is quoted, so that it is not taken for a missing one.
fn quoted(text: String) -> String {
    let special = [',', '"', '\n', '\r'];
    match text.is_empty() || text.contains(special) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}
