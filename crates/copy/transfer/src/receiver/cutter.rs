//! Cuts older versions by what is in them, on a thread of its own: that reads what it cuts.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::thread::{self, JoinHandle};

use copy_protocol::FileId;

use crate::session::Event;
use files::moved;
use files::store::Store;

/// An older version that is to be cut.
pub(super) struct Request {
    pub file: FileId,
    /// Its bytes.
    pub bytes: u64,
    /// As far as that, from where it was cut so far.
    pub until: u64,
    /// It is of no use any more, or there is no more of it.
    pub is_over: Arc<AtomicBool>,
}

/// Takes older versions and reports their chunks in order.
#[derive(Debug)]
pub(super) struct Cutter {
    /// `None` once it is closed.
    requests: Option<Sender<Request>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Cutter {
    /// Without a thread.
    pub(super) fn queue() -> (Self, Receiver<Request>) {
        let (to, requests) = channel();
        let cutter = Cutter {
            requests: Some(to),
            is_over: Arc::default(),
            thread: None,
        };
        (cutter, requests)
    }

    /// Starts the thread; it ends when this is closed or dropped.
    pub(super) fn start(store: Arc<Store>, report: SyncSender<Event>) -> Self {
        let (cutter, requests) = Cutter::queue();
        let stop = Arc::clone(&cutter.is_over);
        let thread = thread::spawn(move || cut_all(&store, &requests, &stop, &report));
        Cutter {
            thread: Some(thread),
            ..cutter
        }
    }

    /// An older version is to be cut, further than before.
    pub(super) fn take(&self, request: Request) {
        if let Some(to) = &self.requests {
            // The thread ends by itself only when its events are not received any more.
            let _ = to.send(request);
        }
    }

    /// Cuts nothing more. Returns the thread, which may still be busy with a read.
    pub(super) fn close(&mut self) -> Option<JoinHandle<()>> {
        self.is_over.store(true, Ordering::Relaxed);
        self.requests = None;
        self.thread.take()
    }
}

/// An older version that was begun; no cutter where its list would be too long.
struct Begun {
    cutter: Option<moved::Cutter>,
    is_over: Arc<AtomicBool>,
}

impl Begun {
    fn end(&self) -> u64 {
        self.cutter.as_ref().map_or(0, moved::Cutter::end)
    }
}

fn cut_all(
    store: &Store,
    requests: &Receiver<Request>,
    stop: &AtomicBool,
    report: &SyncSender<Event>,
) {
    let mut all: BTreeMap<FileId, Begun> = BTreeMap::new();
    while let Ok(request) = requests.recv() {
        let (file, is_over) = (request.file, &request.is_over);
        all.retain(|_, begun| !begun.is_over.load(Ordering::Relaxed));
        let begun = all.entry(file).or_insert_with(|| Begun {
            cutter: moved::Cutter::new(request.bytes),
            is_over: Arc::clone(is_over),
        });
        while !is_over.load(Ordering::Relaxed) && begun.end() < request.until {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let read = |place: u64, into: &mut [u8]| store.read_older(file, place, into);
            let cutter = begun.cutter.as_mut();
            let chunks = cutter.and_then(|cutter| cutter.advance(read));
            is_over.fetch_or(chunks.is_none(), Ordering::Relaxed);
            if report.send(Event::Cut(file, chunks)).is_err() {
                return;
            }
        }
    }
}
