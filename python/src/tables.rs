//! Results as tidy tables, a row for each visit, sample, stream, hop or file.
//!
//! They leave through the Arrow PyCapsule interface: nothing is copied on the way to pandas,
//! polars, duckdb or pyarrow, and none of them is needed. Units stand in the metadata of each
//! field.

mod columns;
mod curves;
mod examined;
mod files;
mod kept;
mod runs;
mod simulated;
mod visits;
mod watched;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, Schema};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyCapsule, PyIterator, PyList};
use trunkline::AnyDocument;
use trunkline::record::{Run, Schema as Kind};

use crate::error::Failure;

pub use columns::Columns;
pub use files::FileRow;
pub use kept::kept;
pub use watched::Watched;

/// A column on its way to another process: its name, its kind and its values.
type Pickled<'py> = (String, String, Bound<'py, PyAny>);

/// Rows that a notebook shows.
const SHOWN: usize = 10;

/// A table.
#[pyclass(frozen, module = "trunkline._trunkline")]
#[derive(Clone)]
pub struct Table(RecordBatch);

impl Table {
    /// The columns as a table.
    pub fn of(columns: Columns) -> PyResult<Self> {
        columns.batch().map(Table).map_err(value_error)
    }

    fn in_python<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let columns = self.0.columns().iter();
        columns
            .map(|column| columns::to_python(py, column))
            .collect()
    }
}

/// The tables that results of a kind have.
fn names(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Measure | Kind::Tune | Kind::Demo => {
            &["visits", "samples", "deliveries", "probes", "streams"]
        }
        Kind::Sweep | Kind::Campaign => &["visits", "streams"],
        Kind::Simulate => &["visits", "streams", "series"],
        Kind::Characteristics => &["hops"],
        Kind::Predict | Kind::Fit => &["curves"],
        Kind::Copy => &["files"],
        Kind::Emulate | Kind::Responsiveness | Kind::Datagrams | Kind::Fluid => &[],
    }
}

/// The table `name` of one result.
///
/// * `files`: what became of each, of a copy that this process waited for.
pub fn of(
    name: &str,
    document: Option<&AnyDocument>,
    files: Option<&[FileRow]>,
) -> PyResult<Table> {
    match (name, files) {
        ("files", Some(files)) => Table::of(files::files(files)),
        _ => of_all(name, document.as_slice()),
    }
}

/// The table `name` of several results, one below the other, of those that have it.
pub fn of_all(name: &str, documents: &[&AnyDocument]) -> PyResult<Table> {
    let numbered = documents.iter().copied().enumerate();
    let with_it: Vec<(usize, &AnyDocument)> = numbered
        .filter(|(_, document)| names(document.schema()).contains(&name))
        .collect();
    let columns = (!with_it.is_empty())
        .then(|| build(name, &with_it))
        .flatten();
    Table::of(columns.ok_or_else(|| lacking(name, documents))?)
}

/// That no result has a table of this name, and which they have.
fn lacking(name: &str, documents: &[&AnyDocument]) -> Failure {
    if documents.is_empty() {
        let what = format!("there is no document, and so no table `{name}`");
        return Failure::request(what, "a copy that failed has `files`");
    }
    let schemas: BTreeSet<&str> = documents.iter().map(|one| one.schema().name()).collect();
    let schemas = Vec::from_iter(schemas).join(", ");
    let known = documents.iter().flat_map(|one| names(one.schema()));
    let known: BTreeSet<&str> = known.copied().collect();
    let hint = match known.len() {
        _ if known.contains(name) => {
            "the files of a copy are in the result that the copy gave, and not in its document"
                .to_owned()
        }
        0 => "all that there is stands in its `document`".to_owned(),
        _ => format!("there are: {}", Vec::from_iter(known).join(", ")),
    };
    Failure::request(format!("a result of {schemas} has no table `{name}`"), hint)
}

fn build(name: &str, documents: &[(usize, &AnyDocument)]) -> Option<Columns> {
    let runs = || -> Vec<(usize, usize, &Run)> {
        let mut rows = Vec::new();
        for (result, document) in documents {
            let runs = runs::of(document).into_iter().enumerate();
            rows.extend(runs.map(|(visit, run)| (*result, visit, run)));
        }
        rows
    };
    Some(match name {
        "visits" => visits::visits(documents),
        "samples" => runs::samples(&runs()),
        "deliveries" => runs::deliveries(&runs()),
        "probes" => runs::probes(&runs()),
        "streams" => visits::streams(documents),
        "series" => simulated::series(documents),
        "curves" => curves::curves(documents),
        "hops" => examined::hops(documents),
        _ => return None,
    })
}

