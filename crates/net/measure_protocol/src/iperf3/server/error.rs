//! How a conversation with a client can fail.

use std::fmt;

use thiserror::Error;
use units::Span;

use crate::iperf3::inbox::OutOfTurn;
use crate::iperf3::results::ResultsError;
use crate::{ErrorCode, FrameError, RequestError, State, UnknownState};

/// What a server was waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// The client's parameters.
    Parameters,
    /// So many more streams.
    Streams(u16),
    /// The client to end the test.
    TestEnd,
    /// The client's results.
    Results,
    /// The client to close the conversation.
    Goodbye,
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Awaited::Parameters => f.write_str("its parameters"),
            Awaited::Streams(missing) => write!(f, "{missing} more streams"),
            Awaited::TestEnd => f.write_str("the end of the test"),
            Awaited::Results => f.write_str("its results"),
            Awaited::Goodbye => f.write_str("its goodbye"),
        }
    }
}

/// Why a conversation with a client ended early.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ServerControlError {
    /// Parameters that are not served.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A message with an impossible length.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// Results that cannot be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A byte that is no state.
    #[error(transparent)]
    UnknownState(#[from] UnknownState),
    /// A state that has no place here.
    #[error("the client sent {state:?} while we waited for {awaited}")]
    Unexpected {
        /// What came.
        state: State,
        /// What was awaited.
        awaited: Awaited,
    },
    /// The user of the client stopped it.
    #[error("the client was stopped")]
    ClientStopped,
    /// The control connection ended early.
    #[error("the client vanished while we waited for {0}")]
    Vanished(Awaited),
    /// The client said nothing for too long.
    #[error("the client did not finish within {after} while we waited for {awaited}")]
    TimedOut {
        /// What was awaited.
        awaited: Awaited,
        /// The bound.
        after: Span,
    },
    /// A flood.
    #[error(transparent)]
    OutOfTurn(#[from] OutOfTurn),
}

impl ServerControlError {
    /// The number that tells the client; `None` when it is gone or would not listen.
    pub(crate) fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Request(error) => Some(error.code()),
            Self::Frame(_) => Some(ErrorCode::PARAMETERS),
            Self::Results(_) => Some(ErrorCode::RESULTS),
            Self::UnknownState(_) | Self::Unexpected { .. } | Self::OutOfTurn(_) => {
                Some(ErrorCode::UNEXPECTED_MESSAGE)
            }
            Self::ClientStopped | Self::Vanished(_) => None,
            Self::TimedOut { awaited, .. } => Some(match awaited {
                Awaited::Parameters => ErrorCode::PARAMETERS,
                Awaited::Streams(_) => ErrorCode::STREAM_ACCEPT,
                Awaited::TestEnd => ErrorCode::OVERDUE,
                Awaited::Results => ErrorCode::RESULTS,
                Awaited::Goodbye => return None,
            }),
        }
    }
}
