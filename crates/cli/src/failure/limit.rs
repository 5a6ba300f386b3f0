//! Why a running copy cannot be found or steered.

use copy_net::control_socket::ReinsError;

use super::{Exit, Failure};

impl From<ReinsError> for Failure {
    fn from(error: ReinsError) -> Self {
        let (exit, hint) = match &error {
            ReinsError::NoPlace => (
                Exit::WrongRequest,
                "set HOME or XDG_RUNTIME_DIR, the same for the copy and for `trunkline limit`",
            ),
            ReinsError::Place { .. } => (
                Exit::WrongRequest,
                "see that the folder is yours and writable, or set XDG_RUNTIME_DIR to one that is",
            ),
            ReinsError::Silent { .. } => (
                Exit::Failed,
                "the copy has ended, or hangs: `trunkline limit` lists those that answer",
            ),
        };
        Failure::new(exit, &error, Some(hint.to_owned()))
    }
}
