//! Why a pipe ended before its end.

use copy_protocol::{Problem, ProblemKind};
use errors::{Fault, Hint};
use thiserror::Error;
use units::Span;

/// Why a pipe ended before its end. Nothing was published then: no file has its name, and no
/// program was told that its input ended.
#[derive(Debug, Error)]
pub enum PipeError {
    /// It cannot be done as it was asked for, or not any further; one of the two ends says so.
    #[error("{what}")]
    Problem {
        /// Kind of a problem.
        kind: ProblemKind,
        /// What happened.
        what: String,
        /// The next step.
        hint: Option<String>,
    },
    /// There was never a conversation with the far end.
    #[error("{peer} cannot be reached: {why}")]
    Unreachable {
        /// Where it should be.
        peer: String,
        /// What was seen last.
        why: String,
        /// The next step.
        hint: Option<String>,
    },
    /// The far end was there, and is gone.
    #[error("{peer} is gone: {why}")]
    Gone {
        /// Where it was.
        peer: String,
        /// What was seen last.
        why: String,
    },
    /// The far end was there, and then unreachable for longer than `patience`.
    #[error("{peer} has been gone for {patience}: {why}")]
    Lost {
        /// Where it was.
        peer: String,
        /// What was seen last.
        why: String,
        /// How long was waited.
        patience: Span,
    },
    /// The reader of what the far end sends has closed it.
    #[error("standard output was closed after {taken} bytes, before the end")]
    Closed {
        /// Bytes that it took.
        taken: u64,
    },
    /// The user ended it.
    #[error("the pipe was stopped")]
    Cancelled,
}

impl Hint for PipeError {
    fn fault(&self) -> Fault {
        match self {
            PipeError::Problem { kind, .. } => kind.fault(),
            PipeError::Unreachable { .. }
            | PipeError::Gone { .. }
            | PipeError::Lost { .. }
            | PipeError::Closed { .. } => Fault::Run,
            PipeError::Cancelled => Fault::Cancelled,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            PipeError::Problem { hint, .. } | PipeError::Unreachable { hint, .. } => hint.clone(),
            PipeError::Gone { .. } | PipeError::Lost { .. } => {
                Some("what was not whole has no name there, and no end; begin anew".to_owned())
            }
            PipeError::Closed { .. } | PipeError::Cancelled => None,
        }
    }
}

impl From<Problem> for PipeError {
    fn from(problem: Problem) -> Self {
        PipeError::Problem {
            kind: problem.kind,
            what: problem.what,
            hint: problem.hint,
        }
    }
}
