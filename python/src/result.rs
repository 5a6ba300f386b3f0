//! What a call found: a document, and what only the call knows beside it.

use std::path::PathBuf;
use std::sync::Arc;
use trunkline::Hint;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use trunkline::draw::Paint;
use trunkline::history::{History, load};
use trunkline::report;
use trunkline::{AnyDocument, record};

use crate::error::{Failure, unreadable};
use crate::tables::{self, FileRow, Table};

/// What a call found.
#[pyclass(frozen, module = "trunkline._trunkline")]
#[derive(Default, Clone)]
pub struct Done {
    document: Option<Arc<AnyDocument>>,
    /// Its number in the archive.
    kept: Option<i64>,
    /// What went wrong beside it, each with its next step.
    warnings: Vec<(String, String)>,
    /// Files of a copy that this process waited for.
    files: Option<Arc<Vec<FileRow>>>,
    /// Rows of what is no document: visits of a watch, say.
    rows: Option<Table>,
    /// JSON of what is no document: where a campaign stands, say.
    told: Option<String>,
    /// Why it ended early.
    pub cut: Option<Failure>,
}

impl Done {
    /// A document.
    pub fn of(document: impl Into<AnyDocument>) -> Self {
        Done {
            document: Some(Arc::new(document.into())),
            ..Done::default()
        }
    }

    /// The same, which ended early.
    pub fn cut(self, cut: Option<Failure>) -> Self {
        Done { cut, ..self }
    }

    /// The same, with the number that it has already.
    pub fn numbered(self, id: i64) -> Self {
        Done {
            kept: Some(id),
            ..self
        }
    }

    /// The same, with the files of a copy.
    pub fn with_files(self, files: Vec<FileRow>) -> Self {
        Done {
            files: Some(Arc::new(files)),
            ..self
        }
    }

    /// The same, with rows of what is no document.
    pub fn with_rows(self, rows: Table) -> Self {
        Done {
            rows: Some(rows),
            ..self
        }
    }

    /// The same, with JSON of what is no document.
    pub fn telling(self, json: String) -> Self {
        Done {
            told: Some(json),
            ..self
        }
    }

    /// The same, with something to be told.
    pub fn warned(mut self, what: String, hint: &str) -> Self {
        self.warnings.push((what, hint.to_owned()));
        self
    }

    /// Keeps the document. An archive that fails costs no result.
    pub fn kept_in(mut self, history: &History) -> Self {
        let Some(document) = &self.document else {
            return self;
        };
        match history.keep(document) {
            Ok(id) => self.kept = id,
            Err(error) => {
                let cause = std::error::Error::source(&error);
                let cause = cause.map(|cause| format!(" ({cause})")).unwrap_or_default();
                let what = format!("{error}{cause}; this result is not kept");
                self.warnings.push((what, error.hint().unwrap_or_default()));
            }
        }
        self
    }

    /// The document, of a call that has one.
    pub fn document(&self) -> Result<&AnyDocument, Failure> {
        let document = self.document.as_deref();
        document.ok_or_else(|| Failure::request("this call has no document", "keep another result"))
    }

    fn any(&self) -> PyResult<&AnyDocument> {
        let document = self.document.as_deref();
        document.ok_or_else(|| PyValueError::new_err("this call has no document"))
    }
}

#[pymethods]
impl Done {
    /// The result whose document is `text`.
    ///
    /// * `text`: empty where there is none.
    /// * `files`: as [`Done::files_json`] gives them.
    #[staticmethod]
    #[pyo3(signature = (text, kept=None, files="null"))]
    fn from_json(py: Python<'_>, text: &str, kept: Option<i64>, files: &str) -> PyResult<Self> {
        let files: Option<Vec<FileRow>> = serde_json::from_str(files)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let parsed = (!text.is_empty()).then(|| {
            let parse = || record::parse("a document".as_ref(), text);
            py.detach(parse).map_err(Failure::from)
        });
        Ok(Done {
            document: parsed.transpose()?.map(Arc::new),
            kept,
            files: files.map(Arc::new),
            ..Done::default()
        })
    }

    /// The files of a copy, for another process.
    fn files_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.files.as_deref())
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The result in a file, which may be one of iperf3.
    #[staticmethod]
    fn from_file(py: Python<'_>, file: PathBuf) -> PyResult<Self> {
        Ok(Done::of(py.detach(|| load(&file)).map_err(Failure::from)?))
    }

    /// Its number in the archive.
    #[getter]
    fn kept(&self) -> Option<i64> {
        self.kept
    }

    /// JSON of what is no document.
    #[getter]
    fn told(&self) -> Option<&str> {
        self.told.as_deref()
    }

    /// What went wrong beside it, each with its next step.
    #[getter]
    fn warnings(&self) -> Vec<(String, String)> {
        self.warnings.clone()
    }

    /// What kind of document it is.
    #[getter]
    fn schema(&self) -> PyResult<String> {
        Ok(self.any()?.schema().name().to_owned())
    }

    fn has_document(&self) -> bool {
        self.document.is_some()
    }

    /// The document.
    #[pyo3(signature = (brief=false))]
    fn to_json(&self, py: Python<'_>, brief: bool) -> PyResult<String> {
        let document = self.any()?;
        let json = py.detach(|| match brief {
            true => document.brief().map(|document| document.to_json()),
            false => Ok(document.to_json()),
        });
        json.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The same without raw readings, in one line.
    fn to_text(&self, py: Python<'_>) -> PyResult<String> {
        let document = self.any()?;
        Ok(py.detach(|| report::text(document, Paint::Plain)))
    }

    /// A page for a browser.
    fn to_html(&self, py: Python<'_>) -> PyResult<String> {
        let document = self.any()?;
        Ok(py
            .detach(|| report::html(document, None))
            .map_err(Failure::from)?)
    }

    /// The inferred path as a path file.
    #[getter]
    fn path_file(&self) -> PyResult<Option<String>> {
        Ok(self.any()?.path_file().map(str::to_owned))
    }

    /// Comma-separated values, of what has rows.
    fn to_csv(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let document = self.any()?;
        Ok(py.detach(|| report::rows::rows(document)))
    }

    /// Every plot: its name and its SVG.
    fn charts(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        let document = self.any()?;
        Ok(py
            .detach(|| report::charts(document, None))
            .map_err(Failure::from)?)
    }

    /// Writes the document to a file, whole or not at all.
    #[pyo3(signature = (file, brief=false))]
    fn save(&self, py: Python<'_>, file: PathBuf, brief: bool) -> PyResult<()> {
        let json = self.to_json(py, brief)?;
        Ok(py
            .detach(|| record::save(&file, &json))
            .map_err(Failure::from)?)
    }

    /// The table of that name.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        let files = self.files.as_deref().map(Vec::as_slice);
        py.detach(|| tables::of(name, self.document.as_deref(), files))
    }

    /// Rows of what is no document.
    #[getter]
    fn rows(&self) -> Option<Table> {
        self.rows.clone()
    }
}

/// The visits of several results in one table, and so on.
#[pyfunction]
pub fn table_of_all(py: Python<'_>, results: Vec<PyRef<'_, Done>>, name: &str) -> PyResult<Table> {
    let documents: Vec<&AnyDocument> = results
        .iter()
        .filter_map(|done| done.document.as_deref())
        .collect();
    py.detach(|| tables::of_all(name, &documents))
}

/// Text of a file.
pub fn read(file: &std::path::Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|error| unreadable(file, &error))
}
