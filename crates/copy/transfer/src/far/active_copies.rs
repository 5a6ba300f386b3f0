//! The sessions that are active at a far end.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use copy_net::control_socket::{Controllable, Status};
use copy_protocol::{KeyName, Problem, ProblemKind};
use units::{Rate, Span};

use crate::CopyControl;
use crate::session::SessionEnd;

/// How long the older conversation of a copy that came back may take to end.
const OLDER_MAX: Duration = Duration::from_secs(20);

/// The near end chooses the number of a copy, so it counts only together with the name of the
/// token: no token ends the copy of another one.
type Copy = (KeyName, [u8; 16]);

/// Conversations that go on.
#[derive(Debug, Default)]
pub(super) struct ActiveCopies(Mutex<BTreeMap<Copy, Running>>);

#[derive(Debug)]
struct Running {
    /// Ends it.
    is_over: Arc<AtomicBool>,
    /// Tells how far it is.
    control: CopyControl,
}

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

    /// How long each still takes at its present rate, under whose token; none where that is not
    /// known.
    pub(super) fn time_left(&self) -> Vec<(KeyName, Option<Span>)> {
        let all = self.all();
        let left = |((holder, _), running): (&Copy, &Running)| {
            (holder.clone(), left_of(&running.control.status()))
        };
        all.iter().map(left).collect()
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Copy, Running>> {
        // Each change is complete, even when another thread panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A copy that comes again has lost its older conversation: that is ended first, so that its
    /// files are free.
    pub(super) fn take_over(
        &self,
        copy: Copy,
        control: CopyControl,
    ) -> Result<ActiveCopy<'_>, SessionEnd> {
        let until = Instant::now() + OLDER_MAX;
        loop {
            let mut all = self.all();
            let Some(older) = all.get(&copy) else {
                let is_over = Arc::new(AtomicBool::new(false));
                let running = Running {
                    is_over: Arc::clone(&is_over),
                    control,
                };
                all.insert(copy.clone(), running);
                let active_copies = self;
                return Ok(ActiveCopy {
                    active_copies,
                    copy,
                    is_over,
                });
            };
            older.is_over.store(true, Ordering::Relaxed);
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

fn left_of(status: &Status) -> Option<Span> {
    let total = status.total?;
    let left = total - status.done.min(total);
    (status.rate > Rate::ZERO).then(|| status.rate.time_to_send(left))
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::*;

    #[test]
    fn a_copy_is_over_with_its_holder_and_belongs_to_its_token() {
        let active_copies = ActiveCopies::default();
        let name = |text: &str| KeyName::try_from(text.to_owned()).unwrap();
        let (mine, theirs) = ((name("a"), [7; 16]), (name("b"), [7; 16]));
        let Ok(active) = active_copies.take_over(mine.clone(), CopyControl::default()) else {
            panic!("no copy has it")
        };
        assert!(
            active_copies
                .take_over(theirs, CopyControl::default())
                .is_ok(),
            "another one's number"
        );
        assert!(!active.is_over.load(Ordering::Relaxed));
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _held = active;
            panic!("as a conversation might");
        }));
        assert!(caught.is_err());
        assert_eq!(active_copies.len(), 0);
        assert!(
            active_copies
                .take_over(mine, CopyControl::default())
                .is_ok()
        );
    }

    #[test]
    fn the_time_left_follows_from_what_a_copy_tells() {
        let active_copies = ActiveCopies::default();
        let (name, control) = (KeyName::new("a").unwrap(), CopyControl::default());
        let held = active_copies.take_over((name.clone(), [7; 16]), control.clone());
        assert_eq!(active_copies.time_left(), [(name.clone(), None)]);
        control.set_status(Status {
            rate: Rate::from_bits_per_second(8_000_000),
            done: Bytes::new(1_000_000),
            total: Some(Bytes::new(4_000_000)),
        });
        let left = Some(Span::from_secs(3));
        assert_eq!(active_copies.time_left(), [(name, left)]);
        drop(held);
        assert!(active_copies.time_left().is_empty());
    }
}
