//! Gives whole files their final names, on a thread of its own, because that waits for the disk.
//!
//! Files are flushed together where many become whole at about the same time; whatever becomes
//! whole during a flush waits for the next one. So the slower the disk, the more files share a
//! flush.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use copy_protocol::{FileId, HASH_LENGTH};

use crate::activity::TimeSpent;
use crate::session::Event;
use crate::store::Store;

/// A whole file waits so long for others to be flushed with.
const GATHER: Duration = Duration::from_millis(100);
/// How soon it is noticed that nothing else will come.
const TICK: Duration = Duration::from_millis(5);

/// A file whose bytes are all there, and its digest.
pub(crate) type Whole = (FileId, [u8; HASH_LENGTH]);

/// Takes files that are whole.
#[derive(Debug)]
pub(crate) struct Publisher {
    /// `None` once it is closed.
    whole: Mutex<Option<Sender<Whole>>>,
    is_last: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Publisher {
    /// Without a thread: the owner of the queue's other end [publishes](publish).
    pub(crate) fn queue() -> (Self, Receiver<Whole>) {
        let (whole, files) = channel();
        let publisher = Publisher {
            whole: Mutex::new(Some(whole)),
            is_last: Arc::default(),
            thread: Mutex::new(None),
        };
        (publisher, files)
    }

    /// Starts the thread; it ends when this is closed or dropped.
    pub(crate) fn start(
        store: Arc<Store>,
        report: SyncSender<Event>,
        spent: Arc<TimeSpent>,
    ) -> Self {
        let (publisher, files) = Publisher::queue();
        let hurry = Arc::clone(&publisher.is_last);
        let thread = thread::spawn(move || publish_all(&store, &files, &hurry, &report, &spent));
        Publisher {
            thread: Mutex::new(Some(thread)),
            ..publisher
        }
    }

    /// A file whose bytes are all there.
    pub(crate) fn take(&self, id: FileId, digest: [u8; HASH_LENGTH]) {
        let whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(whole) = &*whole {
            // The thread ends by itself only when its events are not received any more.
            let _ = whole.send((id, digest));
        }
    }

    /// Takes no more. Returns the thread, which may still be busy with the last ones.
    pub(crate) fn close(&self) -> Option<JoinHandle<()>> {
        let mut whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
        *whole = None;
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        thread.take()
    }

    /// Nothing else is on its way: waiting for others brings nothing.
    pub(crate) fn hurry(&self, is_last: bool) {
        self.is_last.store(is_last, Ordering::Relaxed);
    }
}

fn publish_all(
    store: &Store,
    files: &Receiver<Whole>,
    hurry: &AtomicBool,
    report: &SyncSender<Event>,
    spent: &TimeSpent,
) {
    while let Ok(first) = files.recv() {
        let whole = gather(first, files, hurry, store.batch());
        for event in spent.flushing(|| publish(store, whole)) {
            if report.send(event).is_err() {
                return;
            }
        }
    }
}

/// Gives whole files their names. Returns what became of each.
pub(crate) fn publish(store: &Store, whole: Vec<Whole>) -> Vec<Event> {
    let mut told = Vec::with_capacity(whole.len());
    for (id, digest) in &whole {
        let finished = store.finish(*id, digest);
        told.extend(finished.err().map(Event::Failed));
    }
    let mut by_id: BTreeMap<_, _> = whole.into_iter().collect();
    for (id, result) in store.publish() {
        let digest = by_id.remove(&id).unwrap_or_default();
        told.push(match result {
            Ok(()) => Event::Published(id, digest),
            Err(problem) => Event::Failed(problem),
        });
    }
    told
}

fn gather(first: Whole, files: &Receiver<Whole>, hurry: &AtomicBool, most: usize) -> Vec<Whole> {
    let until = Instant::now() + GATHER;
    let mut whole = vec![first];
    while whole.len() < most {
        match files.recv_timeout(TICK) {
            Ok(file) => whole.push(file),
            Err(RecvTimeoutError::Timeout) => {
                if hurry.load(Ordering::Relaxed) || Instant::now() >= until {
                    break;
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    whole
}
