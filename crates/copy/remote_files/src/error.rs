//! Why a request has no result.

use copy_net::DialError;
use copy_protocol::HandshakeError;
use copy_protocol::remote::{Failure, FailureKind};
use errors::{Fault, Hint};
use thiserror::Error;
use units::Span;

/// Why a request has no result.
#[derive(Debug, Clone, Error)]
pub enum RemoteError {
    /// The far end cannot or may not do it.
    #[error("{}", .0.what)]
    Failed(Failure),
    /// The far end cannot be reached, or does not let this end in.
    #[error("{what}")]
    Unreachable {
        /// What was seen.
        what: String,
        /// The next step.
        hint: Option<String>,
        /// Trying again may help.
        may_pass: bool,
    },
    /// The far end was there, and then gave no answer for longer than `patience`.
    #[error("no answer for {patience}: {what}")]
    Lost {
        /// What was seen last.
        what: String,
        /// How long was waited.
        patience: Span,
    },
    /// The connection was lost before the answer came, and to ask again could do harm.
    #[error("whether `{name}` was changed is not known: {what}")]
    Unsure {
        /// The name.
        name: String,
        /// What was seen.
        what: String,
    },
    /// The far end broke the rules.
    #[error("the far end broke the protocol: {0}")]
    Protocol(String),
    /// This end wanted no answer any more.
    #[error("cancelled")]
    Cancelled,
}

impl Hint for RemoteError {
    fn fault(&self) -> Fault {
        match self {
            RemoteError::Cancelled => Fault::Cancelled,
            RemoteError::Failed(Failure {
                kind:
                    FailureKind::Request
                    | FailureKind::NotFound
                    | FailureKind::Exists
                    | FailureKind::NotAFolder
                    | FailureKind::IsAFolder
                    | FailureKind::NotEmpty,
                ..
            }) => Fault::Request,
            _ => Fault::Run,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            RemoteError::Failed(failure) => failure.hint.as_deref(),
            RemoteError::Unreachable { hint, .. } => hint.as_deref(),
            RemoteError::Lost { .. } => Some("try again when the server can be reached"),
            RemoteError::Unsure { .. } => Some("look whether it was done before asking again"),
            RemoteError::Protocol(_) => Some("use the same version of trunkline at both ends"),
            RemoteError::Cancelled => None,
        };
        hint.map(str::to_owned)
    }
}

impl RemoteError {
    /// Kind of the failure, where the far end or its files are what failed.
    pub fn kind(&self) -> Option<FailureKind> {
        match self {
            RemoteError::Failed(failure) => Some(failure.kind),
            RemoteError::Protocol(_) => Some(FailureKind::Protocol),
            _ => None,
        }
    }
}

impl From<&DialError> for RemoteError {
    fn from(error: &DialError) -> Self {
        RemoteError::Unreachable {
            what: error.to_string(),
            hint: error.hint().or_else(|| old_server(error)),
            may_pass: error.may_pass(),
        }
    }
}

/// A server that knows only copies takes the hello for nonsense, and says no next step.
fn old_server(error: &DialError) -> Option<String> {
    match error {
        DialError::Handshake {
            source: HandshakeError::Refused(_),
            ..
        } => Some(
            "a server older than file access knows only copies: install the newer trunkline there"
                .to_owned(),
        ),
        _ => None,
    }
}
