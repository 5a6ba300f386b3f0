//! Export as tables: one row for each visit, round trip, rate, event, incident, month, or interval
//! of traffic.
//!
//! Columns and their values are in `tables.rs`; `incidents.rs`, `months.rs` and `flows.rs` have
//! their own. `text.rs` writes lines of JSON and comma-separated values, `parquet.rs` files of
//! columns, which the feature `parquet` adds.

mod flows;
mod incidents;
mod months;
#[cfg(feature = "parquet")]
mod parquet;
mod tables;
mod text;

use std::fmt;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::str::FromStr;

use changes::{Event, UnixTime};
use thiserror::Error;

use crate::database::{Row, Value};
use crate::rows::{self, second};
use crate::{LoadedVisit, Name, Pair, Store, StoreError, StoredEvent, VisitId, events, grid, pair};

use incidents::Incidents;
pub use tables::{Cell, Column, Kind};

/// Visits or events that are read at a time; their raw values are in memory together.
const PAGE: i64 = 1000;

/// What is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// A row for each visit, with its figures.
    Visits,
    /// A row for each raw round trip of a visit, shortest first.
    RoundTrips,
    /// A row for each tenth of a second of a visit.
    Rates,
    /// A row for each event.
    Events,
    /// A row for each incident: the events that one cause made.
    Incidents,
    /// A row for each month of a pair, as PingER has it.
    Months,
    /// A row for each interval, router, way and application of the traffic across the border.
    Flows,
}

impl Table {
    /// All of them.
    pub const ALL: [Table; 7] = [
        Table::Visits,
        Table::RoundTrips,
        Table::Rates,
        Table::Events,
        Table::Incidents,
        Table::Months,
        Table::Flows,
    ];

    /// Its columns, in the order of the cells of a row.
    pub fn columns(self) -> &'static [Column] {
        tables::columns(self)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Table::Visits => "visits",
            Table::RoundTrips => "round-trips",
            Table::Rates => "rates",
            Table::Events => "events",
            Table::Incidents => "incidents",
            Table::Months => "months",
            Table::Flows => "flows",
        }
    }
}

/// How a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A JSON object in each line.
    Ndjson,
    /// Comma-separated values with a head, RFC 4180.
    Csv,
    /// Apache Parquet, compressed with zstd.
    #[cfg(feature = "parquet")]
    Parquet,
}

/// Not a format of exports.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnknownFormat {
    /// No such format.
    #[error("`{0}` is not a format of exports; take ndjson, csv or parquet")]
    Unknown(String),
    /// It is one that this program was built without.
    #[error(
        "this trunkline was built without Parquet; take csv or ndjson, or build with \
         `--features parquet`"
    )]
    LeftOut,
}

impl FromStr for Format {
    type Err = UnknownFormat;

    /// The name of a format, or the ending of its files.
    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        match text.to_ascii_lowercase().as_str() {
            "ndjson" | "jsonl" => Ok(Format::Ndjson),
            "csv" => Ok(Format::Csv),
            #[cfg(feature = "parquet")]
            "parquet" => Ok(Format::Parquet),
            #[cfg(not(feature = "parquet"))]
            "parquet" => Err(UnknownFormat::LeftOut),
            _ => Err(UnknownFormat::Unknown(text.to_owned())),
        }
    }
}

/// Which rows.
#[derive(Debug, Clone)]
pub struct Selection {
    /// Only of this sending host.
    pub from_host: Option<Name>,
    /// Only of this receiving host.
    pub to_host: Option<Name>,
    /// Only of this task.
    pub task: Option<Name>,
    /// Visits, or first visits of events, that began from then on.
    pub from: UnixTime,
    /// And before then.
    pub to: UnixTime,
}

impl Selection {
    /// Everything.
    pub const ALL: Selection = Selection {
        from_host: None,
        to_host: None,
        task: None,
        from: UnixTime::from_seconds(0),
        to: UnixTime::from_seconds(u64::MAX),
    };

    /// Whether hosts and task are those of the selection.
    pub fn has(&self, pair: &Pair, task: &Name) -> bool {
        let fits = |wanted: &Option<Name>, name: &Name| wanted.as_ref().is_none_or(|w| w == name);
        fits(&self.from_host, &pair.from) && fits(&self.to_host, &pair.to) && fits(&self.task, task)
    }
}

