//! What the connections of one session share.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use copy_protocol::CopyDirection;
use copy_protocol::remote::{Ask, Failure};
use sockets::Clock;
use units::{Bytes, Span};

use super::flow::Flow;
use crate::budget::BudgetUser;
use files::Root;
use files::shown;

/// A session in which nothing is asked for so long ends; the other end connects anew when it has
/// something to ask.
const IDLE_MAX: Span = Span::from_secs(600);
/// Trees of one session that are walked at the same time: each holds a folder open for each level.
const WALKS_MAX: usize = 4;

/// What a session needs of the far end.
pub(crate) struct RemoteContext<'a> {
    /// What the token opens, with its rights.
    pub root: Root,
    /// Whether the token still opens it.
    pub is_taken_back: &'a (dyn Fn() -> bool + Sync),
    /// Is told what was changed.
    pub on_change: &'a (dyn Fn(String) + Sync),
    /// Streams of all sessions of the far end.
    pub all_streams: &'a AtomicUsize,
    /// Takes a part of what the server allows in one direction.
    pub share: &'a (dyn Fn(CopyDirection) -> BudgetUser + Sync),
}

/// What was done in a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RemoteTotals {
    /// Requests.
    pub requests: u64,
    /// Bytes of files that were sent.
    pub read: Bytes,
    /// Bytes of files that came to be stored.
    pub stored: Bytes,
}

/// What the threads of a session share.
pub(super) struct Session<'a> {
    pub root: &'a Root,
    pub context: &'a RemoteContext<'a>,
    pub clock: Clock,
    /// When something was asked or answered last, on the clock.
    pub active_nanoseconds: AtomicU64,
    pub requests: AtomicU64,
    /// Bytes of files that are read, and of those that are stored.
    pub sent: Flow,
    pub received: Flow,
    pub walks: Walks,
    pub is_over: AtomicBool,
}

impl Session<'_> {
    /// Something goes on.
    pub fn touch(&self) {
        let now = self.clock.now().as_nanos();
        self.active_nanoseconds.store(now, Ordering::Relaxed);
    }

    /// So many bytes of files were sent; waits while that is more than the server allows.
    pub fn on_sent(&self, bytes: usize) {
        self.on_moved(&self.sent, bytes);
    }

    /// The same of bytes that came.
    pub fn on_received(&self, bytes: usize) {
        self.on_moved(&self.received, bytes);
    }

    fn on_moved(&self, flow: &Flow, bytes: usize) {
        flow.on_moved(bytes, &|| self.is_over.load(Ordering::Relaxed));
        self.touch();
    }

    /// Whether nothing went on for as long as a session may be idle.
    pub fn is_idle(&self) -> bool {
        let last = self.active_nanoseconds.load(Ordering::Relaxed);
        let idle = self.clock.now().as_nanos().saturating_sub(last);
        idle >= IDLE_MAX.as_nanos()
    }

    pub fn is_taken_back(&self) -> bool {
        (self.context.is_taken_back)()
    }

    /// Notes what was changed, or could not be.
    pub fn tell_of(&self, ask: &Ask, done: &Result<(), Failure>) {
        let name = |name: &copy_protocol::Name| shown(name.as_bytes());
        let what = match ask {
            Ask::MakeFolder { path, .. } => format!("made folder {}", name(path)),
            Ask::Remove { path, .. } => format!("removed {}", name(path)),
            Ask::Rename { from, to, .. } => format!("renamed {} to {}", name(from), name(to)),
            Ask::Store(file) => {
                let size = Bytes::new(file.length.into());
                format!("stored {}  {}", name(&file.path), size.human())
            }
            Ask::Info { .. } | Ask::List { .. } | Ask::Read { .. } => return,
        };
        (self.context.on_change)(match done {
            Ok(()) => what,
            Err(failure) => format!("not done: {}", failure.what),
        });
    }
}

/// Bounds how many trees are walked at once.
#[derive(Debug, Default)]
pub(super) struct Walks {
    running: Mutex<usize>,
    changed: Condvar,
}

pub(super) struct Walk<'a>(&'a Walks);

impl Walks {
    /// Waits until one more may be walked.
    pub fn take(&self) -> Walk<'_> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .changed
            .wait_while(running, |running| *running >= WALKS_MAX);
        *waited.unwrap_or_else(PoisonError::into_inner) += 1;
        Walk(self)
    }
}

impl Drop for Walk<'_> {
    fn drop(&mut self) {
        let running = self.0.running.lock();
        *running.unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.changed.notify_one();
    }
}
