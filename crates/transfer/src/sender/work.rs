//! What the sender's threads share: the queue of what is to be sent, and where it lies.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use wire::copying::{Entry, FileId, Range};

use crate::inner::queue::Queue;

/// A file to be sent.
#[derive(Debug)]
pub(crate) struct Origin {
    /// Where it lies.
    pub path: PathBuf,
    /// As it was told to the receiver.
    pub entry: Entry,
}

/// What the streams have to do.
#[derive(Default)]
pub(crate) struct Work {
    state: Mutex<State>,
    changed: Condvar,
    /// Bytes of files handed to streams.
    pub sent: AtomicU64,
    /// Bytes written to streams.
    pub on_wire: AtomicU64,
}

#[derive(Default)]
struct State {
    queue: Queue,
    origins: HashMap<FileId, Arc<Origin>>,
    is_over: bool,
}

impl Work {
    fn state(&self) -> MutexGuard<'_, State> {
        // A thread that panicked while it held the lock left the queue as it was between two operations.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A file that the receiver may want.
    pub(crate) fn announce(&self, file: FileId, origin: Origin) {
        self.state().origins.insert(file, Arc::new(origin));
    }

    /// Where a file lies, until it is published or given up.
    pub(crate) fn origin(&self, file: FileId) -> Option<Arc<Origin>> {
        self.state().origins.get(&file).cloned()
    }

    /// Part of a file is to be sent.
    pub(crate) fn add(&self, file: FileId, start: u64, length: u64) {
        self.state().queue.add(file, start, length);
        self.changed.notify_all();
    }

    /// The next piece for a stream, once there is one; `None` when the stream shall end.
    pub(crate) fn take(&self, stream: u32, wish: u64) -> Option<Range> {
        let mut state = self.state();
        loop {
            if state.is_over {
                return None;
            }
            if let Some(piece) = state.queue.take(stream, wish) {
                return Some(piece);
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next piece for a stream if there is one at once.
    pub(crate) fn take_at_once(&self, stream: u32, wish: u64) -> Option<Range> {
        let mut state = self.state();
        if state.is_over {
            return None;
        }
        state.queue.take(stream, wish)
    }

    /// A piece was read. Returns whether that was the last of its file.
    pub(crate) fn read(&self, piece: &Range) -> bool {
        self.sent.fetch_add(piece.length, Ordering::Relaxed);
        self.state().queue.read(piece)
    }

    /// Pieces that arrived.
    pub(crate) fn acked(&self, pieces: &[Range]) {
        let mut state = self.state();
        pieces.iter().for_each(|piece| state.queue.acked(piece));
    }

    /// A piece has to be sent again.
    pub(crate) fn damaged(&self, piece: Range) {
        self.state().queue.damaged(piece);
        self.changed.notify_all();
    }

    /// What a stream has not brought there has to be sent again: so many bytes.
    pub(crate) fn died(&self, stream: u32) -> u64 {
        let bytes = self.state().queue.died(stream);
        self.changed.notify_all();
        bytes
    }

    /// Nothing of a file is needed any more.
    pub(crate) fn forget(&self, file: FileId) -> Option<Arc<Origin>> {
        let mut state = self.state();
        state.queue.forget(file);
        state.origins.remove(&file)
    }

    /// Streams shall end.
    pub(crate) fn close(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }
}
