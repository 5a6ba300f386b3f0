//! What can go wrong before two ends know each other.

use thiserror::Error;

use super::{NoPlace, Refusal};
use crate::{CodecError, KeyName};

/// Why two ends do not talk.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HandshakeError {
    /// Not what a handshake begins with.
    #[error("the peer did not begin as trunkline copy does")]
    Stranger,
    /// Cannot be read.
    #[error(transparent)]
    Codec(#[from] CodecError),
    /// Another version of the protocol.
    #[error("this end speaks version {ours} of the copy protocol, the peer version {theirs}")]
    Version {
        /// Ours.
        ours: u16,
        /// The peer's.
        theirs: u16,
    },
    /// Another version of the protocol for access to files.
    #[error("this end speaks version {ours} of file access, the peer version {theirs}")]
    RemoteVersion {
        /// Ours.
        ours: u16,
        /// The peer's.
        theirs: u16,
    },
    /// Another version of the protocol for third-party copies.
    #[error("this end speaks version {ours} of third-party copies, the peer version {theirs}")]
    ThirdPartyVersion {
        /// Ours.
        ours: u16,
        /// The peer's.
        theirs: u16,
    },
    /// Another version of the protocol for pipes.
    #[error("this end speaks version {ours} of pipes, the peer version {theirs}")]
    PipeVersion {
        /// Ours.
        ours: u16,
        /// The peer's.
        theirs: u16,
    },
    /// (near) The far end says no.
    #[error("the far end refused: {}", .0.what)]
    Refused(Refusal),
    /// (near) The far end has no place now.
    #[error("{}", .0.what)]
    NoPlace(NoPlace),
    /// (near) The far end does not know the secret.
    #[error("the far end does not know the secret of `{0}`: it is not the one this is meant for")]
    NotTheFarEnd(KeyName),
    /// (far) The near end does not know a secret that this end accepts.
    #[error("`{0}` is no token of this server, or comes with another secret")]
    NotAdmitted(KeyName),
}

impl HandshakeError {
    /// The next step.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            HandshakeError::Stranger | HandshakeError::Codec(_) => {
                "check the address and the port: another program may listen there".to_owned()
            }
            HandshakeError::Version { ours, theirs }
            | HandshakeError::RemoteVersion { ours, theirs }
            | HandshakeError::ThirdPartyVersion { ours, theirs }
            | HandshakeError::PipeVersion { ours, theirs }
                if ours < theirs =>
            {
                "install the newer trunkline at this end".to_owned()
            }
            HandshakeError::Version { .. }
            | HandshakeError::RemoteVersion { .. }
            | HandshakeError::ThirdPartyVersion { .. }
            | HandshakeError::PipeVersion { .. } => {
                "install the newer trunkline at the other end".to_owned()
            }
            HandshakeError::Refused(refusal) => return refusal.hint.clone(),
            HandshakeError::NoPlace(_) => "try again when one of them is done".to_owned(),
            HandshakeError::NotTheFarEnd(_) => {
                "another host may be answering in its place; nothing was sent".to_owned()
            }
            HandshakeError::NotAdmitted(_) => {
                "use a token that `trunkline serve --new-token` printed for this server".to_owned()
            }
        })
    }
}
