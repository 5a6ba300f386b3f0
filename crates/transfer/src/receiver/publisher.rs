//! Gives whole files their final names, on a thread of its own, because that waits for the disk.
//!
//! Files are flushed together where many become whole at about the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel};
use std::thread;
use std::time::{Duration, Instant};

use wire::copying::{FileId, HASH_LENGTH};

use crate::session::Happening;
use crate::store::Store;

/// A whole file waits so long for others to be flushed with.
const GATHER: Duration = Duration::from_millis(100);
/// How soon it is noticed that nothing else will come.
const TICK: Duration = Duration::from_millis(5);

/// Takes files that are whole.
#[derive(Debug)]
pub(crate) struct Publisher {
    whole: Sender<(FileId, [u8; HASH_LENGTH])>,
    is_last: Arc<AtomicBool>,
}

impl Publisher {
    /// Starts the thread; it ends when this is dropped.
    pub(crate) fn start(store: Arc<Store>, report: SyncSender<Happening>) -> Self {
        let (whole, files) = channel();
        let is_last = Arc::new(AtomicBool::new(false));
        let hurry = Arc::clone(&is_last);
        thread::spawn(move || publish_all(&store, &files, &hurry, &report));
        Publisher { whole, is_last }
    }

    /// A file whose bytes are all there.
    pub(crate) fn take(&self, id: FileId, digest: [u8; HASH_LENGTH]) {
        // The thread ends only when this is gone.
        let _ = self.whole.send((id, digest));
    }

    /// Nothing else is on its way: waiting for others brings nothing.
    pub(crate) fn hurry(&self, is_last: bool) {
        self.is_last.store(is_last, Ordering::Relaxed);
    }
}

fn publish_all(
    store: &Store,
    files: &Receiver<(FileId, [u8; HASH_LENGTH])>,
    hurry: &AtomicBool,
    report: &SyncSender<Happening>,
) {
    while let Ok(first) = files.recv() {
        let digests = gather(first, files, hurry);
        for (id, digest) in &digests {
            if let Err(problem) = store.finish(*id, digest)
                && report.send(Happening::Failed(problem)).is_err()
            {
                return;
            }
        }
        let mut by_id: std::collections::BTreeMap<_, _> = digests.into_iter().collect();
        for (id, result) in store.publish() {
            let digest = by_id.remove(&id).unwrap_or_default();
            let happening = match result {
                Ok(()) => Happening::Published(id, digest),
                Err(problem) => Happening::Failed(problem),
            };
            if report.send(happening).is_err() {
                return;
            }
        }
    }
}

fn gather(
    first: (FileId, [u8; HASH_LENGTH]),
    files: &Receiver<(FileId, [u8; HASH_LENGTH])>,
    hurry: &AtomicBool,
) -> Vec<(FileId, [u8; HASH_LENGTH])> {
    let until = Instant::now() + GATHER;
    let mut whole = vec![first];
    while whole.len() < Store::BATCH {
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
