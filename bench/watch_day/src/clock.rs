//! A clock that goes on when the agent waits.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use changes::UnixTime;
use watch_agent::Clock;

use crate::plan::{DAY, START};

/// A result that takes longer than this will not come.
const PATIENCE: Duration = Duration::from_secs(120);
const TICK: Duration = Duration::from_millis(1);

/// The clock of the day. It stands still until each visit that is due is over and delivered.
#[derive(Debug)]
pub struct Jumping {
    milliseconds: AtomicU64,
    /// When visits are due, in the order of time.
    due: Vec<i64>,
    counts: Mutex<Counts>,
    changed: Condvar,
    /// Without a collector: the folder of notes, of which each goes when its result is on the disk.
    notes: Option<PathBuf>,
    /// Set at the end of the day.
    pub is_over: AtomicBool,
}

#[derive(Debug, Default)]
struct Counts {
    begun: u64,
    delivered: u64,
}

impl Jumping {
    pub fn new(due: Vec<i64>, notes: Option<PathBuf>) -> Self {
        Jumping {
            milliseconds: AtomicU64::new(START * 1000),
            due,
            counts: Mutex::default(),
            changed: Condvar::new(),
            notes,
            is_over: AtomicBool::new(false),
        }
    }

    pub fn count(&self, begun: u64, delivered: u64) {
        let mut counts = self.counts();
        counts.begun += begun;
        counts.delivered += delivered;
        self.changed.notify_all();
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no visit is open.
    fn settle(&self) {
        let now = self.now().seconds().cast_signed();
        let due = self.due.partition_point(|at| *at <= now) as u64;
        let is_open = |counts: &mut Counts| {
            let is_kept = self.notes.is_some();
            counts.begun < due || (!is_kept && counts.delivered < counts.begun)
        };
        let counts = self.counts();
        let waited = self.changed.wait_timeout_while(counts, PATIENCE, is_open);
        let (counts, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let Some(notes) = &self.notes else { return };
        let (begun, is_open) = (counts.begun, counts.delivered < counts.begun);
        // A visit that ends wants to count.
        drop(counts);
        let is_empty = || fs::read_dir(notes).is_ok_and(|mut notes| notes.next().is_none());
        while is_open && !is_empty() {
            thread::sleep(TICK);
        }
        self.counts().delivered = begun;
    }
}

impl Clock for Jumping {
    fn now(&self) -> UnixTime {
        UnixTime::from_seconds(self.milliseconds.load(Ordering::Relaxed) / 1000)
    }

    fn wait(&self, span: Duration) {
        if self.is_over.load(Ordering::Relaxed) {
            return thread::sleep(span);
        }
        self.settle();
        let step = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        let next = self.milliseconds.load(Ordering::Relaxed) + step;
        match next < (START + DAY) * 1000 {
            true => self.milliseconds.store(next, Ordering::Relaxed),
            false => self.is_over.store(true, Ordering::Relaxed),
        }
    }
}
