//! Pipes ([`copy_protocol::pipe`]): one stream of bytes over n connections.
//!
//! Each end has its half of the data for as long as the pipe lives: the sender [`Outgoing`] with a
//! thread that reads, the receiver [`Incoming`] with a thread that writes. A session, which is one
//! control connection with its streams, moves blocks between the two; a new one goes on where a
//! lost one ended. The far end may have a [`Program`] in place of a file.
//!
//! Reading order: `events` for what happens, `outgoing` with `input` and `incoming` with `output`
//! for the data, `program` and `printer` for a program there and what it prints, `lanes` for the
//! streams, `session` with `play`, and `near` with `caller` for the end that asks. The end that is
//! asked is in `far/pipe.rs`.

mod caller;
mod error;
mod events;
mod incoming;
mod input;
mod lanes;
mod near;
mod outgoing;
mod output;
mod play;
mod printer;
mod program;
mod session;
mod side;
mod spec;
mod talk;

pub use error::PipeError;
pub(crate) use events::Bell;
pub(crate) use incoming::Incoming;
pub use input::Input;
pub(crate) use input::read_all;
pub(crate) use lanes::{Origin, Steering};
pub use near::pipe;
pub(crate) use outgoing::Outgoing;
pub(crate) use output::{FileOutput, write_all};
pub(crate) use program::Program;
pub(crate) use session::Session;
pub(crate) use side::{Data, Heard, Side};
pub use spec::{NearPipe, PipeOutcome, PipeSpec};
pub(crate) use talk::{await_message, refuse, say};
