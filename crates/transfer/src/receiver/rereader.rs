//! Reads back what an earlier try left, on a thread of its own, while what is missing arrives.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use wire::copying::FileId;

use super::shelf::Growing;
use crate::session::Happening;
use crate::store::{Piece, Store};

/// Wrong parts in one message; each takes up to 20 bytes.
const PARTS: usize = 4096;

/// A file and what is noted of it.
type Left = (FileId, Arc<Growing>, Vec<Piece>);

/// Takes files of which an earlier try left something.
#[derive(Debug)]
pub(crate) struct Rereader {
    /// `None` once it is closed.
    left: Mutex<Option<Sender<Left>>>,
    is_over: Arc<AtomicBool>,
    /// Files that wait or are being read.
    waiting: Arc<AtomicUsize>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Rereader {
    /// Starts the thread; it ends when this is closed or dropped.
    pub(crate) fn start(store: Arc<Store>, report: SyncSender<Happening>) -> Self {
        let (left, files) = channel();
        let is_over = Arc::new(AtomicBool::new(false));
        let waiting = Arc::new(AtomicUsize::new(0));
        let (stop, read) = (Arc::clone(&is_over), Arc::clone(&waiting));
        let thread = thread::spawn(move || reread_all(&store, &files, &stop, &read, &report));
        Rereader {
            left: Mutex::new(Some(left)),
            is_over,
            waiting,
            thread: Mutex::new(Some(thread)),
        }
    }

    /// What is noted of a file is to be read.
    pub(crate) fn take(&self, file: FileId, growing: Arc<Growing>, noted: Vec<Piece>) {
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(left) = &*left {
            // The thread ends by itself only when nobody listens to it any more.
            self.waiting.fetch_add(1, Ordering::Relaxed);
            let _ = left.send((file, growing, noted));
        }
    }

    /// Whether something is still to be read.
    pub(crate) fn is_busy(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Reads nothing more. Returns the thread, which may still be busy with a piece.
    pub(crate) fn close(&self) -> Option<JoinHandle<()>> {
        self.is_over.store(true, Ordering::Relaxed);
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        *left = None;
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        thread.take()
    }
}

fn reread_all(
    store: &Store,
    files: &Receiver<Left>,
    is_over: &AtomicBool,
    waiting: &AtomicUsize,
    report: &SyncSender<Happening>,
) {
    let mut buffer = Vec::new();
    while let Ok((file, growing, noted)) = files.recv() {
        let mut wrong: Vec<(u64, u64)> = Vec::new();
        for piece in &noted {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            if store.reads_back(file, piece, &mut buffer) && growing.restore(piece) {
                continue;
            }
            if wrong.len() >= PARTS {
                let told = Happening::ReadBack(file, std::mem::take(&mut wrong), false);
                if report.send(told).is_err() {
                    return;
                }
            }
            append(&mut wrong, piece);
        }
        if report.send(Happening::ReadBack(file, wrong, true)).is_err() {
            return;
        }
        waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Pieces come in order; neighbours become one part.
fn append(parts: &mut Vec<(u64, u64)>, piece: &Piece) {
    match parts.last_mut() {
        Some((start, length)) if *start + *length == piece.offset => {
            *length += u64::from(piece.length);
        }
        _ => parts.push((piece.offset, piece.length.into())),
    }
}
