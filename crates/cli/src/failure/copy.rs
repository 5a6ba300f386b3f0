//! How a copy fails, and how to go on.

use std::path::Path;

use copy_net::SshChildError;
use transfer::CopyError;
use wire::copy::{Problem, ProblemKind, TokenTextError, TokensError};

use super::{Exit, Failure};
use crate::args::PlaceError;

impl Failure {
    /// A copy that did not come about, or ended early.
    ///
    /// * `go_on`: the command that goes on with it.
    pub(crate) fn copy(error: &CopyError, go_on: &str) -> Self {
        let resumable = || {
            Some(format!(
                "`{go_on}` goes on; what has arrived is not sent again"
            ))
        };
        let (exit, hint) = match error {
            CopyError::Problem { kind, hint, .. } => (exit_of(*kind), hint.clone()),
            CopyError::Unreachable { hint, .. } => (Exit::Failed, hint.clone()),
            CopyError::Lost { .. } => (Exit::Failed, resumable()),
            CopyError::Cancelled { .. } => (Exit::Stopped, resumable()),
        };
        Failure::new(exit, error, hint)
    }

    /// Some files were not copied; which ones has been told.
    pub(crate) fn files_left(what: String, go_on: &str) -> Self {
        Failure {
            exit: Exit::Failed,
            causes: vec![what],
            hint: Some(format!(
                "once the reasons are gone, {go_on} copies what is missing"
            )),
        }
    }

    /// A token that is none. The text is not shown: most of it may be a secret.
    pub(crate) fn token(error: TokenTextError) -> Self {
        let hint = "copy it again from where it was made, whole and on one line";
        Failure::new(Exit::WrongRequest, &error, Some(hint.to_owned()))
    }

    /// A tokens file that cannot be used. What stands in it is not shown.
    pub(crate) fn tokens(file: &Path, error: &TokensError) -> Self {
        Failure {
            exit: Exit::WrongRequest,
            causes: vec![format!("cannot use {}", file.display()), error.to_string()],
            hint: Some(format!(
                "mend or delete that line; `trunkline serve --tokens {} --new-token NAME` writes right ones",
                file.display()
            )),
        }
    }

    /// The error and what caused it, in one line.
    pub(crate) fn what(&self) -> String {
        self.causes.join(": ")
    }

    /// The next step.
    pub(crate) fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// Whether another request would have been the remedy.
fn exit_of(kind: ProblemKind) -> Exit {
    match kind {
        ProblemKind::Request | ProblemKind::NotFound => Exit::WrongRequest,
        ProblemKind::Cancelled => Exit::Stopped,
        ProblemKind::Permission
        | ProblemKind::DiskFull
        | ProblemKind::Disk
        | ProblemKind::SourceChanged
        | ProblemKind::Corrupt
        | ProblemKind::Busy
        | ProblemKind::Protocol
        | ProblemKind::NoContent
        | ProblemKind::Follows => Exit::Failed,
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Failure {
            exit: exit_of(problem.kind),
            causes: vec![problem.what],
            hint: problem.hint,
        }
    }
}

impl From<SshChildError> for Failure {
    fn from(error: SshChildError) -> Self {
        let (exit, hint) = match &error {
            SshChildError::Request(_) => (Exit::WrongRequest, None),
            SshChildError::Listen(error) => (Exit::Failed, error.hint()),
            SshChildError::Pipe(_) => (Exit::Failed, None),
            SshChildError::NoNearAddress => (
                Exit::Failed,
                Some("let this end listen instead: leave out `--connect from-far`"),
            ),
        };
        Failure::new(exit, &error, hint.map(str::to_owned))
    }
}

impl From<PlaceError> for Failure {
    fn from(error: PlaceError) -> Self {
        Failure::wrong_request(&error.what, &error.hint)
    }
}
