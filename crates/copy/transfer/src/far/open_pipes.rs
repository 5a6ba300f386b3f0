//! Pipes that are open at a far end, over all of their conversations.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use copy_protocol::{CopyDirection, KeyName, Problem, ProblemKind};

use crate::pipe::{Heard, Side};
use files::{problem, with_hint};

/// How long the conversation before may take to end.
const OLDER_MAX: Duration = Duration::from_secs(20);
/// Most pipes that are open, and most of one name. Each holds a window.
const PIPES_MAX: usize = 64;
const PIPES_OF_ONE_MAX: usize = 8;
/// How long a thread that writes may take to end.
const WRITER_MAX: Duration = Duration::from_secs(3);
/// How soon an end of it is noticed.
const TICK: Duration = Duration::from_millis(5);

/// The near end chooses the number of a pipe, so it counts only together with its token's name.
pub(super) type Key = (KeyName, [u8; 16]);

/// Pipes that are open.
#[derive(Debug, Default)]
pub(super) struct OpenPipes {
    all: Mutex<BTreeMap<Key, Arc<OpenPipe>>>,
}

/// One of them.
#[derive(Debug)]
pub(super) struct OpenPipe {
    pub side: Side,
    pub direction: CopyDirection,
    pub window: u64,
    /// Counts conversations: only the last one goes on.
    last: AtomicU64,
    heard: Mutex<Heard>,
    is_idle: Mutex<bool>,
    changed: Condvar,
    /// When its last conversation ended.
    alone_since: Mutex<Instant>,
    was_lost: AtomicBool,
    /// What writes a file or to a program.
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl OpenPipes {
    pub fn all(&self) -> MutexGuard<'_, BTreeMap<Key, Arc<OpenPipe>>> {
        // Each change is complete, even when another thread panicked.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn find(&self, key: &Key) -> Option<Arc<OpenPipe>> {
        self.all().get(key).cloned()
    }

    /// Whether one more may be open; those whose near end is away count.
    pub fn check_room(&self, name: &KeyName) -> Result<(), Problem> {
        let all = self.all();
        let own = all.keys().filter(|(holder, _)| holder == name).count();
        if all.len() < PIPES_MAX && own < PIPES_OF_ONE_MAX {
            return Ok(());
        }
        let open = all.len();
        let what = format!(
            "{open} pipes are open, {own} of them with `{name}`; at most {PIPES_MAX} may be, and \
             {PIPES_OF_ONE_MAX} of one name"
        );
        let full = problem(ProblemKind::Busy, what);
        Err(with_hint(
            full,
            "one whose near end is gone ends within two minutes",
        ))
    }

    /// Ends one and forgets it.
    pub fn end(&self, key: &Key) {
        let pipe = self.all().remove(key);
        if let Some(pipe) = pipe {
            pipe.end();
        }
    }

    /// Ends all of them, and returns when they have ended.
    pub fn end_all(&self) {
        let all = std::mem::take(&mut *self.all());
        let ending: Vec<_> = all
            .into_values()
            .map(|pipe| thread::spawn(move || pipe.end()))
            .collect();
        for one in ending {
            // It does not panic; if it did, the others end all the same.
            let _ = one.join();
        }
    }
}

impl OpenPipe {
    pub fn new(
        side: Side,
        direction: CopyDirection,
        window: u64,
        writer: Option<JoinHandle<()>>,
    ) -> Self {
        OpenPipe {
            side,
            direction,
            window,
            last: AtomicU64::new(0),
            heard: Mutex::default(),
            is_idle: Mutex::new(true),
            changed: Condvar::new(),
            alone_since: Mutex::new(Instant::now()),
            was_lost: AtomicBool::new(false),
            writer: Mutex::new(writer),
        }
    }

    /// Whether it was never lost before.
    pub fn is_first_loss(&self) -> bool {
        !self.was_lost.swap(true, Ordering::Relaxed)
    }

    /// Whether it has had no conversation for so long.
    pub fn has_been_alone_for(&self, time: Duration) -> bool {
        let since = self.alone_since.lock();
        let since = *since.unwrap_or_else(PoisonError::into_inner);
        *self.idle() && since.elapsed() >= time
    }

    /// What its near end has said.
    pub fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the conversation of that number is the last one.
    pub fn is_last(&self, turn: u64) -> bool {
        self.last.load(Ordering::Relaxed) == turn
    }

    /// A program that runs gets a signal before its input is closed.
    pub fn end(&self) {
        self.last.fetch_add(1, Ordering::Relaxed);
        if let Some(program) = &self.side.program {
            program.end();
        }
        self.side.data.stop();
        let writer = self.writer.lock();
        let writer = writer.unwrap_or_else(PoisonError::into_inner).take();
        // A disk may hang; otherwise what was written is removed when this returns.
        let until = Instant::now() + WRITER_MAX;
        while writer.as_ref().is_some_and(|it| !it.is_finished()) && Instant::now() < until {
            thread::sleep(TICK);
        }
    }

    /// The conversation before is ended, and the next one takes its place; returns its number.
    pub fn take_over(&self) -> Result<u64, Problem> {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let until = Instant::now() + OLDER_MAX;
        let mut is_idle = self.idle();
        while !*is_idle {
            if Instant::now() >= until {
                let what = "the conversation before this one has not ended yet";
                return Err(problem(ProblemKind::Busy, what));
            }
            let waited = self.changed.wait_timeout(is_idle, TICK);
            is_idle = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *is_idle = false;
        Ok(number)
    }

    /// A conversation has ended.
    pub fn let_go(&self) {
        let since = self.alone_since.lock();
        *since.unwrap_or_else(PoisonError::into_inner) = Instant::now();
        *self.idle() = true;
        self.changed.notify_all();
    }

    fn idle(&self) -> MutexGuard<'_, bool> {
        self.is_idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
