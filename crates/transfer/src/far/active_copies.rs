//! The sessions that are active at a far end.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use wire::copy::{KeyName, Problem, ProblemKind};

use crate::session::SessionEnd;

/// How long the older conversation of a copy that came back may take to end.
const OLDER_MAX: Duration = Duration::from_secs(20);

/// The near end chooses the number of a copy, so it counts only together with the name of the
/// token: no token ends the copy of another one.
type Copy = (KeyName, [u8; 16]);

/// Conversations that go on, and what ends each.
#[derive(Debug, Default)]
pub(super) struct ActiveCopies(Mutex<BTreeMap<Copy, Arc<AtomicBool>>>);

/// One of them; it is over when this is dropped, even by a panic.
#[derive(Debug)]
pub(super) struct ActiveCopy<'a> {
    active_copies: &'a ActiveCopies,
    copy: Copy,
    /// Another conversation takes its place.
    pub is_over: Arc<AtomicBool>,
}

impl Drop for ActiveCopy<'_> {
    fn drop(&mut self) {
        self.active_copies.all().remove(&self.copy);
    }
}

impl ActiveCopies {
    /// How many.
    pub(super) fn len(&self) -> usize {
        self.all().len()
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Copy, Arc<AtomicBool>>> {
        // Each change is complete, even when another thread panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A copy that comes again has lost its older conversation: that is ended first, so that its
    /// files are free.
    pub(super) fn take_over(&self, copy: Copy) -> Result<ActiveCopy<'_>, SessionEnd> {
        let until = Instant::now() + OLDER_MAX;
        loop {
            let mut all = self.all();
            let Some(older) = all.get(&copy) else {
                let is_over = Arc::new(AtomicBool::new(false));
                all.insert(copy.clone(), Arc::clone(&is_over));
                let active_copies = self;
                return Ok(ActiveCopy {
                    active_copies,
                    copy,
                    is_over,
                });
            };
            older.store(true, Ordering::Relaxed);
            drop(all);
            if Instant::now() >= until {
                return Err(SessionEnd::Problem(Problem {
                    kind: ProblemKind::Busy,
                    file: None,
                    what: "the conversation before this one has not ended yet".to_owned(),
                    hint: Some("try again in a minute".to_owned()),
                }));
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_over_with_its_holder_and_belongs_to_its_token() {
        let active_copies = ActiveCopies::default();
        let name = |text: &str| KeyName::try_from(text.to_owned()).unwrap();
        let (mine, theirs) = ((name("a"), [7; 16]), (name("b"), [7; 16]));
        let Ok(active) = active_copies.take_over(mine.clone()) else {
            panic!("no copy has it")
        };
        assert!(
            active_copies.take_over(theirs).is_ok(),
            "another one's number"
        );
        assert!(!active.is_over.load(Ordering::Relaxed));
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _held = active;
            panic!("as a conversation might");
        }));
        assert!(caught.is_err());
        assert_eq!(active_copies.len(), 0);
        assert!(active_copies.take_over(mine).is_ok());
    }
}
