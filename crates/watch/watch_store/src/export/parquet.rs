//! Apache Parquet, a file of columns that pandas, DuckDB, Polars and Spark read.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

use super::Rows;
use super::tables::{Cell, Column, Kind};

/// Rows of a row group, at least: smaller groups compress badly, larger ones take memory.
const GROUP: usize = 100_000;

/// A file of columns.
pub(super) struct Parquet<W: Write + Send> {
    columns: &'static [Column],
    writer: SerializedFileWriter<W>,
    waiting: Vec<Vec<Cell>>,
}

impl<W: Write + Send> Parquet<W> {
    pub fn new(columns: &'static [Column], output: W) -> io::Result<Self> {
        let fields: String = columns.iter().map(field).collect();
        let schema = format!("message rows {{ {fields} }}");
        let schema = parse_message_type(&schema).map_err(failed)?;
        let compression = Compression::ZSTD(ZstdLevel::default());
        let properties = WriterProperties::builder().set_compression(compression);
        let properties = Arc::new(properties.build());
        let writer = SerializedFileWriter::new(output, Arc::new(schema), properties);
        Ok(Parquet {
            columns,
            writer: writer.map_err(failed)?,
            waiting: Vec::new(),
        })
    }

    fn flush(&mut self) -> Result<(), ParquetError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for (place, column) in self.columns.iter().enumerate() {
            let cells = self.waiting.iter().map(|row| &row[place]);
            if let Some(mut writer) = group.next_column()? {
                write_column(&mut writer, column.kind, cells)?;
                writer.close()?;
            }
        }
        group.close()?;
        self.waiting.clear();
        Ok(())
    }
}

impl<W: Write + Send> Rows for Parquet<W> {
    fn write(&mut self, rows: Vec<Vec<Cell>>) -> io::Result<()> {
        self.waiting.extend(rows);
        match self.waiting.len() < GROUP {
            true => Ok(()),
            false => self.flush().map_err(failed),
        }
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.flush().map_err(failed)?;
        self.writer.close().map_err(failed)?;
        Ok(())
    }
}

fn field(column: &Column) -> String {
    let name = column.name;
    match column.kind {
        Kind::Text => format!("optional binary {name} (STRING); "),
        Kind::Whole => format!("optional int64 {name}; "),
        Kind::Real => format!("optional double {name}; "),
        Kind::Time => format!("optional int64 {name} (TIMESTAMP(MILLIS, true)); "),
    }
}

fn write_column<'a>(
    place: &mut SerializedColumnWriter<'_>,
    kind: Kind,
    cells: impl Iterator<Item = &'a Cell>,
) -> Result<(), ParquetError> {
    match kind {
        Kind::Text => flat::<ByteArrayType>(place, cells.map(text).collect()),
        Kind::Whole | Kind::Time => flat::<Int64Type>(place, cells.map(whole).collect()),
        Kind::Real => flat::<DoubleType>(place, cells.map(real).collect()),
    }
}

fn text(cell: &Cell) -> Option<ByteArray> {
    match cell {
        Cell::Text(text) => Some(ByteArray::from(text.as_bytes().to_vec())),
        _ => None,
    }
}

fn whole(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Whole(number) => Some(*number),
        Cell::Time(time) => Some(time.saturating_mul(1000)),
        _ => None,
    }
}

fn real(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Real(number) => Some(*number),
        _ => None,
    }
}

fn flat<T: DataType>(
    place: &mut SerializedColumnWriter<'_>,
    values: Vec<Option<T::T>>,
) -> Result<(), ParquetError> {
    let defined: Vec<i16> = values.iter().map(|value| value.is_some().into()).collect();
    let values: Vec<T::T> = values.into_iter().flatten().collect();
    let writer = place.typed::<T>();
    writer.write_batch(&values, Some(&defined), None)?;
    Ok(())
}

/// What the output said, where that was the reason.
fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(cause) => io::Error::other(cause),
        },
        error => io::Error::other(error),
    }
}
