//! Why a running copy cannot be found or steered.

use copy_net::control_socket::ControlError;

use super::{Exit, Failure};

impl From<ControlError> for Failure {
    fn from(error: ControlError) -> Self {
        let (exit, hint) = match &error {
            ControlError::NoPlace => (
                Exit::WrongRequest,
                "set HOME or XDG_RUNTIME_DIR, the same for the copy and for `trunkline limit`",
            ),
            ControlError::Place { .. } => (
                Exit::WrongRequest,
                "see that the folder is yours and writable, or set XDG_RUNTIME_DIR to one that is",
            ),
            ControlError::Silent { .. } => (
                Exit::Failed,
                "the copy has ended, or hangs: `trunkline limit` lists those that answer",
            ),
        };
        Failure::new(exit, &error, Some(hint.to_owned()))
    }
}
