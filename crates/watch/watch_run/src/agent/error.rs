//! Why an agent cannot begin.

use std::io;
use std::path::PathBuf;

use errors::{Fault, Hint};
use thiserror::Error;
use watch_store::SpoolError;

/// Why an agent cannot begin.
#[derive(Debug, Error)]
pub enum AgentError {
    /// The folder cannot be made or written.
    #[error("cannot use the folder {}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Another agent runs there.
    #[error("another agent uses the folder {}", .0.display())]
    Taken(PathBuf),
    /// Results that wait cannot be read.
    #[error(transparent)]
    Spool(#[from] SpoolError),
}

impl Hint for AgentError {
    fn fault(&self) -> Fault {
        Fault::Run
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            AgentError::Folder { .. } => Some("name one that you may write to with `--state`"),
            AgentError::Taken(_) => Some("end that one, or name another folder with `--state`"),
            AgentError::Spool(_) => None,
        };
        hint.map(str::to_owned)
    }
}