/// Takes rows in one format.
trait Rows {
    fn write(&mut self, rows: Vec<Vec<Cell>>) -> io::Result<()>;
    /// Writes what is still to be written.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

impl Store {
    /// Writes a table; how many rows it has. In the order of tasks and pairs, then of time.
    ///
    /// * `on_page`: hears how many rows were written, and may break the export off.
    ///
    /// # Errors
    /// When the database cannot be read or the output not written, or `on_page` broke it off; what
    /// was written until then is not a whole table.
    pub fn export(
        &mut self,
        (table, format): (Table, Format),
        selection: &Selection,
        output: impl Write + Send,
        on_page: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<u64, StoreError> {
        let mut writer = writer(format, table.columns(), output).map_err(failed)?;
        let mut written = 0;
        self.each_page(table, selection, &mut |rows| {
            written += rows.len() as u64;
            writer.write(rows).map_err(failed)?;
            match on_page(written) {
                ControlFlow::Break(()) => Err(StoreError::BrokenOff),
                ControlFlow::Continue(()) => Ok(()),
            }
        })?;
        writer.finish().map_err(failed)?;
        Ok(written)
    }

    /// The rows of a table, some at a time, in the order of [`Store::export`].
    ///
    /// # Errors
    /// When the database cannot be read, or what `on_page` refuses.
    pub fn each_page(
        &mut self,
        table: Table,
        selection: &Selection,
        on_page: &mut dyn FnMut(Vec<Vec<Cell>>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let of_events = match table {
            Table::Events => Incidents::read(self)?,
            Table::Incidents => return on_page(Incidents::read(self)?.rows(selection)),
            Table::Months => return on_page(self.month_rows(selection)?),
            Table::Flows => return self.each_flow_page(selection, on_page),
            _ => Incidents::default(),
        };
        for series in self.series_to_export(selection)? {
            let mut after = (
                second(selection.from).saturating_sub(1),
                Value::from(LAST.to_vec()),
            );
            loop {
                let (rows, next) = match table {
                    Table::Events => {
                        self.event_rows(series.number, &after, selection, &of_events)?
                    }
                    _ => self.visit_rows(table, series.number, &after, selection)?,
                };
                on_page(rows)?;
                match next {
                    Some(next) => after = next,
                    None => break,
                }
            }
        }
        Ok(())
    }

    fn series_to_export(&mut self, selection: &Selection) -> Result<Vec<Numbered>, StoreError> {
        let select = "SELECT from_host, to_host, task, id FROM series";
        let rows = self.database.query(select, &[])?;
        let read = |mut row: Row| {
            Some(Numbered {
                pair: grid::pair(&mut row)?,
                task: row.text()?.parse().ok()?,
                number: row.int()?,
            })
        };
        let all: Option<Vec<Numbered>> = rows.into_iter().map(read).collect();
        let mut all = all.ok_or_else(|| self.damaged("a name is not one"))?;
        all.retain(|series| selection.has(&series.pair, &series.task));
        // Sorted here: databases differ in the order of texts.
        all.sort_by(|a, b| (&a.task, &a.pair).cmp(&(&b.task, &b.pair)));
        Ok(all)
    }

    /// The rows of the next visits of a series behind one, and where to go on.
    fn visit_rows(
        &mut self,
        table: Table,
        series: i64,
        (at, id): &Place,
        selection: &Selection,
    ) -> Result<(Vec<Vec<Cell>>, Option<Place>), StoreError> {
        let select = format!(
            "SELECT v.id, s.from_host, s.to_host, s.task, v.parts % 2, raw.packed, NULL, {}, {} \
             FROM visits AS v JOIN series AS s ON s.id = v.series {} \
             LEFT JOIN raw ON raw.at = v.at AND raw.id = v.id \
             WHERE v.series = $1 AND (v.at, v.id) > ($2, $3) AND v.at < $4 \
             ORDER BY v.at, v.id LIMIT $5",
            rows::FIGURES,
            rows::TEXTS,
            rows::JOINS
        );
        let to = second(selection.to).into();
        let values = [series.into(), (*at).into(), id.clone(), to, PAGE.into()];
        let found = self.database.query(&select, &values)?;
        let read = |mut row: Row| {
            let id: VisitId = rows::id(&mut row)?;
            pair::loaded(id, row)
        };
        let visits: Option<Vec<LoadedVisit>> = found.into_iter().map(read).collect();
        let visits = visits.ok_or_else(|| self.damaged("a visit is not one"))?;
        let next = visits.last().filter(|_| visits.len() as i64 == PAGE);
        let next = next.map(|last| {
            let stored = &last.stored;
            (second(stored.visit.at), stored.id.bytes().into())
        });
        let rows = visits
            .iter()
            .flat_map(|visit| tables::of_visit(table, visit));
        Ok((rows.collect(), next))
    }

    /// The same of events.
    fn event_rows(
        &mut self,
        series: i64,
        (at, id): &Place,
        selection: &Selection,
        incidents: &Incidents,
    ) -> Result<(Vec<Vec<Cell>>, Option<Place>), StoreError> {
        let select = format!(
            "{} WHERE e.series = $1 AND (e.first_visit, e.id) > ($2, $3) AND e.first_visit < $4 \
             ORDER BY e.first_visit, e.id LIMIT $5",
            events::SELECT
        );
        let id = match id {
            Value::Int(id) => *id,
            _ => i64::MAX,
        };
        let to = second(selection.to);
        let values = [series, *at, id, to, PAGE].map(Value::from);
        let events: Vec<StoredEvent> = self.read_events(&select, &values)?;
        let next = events.last().filter(|_| events.len() as i64 == PAGE);
        let place = |event: &Event| (second(event.first_visit), event.id.cast_signed().into());
        let next = next.map(|last| place(&last.event));
        let row = |stored| tables::of_event(stored, incidents.name(stored));
        Ok((events.iter().map(row).collect(), next))
    }
}

/// Time and identity of a row, behind which the next page begins.
type Place = (i64, Value);

/// Behind all identities.
const LAST: &[u8] = &[0xff; 16];

/// A series with its number.
struct Numbered {
    pair: Pair,
    task: Name,
    number: i64,
}

fn writer<'a>(
    format: Format,
    columns: &'static [Column],
    output: impl Write + Send + 'a,
) -> io::Result<Box<dyn Rows + 'a>> {
    Ok(match format {
        Format::Ndjson => Box::new(text::Ndjson::new(columns, output)),
        Format::Csv => Box::new(text::Csv::new(columns, output)?),
        #[cfg(feature = "parquet")]
        Format::Parquet => Box::new(parquet::Parquet::new(columns, output)?),
    })
}

fn failed(error: io::Error) -> StoreError {
    StoreError::Export(error)
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Table {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Table::ALL.into_iter().find(|table| table.name() == text);
        found.ok_or_else(|| format!("`{text}` is no table; take one of {}", Table::names()))
    }
}

impl Table {
    fn names() -> String {
        Table::ALL.map(Table::name).join(", ")
    }
}

#[cfg(test)]
mod tests;
