//! What happens in a session of a pipe.

use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, MutexGuard, PoisonError};

use copy_net::Channel;
use copy_protocol::pipe::PipeMessage;

/// What happens.
#[derive(Debug)]
pub(crate) enum Event {
    /// The peer said something.
    Message(PipeMessage),
    /// The peer cannot be heard any more.
    Gone(String),
    /// The peer broke the protocol.
    Broken(String),
    /// A stream came.
    Joined(u32, Channel),
    /// A stream did not come.
    NotJoined(String),
    /// A stream is over.
    StreamOver(u32, Result<(), String>),
    /// Something changed in this end's half.
    Changed,
}

/// Wakes the session, while there is one.
#[derive(Debug, Default)]
pub(crate) struct Bell(Mutex<Option<SyncSender<Event>>>);

impl Bell {
    /// Something changed. A session that has events looks anyway.
    pub fn ring(&self) {
        if let Some(to) = &*self.lock() {
            let _ = to.try_send(Event::Changed);
        }
    }

    /// A session begins, or ends.
    pub fn hang(&self, to: Option<SyncSender<Event>>) {
        *self.lock() = to;
    }

    fn lock(&self) -> MutexGuard<'_, Option<SyncSender<Event>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
