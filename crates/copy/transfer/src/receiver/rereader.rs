//! Reads back what an earlier try left, on a thread of its own, while what is missing arrives.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use copy_protocol::FileId;

use super::incoming_files::IncomingFile;
use crate::session::Event;
use files::store::{Piece, Store};

/// Wrong parts in one message; each takes up to 20 bytes.
const PARTS: usize = 4096;

/// A file of which an earlier try left something, as it is read back piece by piece.
#[derive(Debug)]
pub(crate) struct Left {
    file: FileId,
    growing: Arc<IncomingFile>,
    /// What is noted of it and not read yet.
    noted: std::vec::IntoIter<Piece>,
    wrong: Vec<(u64, u64)>,
}

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
    /// Without a thread: the owner of the queue's other end [reads](Left::step).
    pub(crate) fn queue() -> (Self, Receiver<Left>) {
        let (left, files) = channel();
        let rereader = Rereader {
            left: Mutex::new(Some(left)),
            is_over: Arc::default(),
            waiting: Arc::default(),
            thread: Mutex::new(None),
        };
        (rereader, files)
    }

    /// Starts the thread; it ends when this is closed or dropped.
    pub(crate) fn start(store: Arc<Store>, report: SyncSender<Event>) -> Self {
        let (rereader, files) = Rereader::queue();
        let stop = Arc::clone(&rereader.is_over);
        let read = Arc::clone(&rereader.waiting);
        let thread = thread::spawn(move || reread_all(&store, &files, &stop, &read, &report));
        Rereader {
            thread: Mutex::new(Some(thread)),
            ..rereader
        }
    }

    /// What is noted of a file is to be read.
    pub(crate) fn take(&self, file: FileId, growing: Arc<IncomingFile>, noted: Vec<Piece>) {
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(left) = &*left {
            // The thread ends by itself only when its events are not received any more.
            self.waiting.fetch_add(1, Ordering::Relaxed);
            let _ = left.send(Left {
                file,
                growing,
                noted: noted.into_iter(),
                wrong: Vec::new(),
            });
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
    report: &SyncSender<Event>,
) {
    let mut buffer = Vec::new();
    while let Ok(mut left) = files.recv() {
        loop {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            let Some(told) = left.step(store, &mut buffer) else {
                continue;
            };
            let is_all = matches!(told, Event::ReadBack(.., true));
            if report.send(told).is_err() {
                return;
            }
            if is_all {
                break;
            }
        }
        waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Left {
    /// Reads the next piece. Returns what is to be told by now; the last of that says that all was
    /// read.
    pub(crate) fn step(&mut self, store: &Store, buffer: &mut Vec<u8>) -> Option<Event> {
        let Some(piece) = self.noted.next() else {
            let wrong = std::mem::take(&mut self.wrong);
            return Some(Event::ReadBack(self.file, wrong, true));
        };
        if store.reads_back(self.file, &piece, buffer) && self.growing.restore(&piece) {
            return None;
        }
        let is_full = self.wrong.len() >= PARTS;
        let told = is_full.then(|| std::mem::take(&mut self.wrong));
        append(&mut self.wrong, &piece);
        told.map(|wrong| Event::ReadBack(self.file, wrong, false))
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
