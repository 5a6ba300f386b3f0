//! Tables of a watch, which grow row by row.

use arrow_array::builder::{
    ArrayBuilder, Float64Builder, StringBuilder, TimestampSecondBuilder, UInt64Builder,
};
use trunkline_watch::{Cell, Column, Kind};

use super::Columns;

/// A column that grows; its cells have its kind.
enum Growing {
    Text(StringBuilder),
    Whole(UInt64Builder),
    Real(Float64Builder),
    Time(TimestampSecondBuilder),
}

impl Growing {
    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Text => Growing::Text(StringBuilder::new()),
            Kind::Whole => Growing::Whole(UInt64Builder::new()),
            Kind::Real => Growing::Real(Float64Builder::new()),
            Kind::Time => Growing::Time(TimestampSecondBuilder::new().with_timezone("UTC")),
        }
    }

    fn push(&mut self, cell: Cell) {
        match (self, cell) {
            (Growing::Text(column), Cell::Text(text)) => column.append_value(text),
            (Growing::Text(column), _) => column.append_null(),
            (Growing::Whole(column), Cell::Whole(number)) => {
                column.append_option(u64::try_from(number).ok());
            }
            (Growing::Whole(column), _) => column.append_null(),
            (Growing::Real(column), Cell::Real(number)) => column.append_value(number),
            (Growing::Real(column), _) => column.append_null(),
            (Growing::Time(column), Cell::Time(time)) => column.append_value(time),
            (Growing::Time(column), _) => column.append_null(),
        }
    }

    fn builder(&mut self) -> &mut dyn ArrayBuilder {
        match self {
            Growing::Text(column) => column,
            Growing::Whole(column) => column,
            Growing::Real(column) => column,
            Growing::Time(column) => column,
        }
    }
}

/// A table of a watch.
pub struct Watched {
    columns: &'static [Column],
    growing: Vec<Growing>,
}

impl Watched {
    /// One without rows.
    pub fn new(columns: &'static [Column]) -> Self {
        let growing = columns.iter().map(|column| Growing::of(column.kind));
        Watched {
            columns,
            growing: growing.collect(),
        }
    }

    /// Adds rows.
    pub fn push(&mut self, rows: Vec<Vec<Cell>>) {
        for row in rows {
            for (column, cell) in self.growing.iter_mut().zip(row) {
                column.push(cell);
            }
        }
    }

    /// The finished table.
    pub fn columns(mut self) -> Columns {
        let mut columns = Columns::default();
        for (column, growing) in self.columns.iter().zip(&mut self.growing) {
            columns.add(column.name, growing.builder().finish());
        }
        columns
    }
}
