//! The agent's end.

use std::io;
use std::net::SocketAddr;

use copy_net::{Channel, DialError, Dialer, StreamHandle};
use copy_protocol::Token;
use thiserror::Error;
use units::{Address, Span};

use crate::link::frame::{self, FrameError};
use crate::link::{Answer, Refused, Reply, Report};

/// Time for one answer: a collector may wait for its database.
const ANSWER_MAX: Span = Span::from_secs(60);

/// An open connection to a collector.
pub struct AgentLink {
    channel: Channel,
}

/// Why a report did not get through. The visits stay on the agent's disk.
#[derive(Debug, Error)]
pub enum LinkError {
    /// No collector, or one that does not know the token.
    #[error(transparent)]
    Dial(#[from] DialError),
    /// The connection broke.
    #[error("the report did not get through: {0}")]
    Frame(#[from] FrameError),
    /// The collector ended the connection without an answer.
    #[error("the collector gave no answer")]
    Silent,
    /// The collector does not take the report.
    #[error("the collector refused the report: {}", .0.what)]
    Refused(Refused),
    /// The collector answered for another number of visits.
    #[error("the collector answered for {answered} visits, and {sent} were sent")]
    Miscounted {
        /// How many were sent.
        sent: usize,
        /// For how many it answered.
        answered: usize,
    },
}

impl LinkError {
    /// The next step.
    pub fn hint(&self) -> Option<String> {
        match self {
            LinkError::Dial(error) => collector_hint(error),
            LinkError::Refused(refused) => Some(refused.hint.clone()),
            LinkError::Miscounted { .. } => {
                Some("use the same version of trunkline at both ends".to_owned())
            }
            LinkError::Frame(_) | LinkError::Silent => None,
        }
    }
}

/// The next step where no collector answers: the dialer's own words speak of copies.
fn collector_hint(error: &DialError) -> Option<String> {
    let is_refused = |tried: &[(SocketAddr, io::Error)]| {
        let mut errors = tried.iter().map(|(_, error)| error.kind());
        errors.any(|kind| kind == io::ErrorKind::ConnectionRefused)
    };
    let text = match error {
        DialError::Unreachable { tried, .. } if is_refused(tried) => {
            "is `trunkline watch serve` running there, on that port?"
        }
        DialError::Silent { .. } | DialError::Closed { .. } => {
            "something else may listen there: `trunkline watch serve` takes results"
        }
        other => return other.hint(),
    };
    Some(text.to_owned())
}

impl AgentLink {
    /// Connects to the collector at `address`; both ends show that they know `token`.
    ///
    /// * `is_given_up`: asked ten times a second.
    ///
    /// # Errors
    /// When nothing answers there, or another program, or the token is not known.
    pub fn connect(
        address: &Address,
        token: &Token,
        is_given_up: &dyn Fn() -> bool,
    ) -> Result<Self, LinkError> {
        let places = std::slice::from_ref(address);
        let (channel, _) = Dialer::default().channel(places, token, is_given_up)?;
        channel
            .set_timeout(Some(ANSWER_MAX))
            .map_err(FrameError::Io)?;
        Ok(AgentLink { channel })
    }

    /// A handle with which another thread ends it, also while an answer is awaited.
    pub fn handle(&self) -> StreamHandle {
        self.channel.handle()
    }

    /// Sends a report and waits for what becomes of it.
    ///
    /// # Errors
    /// When the connection broke, or the collector refused the report.
    pub fn report(&mut self, report: &Report) -> Result<Reply, LinkError> {
        frame::send(&mut self.channel, report)?;
        match frame::receive(&mut self.channel)?.ok_or(LinkError::Silent)? {
            Answer::Refused(refused) => Err(LinkError::Refused(refused)),
            Answer::Taken(reply) if reply.receipts.len() != report.visits.len() => {
                Err(LinkError::Miscounted {
                    sent: report.visits.len(),
                    answered: reply.receipts.len(),
                })
            }
            Answer::Taken(reply) => Ok(reply),
        }
    }
}

/// Ends the connection with a goodbye, also after a refusal.
impl Drop for AgentLink {
    fn drop(&mut self) {
        // What was answered is known; the collector notices an end without one as well.
        let _ = self.channel.finish();
    }
}
