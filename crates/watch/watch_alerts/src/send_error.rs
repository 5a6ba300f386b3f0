//! Why a message was not sent.

use thiserror::Error;

use crate::Receiver;

/// Why a message was not sent. No secret is in the text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SendError {
    /// The file of alerts has it no more.
    #[error("{0} is not in the file of alerts any more; the message is dropped")]
    Gone(Receiver),
    /// The secret cannot be read.
    #[error("{place} cannot be used: {problem}; give the watch the right to read it")]
    Secret {
        /// Where it should be.
        place: String,
        /// What happened.
        problem: String,
    },
    /// No answer.
    #[error("{place} does not answer: {problem}; look whether it runs and can be reached")]
    Unreachable {
        /// Scheme, host and port.
        place: String,
        /// What happened.
        problem: String,
    },
    /// An answer that means no.
    #[error("{place} answered {status}, not 200 to 299: {body}")]
    Refused {
        /// Scheme, host and port.
        place: String,
        /// The status of HTTP.
        status: u16,
        /// The beginning of what it said.
        body: String,
    },
    /// The mail command failed.
    #[error("the mail command `{program}` {problem}")]
    Command {
        /// Its name.
        program: String,
        /// What happened.
        problem: String,
    },
    /// The message could not be written.
    #[error("the message could not be made: {0}")]
    Message(String),
}
