//! Failures on their way to Python.

use std::any::Any;
use std::path::Path;

use pyo3::prelude::*;
use trunkline::Fault;

/// Why a call has no result, or not the whole of it.
#[pyclass(frozen, get_all, module = "trunkline._trunkline")]
#[derive(Debug, Clone)]
pub struct Failure {
    /// The name of the exception's class.
    pub kind: &'static str,
    /// The error and what caused it, the error first.
    pub causes: Vec<String>,
    /// The next step.
    pub hint: Option<String>,
}

impl Failure {
    /// A wrong request.
    pub fn request(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Failure {
            kind: "RequestError",
            causes: vec![what.into()],
            hint: Some(hint.into()),
        }
    }

    /// A value of an argument that cannot be taken.
    pub fn value(name: &str, text: &str, refusal: &str) -> Self {
        Failure {
            kind: "RequestError",
            causes: vec![format!("invalid value '{text}' for `{name}`: {refusal}")],
            hint: None,
        }
    }

    /// Our own mistake.
    pub fn bug(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Failure {
            kind: "InternalError",
            causes: vec![format!(
                "trunkline failed by its own mistake: {}",
                text.unwrap_or("no words")
            )],
            hint: Some("report it with what you called".to_owned()),
        }
    }

    /// The same error with another next step.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same error as the cause of another one.
    pub fn below(mut self, what: &str) -> Self {
        self.causes.insert(0, what.to_owned());
        self
    }

    /// An error of another kind.
    pub fn of_kind(mut self, kind: &'static str) -> Self {
        self.kind = kind;
        self
    }
}

impl From<trunkline::Error> for Failure {
    fn from(error: trunkline::Error) -> Self {
        Failure::from(&error)
    }
}

impl From<&trunkline::Error> for Failure {
    fn from(error: &trunkline::Error) -> Self {
        Failure {
            kind: match error.fault() {
                Fault::Request => "RequestError",
                Fault::Run => "RunError",
                Fault::Cancelled => "Cancelled",
                Fault::Later => "NotFinished",
            },
            causes: error.causes(),
            hint: error.hint().map(str::to_owned),
        }
    }
}

/// Errors that the library's own error has a place for.
macro_rules! through_the_library {
    ($($error:ty),+) => {
        $(
            impl From<$error> for Failure {
                fn from(error: $error) -> Self {
                    Failure::from(trunkline::Error::from(error))
                }
            }
        )+
    };
}

through_the_library!(
    trunkline::history::ArchiveError,
    trunkline::record::LoadError,
    trunkline::record::SaveError,
    trunkline::record::PointsError,
    trunkline::draw::ChartError,
    trunkline::sweep::GridError,
    trunkline::target::OpenError,
    trunkline::copy::PlaceError,
    trunkline::copy::TokenTextError,
    trunkline::observe::TargetError,
    std::io::Error
);

/// The exception, made by the package's own hierarchy of classes.
impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        Python::attach(|py| match exception(py, &failure) {
            Ok(exception) => PyErr::from_value(exception),
            Err(error) => error,
        })
    }
}

fn exception<'py>(py: Python<'py>, failure: &Failure) -> PyResult<Bound<'py, PyAny>> {
    let errors = py.import("trunkline._errors")?;
    let class = errors.getattr(failure.kind)?;
    let what = failure.causes.join(": ");
    class.call1((what, failure.hint.clone(), failure.causes.clone()))
}

/// An exception of the class `kind`.
pub fn raised_in(kind: &'static str, what: &str, hint: &str) -> PyErr {
    Failure::request(what, hint).of_kind(kind).into()
}

/// A file that cannot be read.
pub fn unreadable(file: &Path, error: &std::io::Error) -> Failure {
    Failure {
        kind: "RequestError",
        causes: vec![format!("cannot read {}", file.display()), error.to_string()],
        hint: Some("check the name, and that you may read the file".to_owned()),
    }
}
