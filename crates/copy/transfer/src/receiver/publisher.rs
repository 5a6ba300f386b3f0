//! Gives whole files their final names, on a thread of its own, because that waits for the disk.
//!
//! Files are flushed together where many become whole at about the same time; whatever becomes
//! whole during a flush waits for the next one. So the slower the disk, the more files share a
//! flush.

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, SyncSender};
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use copy_protocol::{FileId, HASH_LENGTH};

use crate::activity::TimeSpent;
use crate::session::Event;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::mpsc::{Receiver, Sender, channel};
use crate::sync::{Deadline, Mutex, recv_timeout};
use files::store::Store;

/// A whole file waits so long for others to be flushed with.
const GATHER: Duration = Duration::from_millis(100);
/// How soon it is noticed that nothing else will come: every copy waits so long for its last files.
const TICK: Duration = Duration::from_millis(1);

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
            is_last: Arc::new(AtomicBool::new(false)),
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
        let thread = thread::spawn(move || {
            let mut publish = |whole| {
                let events = spent.flushing(|| publish(&store, whole));
                events.into_iter().all(|event| report.send(event).is_ok())
            };
            publish_all(&files, &hurry, &|| store.batch(), &mut publish);
        });
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

/// Publishes files as long as any come, and what becomes of them is heard.
///
/// * `most`: so many at once.
/// * `publish`: returns whether it was heard.
fn publish_all(
    files: &Receiver<Whole>,
    hurry: &AtomicBool,
    most: &dyn Fn() -> usize,
    publish: &mut dyn FnMut(Vec<Whole>) -> bool,
) {
    while let Ok(first) = files.recv() {
        if !publish(gather(first, files, hurry, most())) {
            return;
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
    let deadline = Deadline::after(GATHER);
    let mut whole = vec![first];
    while whole.len() < most {
        match recv_timeout(files, TICK) {
            Ok(file) => whole.push(file),
            Err(RecvTimeoutError::Timeout) => {
                if hurry.load(Ordering::Relaxed) || deadline.is_over() {
                    break;
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    whole
}

#[cfg(feature = "shuttle")]
pub mod threads;
