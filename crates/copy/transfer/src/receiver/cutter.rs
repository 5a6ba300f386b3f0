//! Cuts older versions by what is in them, on a thread of its own: that reads all of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::thread::{self, JoinHandle};

use copy_protocol::FileId;

use crate::session::Event;
use files::moved;
use files::store::Store;

/// An older version that is to be cut.
struct Older {
    file: FileId,
    bytes: u64,
    /// It is of no use any more.
    is_over: Arc<AtomicBool>,
}

/// Takes older versions and reports their chunks in order.
#[derive(Debug)]
pub(super) struct Cutter {
    /// `None` once it is closed.
    older: Option<Sender<Older>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Cutter {
    /// Starts the thread; it ends when this is closed or dropped.
    pub(super) fn start(store: Arc<Store>, report: SyncSender<Event>) -> Self {
        let (to, older) = channel();
        let is_over = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&is_over);
        let thread = thread::spawn(move || cut_all(&store, &older, &stop, &report));
        Cutter {
            older: Some(to),
            is_over,
            thread: Some(thread),
        }
    }

    /// Without a thread.
    #[cfg(test)]
    pub(super) fn idle() -> Self {
        Cutter {
            older: None,
            is_over: Arc::default(),
            thread: None,
        }
    }

    /// The older version of a file, of so many bytes, is to be cut, until what this returns is set.
    pub(super) fn take(&self, file: FileId, bytes: u64) -> Arc<AtomicBool> {
        let is_over = Arc::new(AtomicBool::new(false));
        if let Some(to) = &self.older {
            // The thread ends by itself only when its events are not received any more.
            let _ = to.send(Older {
                file,
                bytes,
                is_over: Arc::clone(&is_over),
            });
        }
        is_over
    }

    /// Cuts nothing more. Returns the thread, which may still be busy with a read.
    pub(super) fn close(&mut self) -> Option<JoinHandle<()>> {
        self.is_over.store(true, Ordering::Relaxed);
        self.older = None;
        self.thread.take()
    }
}

fn cut_all(store: &Store, older: &Receiver<Older>, stop: &AtomicBool, report: &SyncSender<Event>) {
    while let Ok(older) = older.recv() {
        let mut cutter = moved::Cutter::new(older.bytes);
        while !older.is_over.load(Ordering::Relaxed) {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let read = |place: u64, into: &mut [u8]| store.read_older(older.file, place, into);
            let chunks = cutter.as_mut().and_then(|cutter| cutter.advance(read));
            let is_last = chunks.is_none();
            if report.send(Event::Cut(older.file, chunks)).is_err() {
                return;
            }
            if is_last {
                break;
            }
        }
    }
}
