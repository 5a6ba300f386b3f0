//! Why a target could not be observed, and whose fault that is.

use std::error::Error;
use std::fmt;

use errors::{Fault, Hint};

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

impl Hint for TargetError {
    fn fault(&self) -> Fault {
        self.fault
    }

    fn hint(&self) -> Option<String> {
        self.hint.clone()
    }
}
