//! Why a target could not be opened.

use emu::EmuError;
use path::PathError;
use thiserror::Error;

/// A target that cannot be used.
#[derive(Debug, Error)]
pub enum LabError {
    /// The path file or its name is wrong.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The path could not be emulated.
    #[error(transparent)]
    Emulation(#[from] EmuError),
    /// The name is not that of a host.
    #[error("`{name}` is not a target: {problem}")]
    Name {
        /// What was given.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The far end of an emulated path could not be started.
    #[error("the server at the far end could not be started")]
    Server(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The traffic that shares the path could not be started.
    #[error("the path's cross traffic could not be started")]
    Cross(#[source] std::io::Error),
}

impl LabError {
    /// The next step.
    pub fn hint(&self) -> Option<String> {
        match self {
            LabError::Path(error) => Some(error.hint()),
            LabError::Emulation(error) => error.hint().map(str::to_owned),
            LabError::Name { .. } => {
                Some("give a host like `dtn.example.org`, `dtn.example.org:5201` or `[::1]:5201`, or a path like `emu:slac-cern`".to_owned())
            }
            LabError::Server(_) | LabError::Cross(_) => None,
        }
    }

    /// Whether the request itself was wrong.
    pub fn is_wrong_request(&self) -> bool {
        matches!(self, LabError::Path(_) | LabError::Name { .. })
    }
}
