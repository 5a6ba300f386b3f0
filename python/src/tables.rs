//! Results as tidy tables, a row for each visit, sample, stream, hop or file.
//!
//! They leave through the Arrow PyCapsule interface: nothing is copied on the way to pandas,
//! polars, duckdb or pyarrow, and none of them is needed. Units stand in the metadata of each
//! field.

mod columns;
mod examined;
mod files;
mod runs;
mod simulated;
mod visits;

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use trunkline::AnyDocument;
use trunkline::record::Run;

pub use columns::Columns;
pub use files::FileRow;

/// A table.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Table(RecordBatch);

impl Table {
    /// The columns as a table.
    pub fn of(columns: Columns) -> Result<Self, ArrowError> {
        columns.batch().map(Table)
    }
}

/// The table `name` of one result; `None` when there is no such name.
pub fn of(
    name: &str,
    document: Option<&AnyDocument>,
    files: &[FileRow],
) -> Option<Result<Table, ArrowError>> {
    let documents: Vec<(usize, &AnyDocument)> = document.into_iter().map(|one| (0, one)).collect();
    let columns = match name {
        "files" => files::files(files),
        name => build(name, &documents)?,
    };
    Some(Table::of(columns))
}

/// The table `name` of several results, one below the other.
pub fn of_all(name: &str, documents: &[Arc<AnyDocument>]) -> Option<Result<Table, ArrowError>> {
    let documents: Vec<(usize, &AnyDocument)> =
        documents.iter().map(|one| &**one).enumerate().collect();
    Some(Table::of(build(name, &documents)?))
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

/// A capsule that frees what no library took: the structures release themselves when they are dropped.
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
