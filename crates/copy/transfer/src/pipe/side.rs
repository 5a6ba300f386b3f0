//! What an end of a pipe has as long as that lives, over all sessions.

use std::sync::Arc;

use super::events::Bell;
use super::incoming::{Incoming, OutputState};
use super::outgoing::Outgoing;
use super::printer::Printer;
use super::program::Program;

/// This end's half of the data.
#[derive(Debug, Clone)]
pub(crate) enum Data {
    Sends(Arc<Outgoing>),
    Receives(Arc<Incoming>),
}

impl Data {
    /// Bytes that the receiver's reader has, as far as it is known here.
    pub fn taken(&self) -> u64 {
        match self {
            Data::Sends(outgoing) => outgoing.taken(),
            Data::Receives(incoming) => incoming.taken(),
        }
    }

    /// Whether there is anything to carry.
    pub fn is_open(&self) -> bool {
        match self {
            Data::Sends(outgoing) => !outgoing.is_over(),
            Data::Receives(incoming) => matches!(incoming.output(), OutputState::Open),
        }
    }

    /// Nothing more is read or written.
    pub fn stop(&self) {
        match self {
            Data::Sends(outgoing) => outgoing.stop(),
            Data::Receives(incoming) => incoming.stop(),
        }
    }
}

/// What an end has as long as the pipe lives.
#[derive(Debug, Clone)]
pub(crate) struct Side {
    pub is_near: bool,
    pub data: Data,
    pub bell: Arc<Bell>,
    /// Far: what runs there.
    pub program: Option<Arc<Program>>,
    /// Near: where goes what runs there prints.
    pub printer: Option<Arc<Printer>>,
}

/// What the other end has said, over all sessions.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Heard {
    /// All is where it belongs.
    pub done: bool,
    /// The reader there takes no more.
    pub closed: bool,
    /// The program has ended.
    pub exited: Option<u8>,
}
