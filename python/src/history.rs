//! The archive of results.

use std::path::PathBuf;

use pyo3::prelude::*;
use trunkline::archive::since as since_text;
use trunkline::history::{self, Archive, Comparison, Filter, Listed, Listing};
use trunkline::{Cancel, compare_beside};

use crate::error::Failure;
use crate::result::Done;
use crate::tables::{Table, kept};

fn place(file: Option<PathBuf>) -> Result<PathBuf, Failure> {
    file.or_else(history::default_place).ok_or_else(|| {
        Failure::request(
            "there is no archive: neither TRUNKLINE_STATE, XDG_STATE_HOME nor HOME is set",
            "name one with `file`",
        )
    })
}

/// The file of the user's archive.
#[pyfunction]
pub fn default_place() -> Option<PathBuf> {
    history::default_place()
}

/// What is kept: as JSON, and as a table.
#[pyfunction]
#[pyo3(signature = (file=None, target=None, since=None, last=None))]
pub fn listed(
    py: Python<'_>,
    file: Option<PathBuf>,
    target: Option<String>,
    since: Option<String>,
    last: Option<u32>,
) -> PyResult<(String, Table)> {
    let since = since.map(|since| {
        let read = since_text(&since);
        read.map_err(|error| Failure::value("since", &since, &error.to_string()))
    });
    let filter = Filter {
        target,
        since: since.transpose()?,
        last,
    };
    let place = place(file)?;
    let listed = py.detach(|| -> Result<_, Failure> {
        let archive = Archive::open_existing(&place)?;
        let runs = archive.list(&filter)?;
        let columns = kept(&runs);
        let entries: Vec<Listed> = runs
            .into_iter()
            .map(|run| Listed::Run(Box::new(run)))
            .collect();
        Ok((Listing::new(&entries).to_json(), columns))
    });
    let (json, columns) = listed?;
    Ok((json, Table::of(columns)?))
}

/// A result that was kept.
#[pyfunction]
#[pyo3(signature = (run, file=None))]
pub fn load_kept(py: Python<'_>, run: i64, file: Option<PathBuf>) -> PyResult<Done> {
    let place = place(file)?;
    let loaded = py.detach(|| -> Result<Done, Failure> {
        let archive = Archive::open_existing(&place)?;
        Ok(Done::of(archive.load(run)?).numbered(run))
    });
    Ok(loaded?)
}

/// What changed from one run to another, as JSON.
#[pyfunction]
#[pyo3(signature = (from_run, to_run, file=None))]
pub fn compare(
    py: Python<'_>,
    from_run: i64,
    to_run: i64,
    file: Option<PathBuf>,
) -> PyResult<String> {
    let place = place(file)?;
    let compared = py.detach(|| -> Result<String, Failure> {
        let archive = Archive::open_existing(&place)?;
        let (from, to) = (archive.entry(from_run)?, archive.entry(to_run)?);
        let documents = [archive.load(from_run)?, archive.load(to_run)?];
        let both = [(from_run, &documents[0]), (to_run, &documents[1])];
        let mut comparison = Comparison::new(from, to);
        comparison.beside = compare_beside(both, &Cancel::new(), &mut |_| {})?;
        Ok(comparison.to_json())
    });
    Ok(compared?)
}

/// Keeps a result, and gives its number.
#[pyfunction]
#[pyo3(signature = (result, file=None))]
pub fn keep(py: Python<'_>, result: &Done, file: Option<PathBuf>) -> PyResult<Option<i64>> {
    let place = place(file)?;
    let history = history::History::at(place);
    let kept = py.detach(|| history.keep(result.document()?).map_err(Failure::from));
    Ok(kept?)
}
