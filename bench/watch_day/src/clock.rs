//! A clock that goes on when the agent waits.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use changes::UnixTime;
use watch_agent::Clock;

use crate::plan::{DAY, START};

/// A result that takes longer than this will not come.
const PATIENCE: Duration = Duration::from_secs(120);

/// The clock of the day.
#[derive(Debug)]
pub struct Jumping {
    milliseconds: AtomicU64,
    /// Visits that have begun, and are not yet over or delivered. It stands still while there are
    /// any.
    open: Mutex<i64>,
    closed: Condvar,
    /// Set at the end of the day.
    pub is_over: AtomicBool,
}

impl Jumping {
    pub fn new() -> Self {
        Jumping {
            milliseconds: AtomicU64::new(START * 1000),
            open: Mutex::new(0),
            closed: Condvar::new(),
            is_over: AtomicBool::new(false),
        }
    }

    pub fn opened(&self, visits: i64) {
        *self.open() += visits;
        self.closed.notify_all();
    }

    fn open(&self) -> MutexGuard<'_, i64> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
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
        let open = self.open();
        let waited = self
            .closed
            .wait_timeout_while(open, PATIENCE, |open| *open > 0);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        let step = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        let before = self.milliseconds.fetch_add(step, Ordering::Relaxed);
        if before + step >= (START + DAY) * 1000 {
            self.is_over.store(true, Ordering::Relaxed);
        }
    }
}
