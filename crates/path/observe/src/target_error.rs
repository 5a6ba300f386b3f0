//! Why a target could not be observed, and whose fault that is.

use std::error::Error;
use std::fmt;

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

/// Why a target could not be observed.
#[derive(Debug)]
pub struct TargetError {
    /// Whose fault it is.
    pub fault: Fault,
    /// What happened, with the value and the bound.
    pub what: String,
    /// The next step.
    pub hint: Option<String>,
    /// The failure underneath.
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl Error for TargetError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}
