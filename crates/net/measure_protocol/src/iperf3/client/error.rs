//! How a conversation with a server can fail.

use std::fmt;

use thiserror::Error;
use units::Span;

use crate::iperf3::extension::VERSION;
use crate::iperf3::inbox::OutOfTurn;
use crate::iperf3::results::ResultsError;
use crate::{Denial, Direction, ErrorCode, FrameError, State, UnknownState};

/// What a client was waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// The server to ask for the parameters.
    Greeting,
    /// The server to accept or refuse them.
    Verdict,
    /// The server to start the test.
    Start,
    /// The test to run its time.
    TestOver,
    /// What the server has counted so far.
    Report,
    /// The server to end its side.
    End,
    /// The server's results.
    Results,
    /// The server to confirm the exchange.
    Goodbye,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Waiting::Greeting => "its greeting",
            Waiting::Verdict => "its answer to the parameters",
            Waiting::Start => "the start of the test",
            Waiting::TestOver => "the end of the test",
            Waiting::Report => "its report",
            Waiting::End => "it to end its side of the test",
            Waiting::Results => "its results",
            Waiting::Goodbye => "its goodbye",
        })
    }
}

/// Why a conversation with a server ended early.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ClientControlError {
    /// It has no place for a test.
    #[error("{0}")]
    Denied(Denial),
    /// The server was stopped.
    #[error("the server was stopped during the test")]
    ServerStopped,
    /// The server reported an error.
    #[error("the server gave up: {}", describe(*.code, *.errno))]
    ServerFailed {
        /// iperf3's number; `None` when the connection ended before it.
        code: Option<ErrorCode>,
        /// The system's number, when the server gave one.
        errno: Option<i32>,
    },
    /// The control connection ended early.
    #[error("the server closed the connection while we waited for {waiting}")]
    Closed {
        /// What was awaited.
        waiting: Waiting,
        /// The direction of the test: servers before iperf3 3.7 cannot do both at once.
        direction: Direction,
    },
    /// The server said nothing for too long.
    #[error("the server did not answer for {after} while we waited for {waiting}")]
    TimedOut {
        /// What was awaited.
        waiting: Waiting,
        /// The bound.
        after: Span,
        /// The direction of the test.
        direction: Direction,
    },
    /// A state that has no place here.
    #[error("the server sent {state:?} while we waited for {waiting}")]
    Unexpected {
        /// What came.
        state: State,
        /// What was awaited.
        waiting: Waiting,
    },
    /// A byte that is no state.
    #[error("the server does not speak the iperf3 protocol: {0}")]
    UnknownState(UnknownState),
    /// A message with an impossible length.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// Results that cannot be read.
    #[error(transparent)]
    Results(ResultsError),
    /// A capabilities message that cannot be read.
    #[error("the server's capabilities cannot be read: {0}")]
    Answer(String),
    /// The server chose a version of the extension that was not offered.
    #[error(
        "the server wants to speak version {0} of trunkline's extension, but {VERSION} was offered"
    )]
    Version(u32),
    /// A flood.
    #[error(transparent)]
    OutOfTurn(#[from] OutOfTurn),
}

impl ClientControlError {
    /// What the user can try next.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Denied(denial) => Some(denial.hint()),
            Self::Closed { waiting, direction }
            | Self::TimedOut {
                waiting, direction, ..
            } => hint_on_silence(*waiting, *direction),
            Self::ServerFailed {
                code: Some(ErrorCode::AUTHENTICATION),
                ..
            } => Some(LOGIN_HINT),
            Self::UnknownState(_) => Some("check the port: iperf3 and `trunkline serve` use 5201"),
            _ => None,
        }
    }
}

/// Servers of iperf3 that let a client not in close the connection, most of them without a word.
const LOGIN_HINT: &str = "servers with users want `--user` and `--user-key`, those of iperf3 \
    before 3.17 `--user-padding pkcs1`, and a clock that is right: see those of both hosts";

fn hint_on_silence(waiting: Waiting, direction: Direction) -> Option<&'static str> {
    match (waiting, direction) {
        (Waiting::Start, Direction::Both) => {
            Some("iperf3 servers before 3.7 cannot send and receive at once: test one direction")
        }
        (Waiting::Greeting, _) => {
            Some("another test may hang on that server: restart it, or use another port")
        }
        (Waiting::TestOver | Waiting::Report, _) => {
            Some("it was probably stopped or crashed: look at its output")
        }
        (Waiting::Verdict, _) => Some(LOGIN_HINT),
        _ => None,
    }
}

fn describe(code: Option<ErrorCode>, errno: Option<i32>) -> String {
    match (code, errno) {
        (Some(code), Some(errno)) => format!("{code}, system error {errno}"),
        (Some(code), None) => code.to_string(),
        (None, _) => "it gave no reason".to_owned(),
    }
}
