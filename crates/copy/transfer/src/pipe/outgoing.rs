//! The sender's half: what was read and is not confirmed, for the streams to take.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use copy_protocol::pipe::{BlockHeader, End, PipeViolation, SendWindow};
use copy_protocol::{HASH_LENGTH, Problem};

use super::events::Bell;

/// Blocks between the thread that reads and the streams.
#[derive(Debug)]
pub(crate) struct Outgoing {
    state: Mutex<State>,
    changed: Condvar,
    bell: Arc<Bell>,
}

#[derive(Debug)]
struct State {
    window: SendWindow,
    /// Streams that are to end.
    leaving: BTreeSet<u32>,
    failed: Option<Problem>,
    is_over: bool,
}

/// What a stream does next.
#[derive(Debug)]
pub(crate) enum Next {
    /// It sends this block.
    Block(BlockHeader, Arc<Vec<u8>>),
    /// It is not needed any more.
    Leave,
    /// Its session is over.
    Over,
}

impl Outgoing {
    pub fn new(window: u64, bell: Arc<Bell>) -> Arc<Self> {
        Arc::new(Outgoing {
            state: Mutex::new(State {
                window: SendWindow::new(window),
                leaving: BTreeSet::new(),
                failed: None,
                is_over: false,
            }),
            changed: Condvar::new(),
            bell,
        })
    }

    /// Waits until so many bytes may be read; `false` once nothing is to be read any more.
    pub fn wait_for_room(&self, bytes: u64) -> bool {
        let mut state = self.lock();
        while !state.is_over && state.window.room() < bytes {
            state = self.wait(state);
        }
        !state.is_over
    }

    /// Takes what was read.
    pub fn push(&self, bytes: Vec<u8>) {
        self.lock().window.push(bytes);
        self.changed.notify_all();
    }

    /// What is read has ended.
    pub fn finish(&self, digest: [u8; HASH_LENGTH]) {
        self.lock().window.finish(digest);
        self.bell.ring();
    }

    /// It cannot be read any further.
    pub fn fail(&self, problem: Problem) {
        self.lock().failed.get_or_insert(problem);
        self.bell.ring();
    }

    /// Nothing more is read or sent.
    pub fn stop(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    pub fn is_over(&self) -> bool {
        self.lock().is_over
    }

    /// What the stream of that number does next; waits until there is something.
    pub fn next(&self, stream: u32, is_session_over: &AtomicBool) -> Next {
        let mut state = self.lock();
        loop {
            if state.is_over || is_session_over.load(Ordering::Relaxed) {
                return Next::Over;
            }
            if state.leaving.contains(&stream) {
                return Next::Leave;
            }
            if let Some((header, bytes)) = state.window.take(stream) {
                return Next::Block(header, bytes);
            }
            state = self.wait(state);
        }
    }

    /// A session begins: its streams have nothing yet. What is not confirmed is sent again.
    ///
    /// * `taken`: what the receiver's reader has.
    pub fn begin(&self, taken: u64) -> Result<(), PipeViolation> {
        let mut state = self.lock();
        state.window.on_taken(taken)?;
        state.window.on_all_lost();
        state.leaving.clear();
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// A session ends: its streams are to notice.
    pub fn wake(&self) {
        drop(self.lock());
        self.changed.notify_all();
    }

    pub fn on_taken(&self, taken: u64) -> Result<(), PipeViolation> {
        self.lock().window.on_taken(taken)?;
        self.changed.notify_all();
        Ok(())
    }

    /// A stream broke; returns the bytes that are sent again.
    pub fn on_lost(&self, stream: u32) -> u64 {
        let bytes = self.lock().window.on_lost(stream);
        self.changed.notify_all();
        bytes
    }

    /// A stream is to end.
    pub fn leave(&self, stream: u32) {
        self.lock().leaving.insert(stream);
        self.changed.notify_all();
    }

    pub fn end(&self) -> Option<End> {
        self.lock().window.end()
    }

    /// Whether the receiver's reader has all.
    pub fn is_all_taken(&self) -> bool {
        let state = self.lock();
        let end = state.window.end();
        end.is_some_and(|end| end.bytes == state.window.taken())
    }

    pub fn failed(&self) -> Option<Problem> {
        self.lock().failed.clone()
    }

    /// Bytes that the receiver's reader has.
    pub fn taken(&self) -> u64 {
        self.lock().window.taken()
    }

    /// Whether blocks wait for a stream.
    pub fn has_waiting(&self) -> bool {
        self.lock().window.has_waiting()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is complete, even when another thread panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let waited = self.changed.wait(state);
        waited.unwrap_or_else(PoisonError::into_inner)
    }
}
