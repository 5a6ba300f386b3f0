//! Files that were not copied.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transfer::FileProblem;
use wire::copying::ProblemKind;

/// A file that was not copied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileFailure {
    /// Below the destination, that of a folder with a `/` at its end; empty where it is about all of them.
    pub name: String,
    /// What kind of trouble, in a word.
    pub kind: FailureKind,
    /// What happened.
    pub what: String,
    /// The next step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Of a folder: what is in it, and so was not copied either; absent where that is nothing.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub below: u64,
}

fn is_nothing(count: &u64) -> bool {
    *count == 0
}

/// What kind of trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// It cannot be done as it was asked for.
    Request,
    /// Nothing of that name.
    NotFound,
    /// No right to read or write.
    Permission,
    /// No room left.
    DiskFull,
    /// A disk could not be read or written.
    Disk,
    /// The source became another file while it was read.
    SourceChanged,
    /// What arrived is not what was read, more than once.
    Corrupt,
    /// Somebody else copies to the same place.
    Busy,
    /// The peer broke the protocol.
    Protocol,
    /// The user ended it.
    Cancelled,
    /// A pipe, a socket or a device.
    NoContent,
    /// The folder that it is in failed.
    Follows,
}

impl From<&FileProblem> for FileFailure {
    fn from(problem: &FileProblem) -> Self {
        FileFailure {
            name: problem.name.clone(),
            kind: problem.kind.into(),
            what: problem.what.clone(),
            hint: problem.hint.clone(),
            below: problem.below,
        }
    }
}

impl From<ProblemKind> for FailureKind {
    fn from(kind: ProblemKind) -> Self {
        match kind {
            ProblemKind::Request => FailureKind::Request,
            ProblemKind::NotFound => FailureKind::NotFound,
            ProblemKind::Permission => FailureKind::Permission,
            ProblemKind::DiskFull => FailureKind::DiskFull,
            ProblemKind::Disk => FailureKind::Disk,
            ProblemKind::SourceChanged => FailureKind::SourceChanged,
            ProblemKind::Corrupt => FailureKind::Corrupt,
            ProblemKind::Busy => FailureKind::Busy,
            ProblemKind::Protocol => FailureKind::Protocol,
            ProblemKind::Cancelled => FailureKind::Cancelled,
            ProblemKind::NoContent => FailureKind::NoContent,
            ProblemKind::Follows => FailureKind::Follows,
        }
    }
}
