//! Where the carrier of one way leaves what routers send the other way.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::EmuError;
use crate::router::Answer;

/// Packets for a carrier that is perhaps asleep.
#[derive(Debug)]
pub(crate) struct RouterQueue {
    answers: Mutex<Vec<Answer>>,
    /// Spares the lock where there is nothing, which is nearly always.
    filled: AtomicBool,
    /// Readable while there is something.
    bell: EventFd,
}

impl RouterQueue {
    pub(crate) fn new() -> Result<Self, EmuError> {
        Ok(RouterQueue {
            answers: Mutex::default(),
            filled: AtomicBool::new(false),
            bell: event_counter()?,
        })
    }

    pub(crate) fn put(&self, answers: impl Iterator<Item = Answer>) {
        let mut inside = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        inside.extend(answers);
        self.filled.store(true, Ordering::Release);
        // It could only fail on 2^64 waiting packets.
        let _ = self.bell.write(1);
    }

    pub(crate) fn take(&self) -> Vec<Answer> {
        if !self.filled.swap(false, Ordering::Acquire) {
            return Vec::new();
        }
        let mut inside = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = self.bell.read();
        std::mem::take(&mut inside)
    }

    /// What to wait for.
    pub(crate) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

/// A descriptor that can be waited for.
pub(crate) fn event_counter() -> Result<EventFd, EmuError> {
    EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK).map_err(|error| {
        EmuError::Resource {
            what: "an event counter",
            source: io::Error::from(error),
        }
    })
}
