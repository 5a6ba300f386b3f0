//! The one error of all operations: whose fault it is, what happened, and the next step.
//!
//! The errors of a crate say both with [`Hint`], and `?` makes an [`Error`] of them.

use std::error::Error as StdError;
use std::path::Path;
use std::{fmt, io};

use thiserror::Error as ThisError;

/// Whose fault a failure is; decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The request was wrong: exit code 2.
    Request,
    /// The path, the far end or this host failed: exit code 1.
    Run,
    /// The user ended it: exit code 1, without a complaint.
    Cancelled,
    /// Others are at it, the far end is away, or a disk is full: the same request goes on later.
    /// Exit code 75.
    Later,
}

/// An error that knows whose fault it is and what the user can do about it.
pub trait Hint: StdError + Send + Sync + 'static {
    /// Whose fault it is.
    fn fault(&self) -> Fault;

    /// The next step, as a sentence without a full stop; `None` where the error has it or none is
    /// known.
    fn hint(&self) -> Option<String>;
}

/// Why an operation has no result: whose fault it is, what happened, and the next step.
///
/// Its text names the value and the bound. What caused it is the chain of
/// [`source`](StdError::source); [`Error::what`] has all of it in one line.
///
/// ```
/// use errors::{Error, Fault};
/// let error = Error::wrong_request("`-P 0` is no number of streams", "give 1 to 128");
/// assert_eq!(error.fault(), Fault::Request);
/// assert_eq!(error.to_string(), "`-P 0` is no number of streams");
/// assert_eq!(error.hint(), Some("give 1 to 128"));
/// ```
#[derive(Debug)]
pub struct Error {
    fault: Fault,
    hint: Option<String>,
    cause: Cause,
}

/// An error that is a sentence.
#[derive(Debug, ThisError)]
#[error("{what}")]
struct Sentence {
    what: String,
    source: Option<Cause>,
}

/// Any error below another one.
pub type Cause = Box<dyn StdError + Send + Sync>;

impl Error {
    /// The error `cause`, with whose fault it is and the next step.
    pub fn of(
        fault: Fault,
        cause: impl StdError + Send + Sync + 'static,
        hint: Option<String>,
    ) -> Self {
        let cause = Box::new(cause);
        Error { fault, hint, cause }
    }

    /// A wrong request: what is wrong with it, with the value and the bound, and the next step.
    pub fn wrong_request(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Error::sentence(Fault::Request, what, None).with_hint(hint)
    }

    /// An operation that was not finished and that the same request goes on with: why, and the next
    /// step.
    pub fn unfinished(what: String, hint: String) -> Self {
        Error::sentence(Fault::Later, what, None).with_hint(hint)
    }

    /// An operation that was cancelled before it had a result.
    pub fn cancelled(what: &str) -> Self {
        Error::sentence(Fault::Cancelled, what, None)
    }

    /// A file that cannot be read.
    pub fn unreadable(file: &Path, error: io::Error) -> Self {
        let what = format!("cannot read {}", file.display());
        let hint = "check the name, and that you may read the file";
        Error::sentence(Fault::Request, what, Some(error.into())).with_hint(hint)
    }

    /// A file that cannot be written.
    pub fn unwritable(file: &Path, error: io::Error) -> Self {
        let what = format!("cannot write {}", file.display());
        let hint = "name a place that you may write to and that has room";
        Error::sentence(Fault::Run, what, Some(error.into())).with_hint(hint)
    }

    /// The same error, of another fault.
    pub fn with_fault(self, fault: Fault) -> Self {
        Error { fault, ..self }
    }

    /// An error that is a sentence, over what caused it, without a next step.
    pub fn sentence(fault: Fault, what: impl Into<String>, source: Option<Cause>) -> Self {
        let what = what.into();
        Error::of(fault, Sentence { what, source }, None)
    }

    /// The same error with another next step.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Whose fault it is. Of a cancelled operation, [`Fault::Cancelled`].
    pub fn fault(&self) -> Fault {
        self.fault
    }

    /// What it was made of, for those that know its kinds.
    pub fn cause(&self) -> &(dyn StdError + Send + Sync + 'static) {
        &*self.cause
    }

    /// The next step, where there is one.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The error and what caused it, the error first.
    pub fn causes(&self) -> Vec<String> {
        let mut causes = vec![self.to_string()];
        let mut cause = self.source();
        while let Some(error) = cause {
            causes.push(error.to_string());
            cause = error.source();
        }
        causes
    }

    /// The same in one line.
    pub fn what(&self) -> String {
        self.causes().join(": ")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.cause.source()
    }
}

impl<E: Hint> From<E> for Error {
    fn from(error: E) -> Self {
        let hint = error.hint();
        Error::of(error.fault(), error, hint)
    }
}

impl Hint for io::Error {
    fn fault(&self) -> Fault {
        Fault::Run
    }

    fn hint(&self) -> Option<String> {
        None
    }
}
