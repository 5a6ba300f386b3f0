//! The one error of this crate.

mod rooms;

use std::error::Error as StdError;
use std::path::Path;
use std::{fmt, io};

use copy_protocol::TokensError;
use observe::Fault;
use thiserror::Error as ThisError;

/// Why an operation has no result: whose fault it is, what happened, and the next step.
///
/// Its text names the value and the bound. What caused it is the chain of
/// [`source`](StdError::source); [`Error::what`] has all of it in one line.
///
/// ```
/// use trunkline::{Fault, Target};
/// let error = Target::open("sim:nowhere", 1).unwrap_err();
/// assert_eq!(error.fault(), Fault::Request);
/// assert_eq!(error.to_string(), "`nowhere` is neither a named path nor a readable file");
/// assert!(error.hint().is_some());
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
type Cause = Box<dyn StdError + Send + Sync>;

impl Error {
    /// The error `cause`, with whose fault it is and the next step.
    pub(crate) fn of(
        fault: Fault,
        cause: impl StdError + Send + Sync + 'static,
        hint: Option<String>,
    ) -> Self {
        let cause = Box::new(cause);
        Error { fault, hint, cause }
    }

    /// A wrong request: what is wrong with it, with the value and the bound, and the next step.
    pub fn wrong_request(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Error::sentence(Fault::Request, what.into(), None, hint.into())
    }

    /// An operation that was not finished and that the same request goes on with: why, and the next
    /// step.
    pub(crate) fn unfinished(what: String, hint: String) -> Self {
        Error::sentence(Fault::Later, what, None, hint)
    }

    /// An operation that was cancelled before it had a result.
    pub(crate) fn cancelled(what: &str) -> Self {
        let what = what.to_owned();
        Error::of(Fault::Cancelled, Sentence { what, source: None }, None)
    }

    /// A file that cannot be read.
    pub(crate) fn unreadable(file: &Path, error: io::Error) -> Self {
        let what = format!("cannot read {}", file.display());
        let hint = "check the name, and that you may read the file";
        Error::sentence(Fault::Request, what, Some(error.into()), hint.to_owned())
    }

    /// A file that cannot be written.
    pub(crate) fn unwritable(file: &Path, error: io::Error) -> Self {
        let what = format!("cannot write {}", file.display());
        let hint = "name a place that you may write to and that has room";
        Error::sentence(Fault::Run, what, Some(error.into()), hint.to_owned())
    }

    /// The same error, of another fault.
    pub(crate) fn with_fault(self, fault: Fault) -> Self {
        Error { fault, ..self }
    }

    /// A tokens file that cannot be used. What stands in it is not shown.
    pub(crate) fn tokens(file: &Path, error: TokensError) -> Self {
        let file = file.display();
        let what = format!("cannot use {file}");
        let hint = format!(
            "mend or delete that line; `trunkline serve --tokens {file} --new-token NAME` writes \
             right ones"
        );
        Error::sentence(Fault::Request, what, Some(error.into()), hint)
    }

    fn sentence(fault: Fault, what: String, source: Option<Cause>, hint: String) -> Self {
        Error::of(fault, Sentence { what, source }, Some(hint))
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
    pub(crate) fn cause(&self) -> &(dyn StdError + Send + Sync + 'static) {
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
