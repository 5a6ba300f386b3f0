//! Compares contents, on a thread of its own: reading a file may take longer than the other end
//! waits for a word.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::thread::{self, JoinHandle};

use copy_protocol::Entry;

use crate::session::Event;
use files::store::Store;

/// Takes entries and reports an answer for each, in order.
#[derive(Debug)]
pub(crate) struct Comparer {
    /// `None` once it is closed.
    entries: Option<Sender<Vec<Entry>>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Comparer {
    /// Starts the thread; it ends when this is closed or dropped.
    pub(crate) fn start(store: Arc<Store>, report: SyncSender<Event>) -> Self {
        let (to, entries) = channel();
        let is_over = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&is_over);
        let thread = thread::spawn(move || compare_all(&store, &entries, &stop, &report));
        Comparer {
            entries: Some(to),
            is_over,
            thread: Some(thread),
        }
    }

    /// These are to be compared. The protocol bounds how many may wait.
    pub(crate) fn take(&self, entries: Vec<Entry>) {
        if let Some(to) = &self.entries {
            // The thread ends by itself only when its events are not received any more.
            let _ = to.send(entries);
        }
    }

    /// Compares nothing more. Returns the thread, which may still be busy with a block.
    pub(crate) fn close(&mut self) -> Option<JoinHandle<()>> {
        self.is_over.store(true, Ordering::Relaxed);
        self.entries = None;
        self.thread.take()
    }
}

fn compare_all(
    store: &Store,
    entries: &Receiver<Vec<Entry>>,
    stop: &AtomicBool,
    report: &SyncSender<Event>,
) {
    let is_over = || stop.load(Ordering::Relaxed);
    while let Ok(batch) = entries.recv() {
        for entry in batch {
            if is_over() {
                return;
            }
            let is_equal = store.has_content_of(&entry, &is_over);
            let (id, answer) = store.add_compared(&entry, is_equal);
            if report
                .send(Event::EntryPlanned(Box::new((entry, id, answer))))
                .is_err()
            {
                return;
            }
        }
    }
}