#[pymethods]
impl Table {
    fn __repr__(&self) -> String {
        let columns = self.column_names();
        let (rows, count) = (self.0.num_rows(), columns.len());
        format!("<Table {rows} x {count}: {}>", columns.join(", "))
    }

    /// Number of rows.
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        let schema = self.0.schema();
        schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    }

    /// The unit of each column that has one.
    #[getter]
    fn units(&self) -> BTreeMap<String, String> {
        let schema = self.0.schema();
        let unit = |field: &Arc<arrow_schema::Field>| {
            let unit = field.metadata().get(columns::UNIT)?;
            Some((field.name().clone(), unit.clone()))
        };
        schema.fields().iter().filter_map(unit).collect()
    }

    /// Bytes that the columns take.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.get_array_memory_size()
    }

    /// The values of a column as Python objects, missing ones as `None`.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let column = self.0.column_by_name(name);
        let column = column.ok_or_else(|| {
            let known = self.column_names().join(", ");
            PyValueError::new_err(format!("there is no column `{name}`; there are: {known}"))
        })?;
        columns::to_python(py, column)
    }

    /// A column by its name, as [`Table::column`] gives it.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let missing = |error: PyErr| PyKeyError::new_err(error.value(py).to_string());
        self.column(py, name).map_err(missing)
    }

    /// The rows, each as a dictionary.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let names = self.column_names();
        let columns = self.in_python(py)?;
        let row = |row: usize| {
            let cells = names.iter().zip(&columns);
            let cells = cells.map(|(name, column)| Ok((name, column.get_item(row)?)));
            cells.collect::<PyResult<Vec<_>>>()?.into_py_dict(py)
        };
        let rows: PyResult<Vec<_>> = (0..self.0.num_rows()).map(row).collect();
        PyList::new(py, rows?)?.try_iter()
    }

    /// For notebooks: the first rows, with the unit of each column.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let head = Table(self.0.slice(0, SHOWN.min(self.0.num_rows())));
        let escape = py.import("html")?.getattr("escape")?;
        let row = |cells: Vec<String>, tag: &str| -> PyResult<String> {
            let cell = |cell: String| Ok(format!("<{tag}>{}</{tag}>", escape.call1((cell,))?));
            let cells: PyResult<Vec<String>> = cells.into_iter().map(cell).collect();
            Ok(format!("<tr>{}</tr>", cells?.concat()))
        };
        let units = self.units();
        let names = self.column_names();
        let title = |name: &String| {
            units
                .get(name)
                .map_or(name.clone(), |unit| format!("{name}, {unit}"))
        };
        let mut html = row(names.iter().map(title).collect(), "th")?;
        let columns = head.in_python(py)?;
        for number in 0..head.0.num_rows() {
            let cell = |column: &Bound<'_, PyAny>| {
                let value = column.get_item(number)?;
                Ok(if value.is_none() {
                    String::new()
                } else {
                    value.to_string()
                })
            };
            let cells: PyResult<Vec<String>> = columns.iter().map(cell).collect();
            html += &row(cells?, "td")?;
        }
        let rows = self.0.num_rows();
        Ok(format!("<table>{html}</table><p>{rows} rows</p>"))
    }

    /// By its columns.
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Vec<Pickled<'py>>,))> {
        let remake = py.get_type::<Table>().getattr("from_columns")?;
        let columns = self.column_names().into_iter().zip(self.0.columns());
        let columns = columns.map(|(name, column)| {
            let kind = columns::kind(column).to_owned();
            Ok((name, kind, columns::to_python(py, column)?))
        });
        Ok((remake, (columns.collect::<PyResult<_>>()?,)))
    }

    /// The table of such columns.
    #[staticmethod]
    fn from_columns(columns: Vec<Pickled<'_>>) -> PyResult<Self> {
        let mut made = Columns::default();
        for (name, kind, values) in columns {
            made.add_python(&name, &kind, &values)?;
        }
        Table::of(made)
    }

    /// Arrow PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.0.schema());
        capsule(py, schema.map_err(value_error)?, c"arrow_schema")
    }

    /// Arrow PyCapsule interface. A requested schema is a wish that may be left unfulfilled.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let schema: Arc<Schema> = self.0.schema();
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], schema);
        capsule(
            py,
            FFI_ArrowArrayStream::new(Box::new(batches)),
            c"arrow_array_stream",
        )
    }
}

/// A capsule that frees what no library took: the structures release themselves when they are
/// dropped.
fn capsule<'py, T: Send + 'static>(
    py: Python<'py>,
    value: T,
    name: &'static CStr,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, value, name)
}

fn value_error(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
