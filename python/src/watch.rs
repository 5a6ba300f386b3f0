//! Results of a watch: what `trunkline watch export` and `trunkline watch forecast` give.

use std::path::PathBuf;

use pyo3::prelude::*;
use trunkline::ask;
use trunkline_watch::{DatabaseName, Export, Format, MonthsAsked, Selection, UnixTime};

use crate::asked::{optional, value};
use crate::call::Call;
use crate::error::Failure;
use crate::event::Progress;
use crate::result::Done;
use crate::tables::{Table, Watched};

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    database: String,
    table: String,
    from_: Option<String>,
    to: Option<String>,
    task: Option<String>,
    since: Option<String>,
    until: Option<String>,
    plan: Option<PathBuf>,
}

/// Reads a value that has words of its own for what is wrong with it.
fn read<T: std::str::FromStr>(text: &str) -> Result<T, String>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn moment(name: &str, text: Option<&str>, otherwise: UnixTime) -> Result<UnixTime, Failure> {
    let when = |text: &str| trunkline_watch::when(text).map_err(|error| error.to_string());
    Ok(optional(name, text, when)?.unwrap_or(otherwise))
}

impl Asked {
    fn database(&self) -> Result<DatabaseName, Failure> {
        value("database", &self.database, read)
    }

    fn table(&self) -> Result<trunkline_watch::Table, Failure> {
        value("table", &self.table, read)
    }

    fn selection(&self) -> Result<Selection, Failure> {
        let all = Selection::ALL;
        Ok(Selection {
            from_host: optional("from_", self.from_.as_deref(), read)?,
            to_host: optional("to", self.to.as_deref(), read)?,
            task: optional("task", self.task.as_deref(), read)?,
            from: moment("since", self.since.as_deref(), all.from)?,
            to: moment("until", self.until.as_deref(), all.to)?,
        })
    }
}

/// Starts to read the months of a task.
#[pyfunction]
pub fn start_watch_months(asked: Asked) -> PyResult<Call> {
    let selection = asked.selection()?;
    let none = || Failure::request("which task is not said", "say it as `task`");
    let months = MonthsAsked {
        database: asked.database()?,
        task: selection.task.ok_or_else(none)?,
        from_host: selection.from_host,
        to_host: selection.to_host,
        since: selection.from,
        until: selection.to,
    };
    Call::start("watch", String::new(), move |_, _| {
        let plan = asked.plan.as_deref().map(trunkline_watch::load_plan);
        let found = trunkline_watch::months(&months, plan.transpose()?.as_ref())?;
        Ok(Done::default().telling(found.json()))
    })
}

/// How many rows were read.
fn so_far(rows: u64) -> Progress {
    Progress {
        number: Some(rows),
        ..Progress::words("rows", format!("{rows} rows"))
    }
}

/// Starts to read a table.
#[pyfunction]
pub fn start_watch_table(asked: Asked) -> PyResult<Call> {
    let (database, table) = (asked.database()?, asked.table()?);
    let selection = asked.selection()?;
    Call::start("watch", String::new(), move |cancel, tell| {
        let mut read = Watched::new(table.columns());
        let mut count = 0;
        trunkline_watch::read_rows(&database, table, &selection, cancel, &mut |rows| {
            count += rows.len() as u64;
            read.push(rows);
            tell.tell(so_far(count));
        })?;
        let table = Table::of(read.columns())
            .map_err(|error| Failure::request(error.to_string(), "").of_kind("InternalError"))?;
        Ok(Done::default().with_rows(table))
    })
}

/// Starts to write a table to a file.
#[pyfunction]
pub fn start_watch_export(asked: Asked, file: PathBuf, format: &str) -> PyResult<Call> {
    let export = Export {
        database: asked.database()?,
        table: asked.table()?,
        format: value("format", format, read::<Format>)?,
        selection: asked.selection()?,
    };
    Call::start("watch", String::new(), move |cancel, tell| {
        let rows = export.to_file(&file, cancel, &mut |rows| tell.tell(so_far(rows)))?;
        Ok(Done::default().telling(rows.to_string()))
    })
}

/// Starts a forecast.
#[pyfunction]
pub fn start_watch_forecast(
    database: &str,
    ends: (String, String),
    task: String,
    bytes: &str,
) -> PyResult<Call> {
    let database: DatabaseName = value("database", database, read)?;
    let bytes = value("bytes", bytes, ask::bytes)?;
    Call::start("watch", String::new(), move |_, _| {
        let forecast = trunkline_watch::forecast(&database, (&ends.0, &ends.1), &task, bytes)?;
        Ok(Done::default().telling(forecast.json()))
    })
}
