//! Locks, channels and waits of what `make threads` checks: the standard library's, or those of a
//! model checker, which runs the same code in other orders. Its time passes with each look at it.

#[cfg(not(feature = "shuttle"))]
mod real {
    pub(crate) use std::sync::{Mutex, MutexGuard, atomic, mpsc};
    pub(crate) use std::thread;

    use std::sync::mpsc::{Receiver, RecvTimeoutError};
    use std::time::{Duration, Instant};

    /// The end of a wait.
    #[derive(Debug)]
    pub(crate) struct Deadline(Instant);

    impl Deadline {
        pub(crate) fn after(time: Duration) -> Self {
            Deadline(Instant::now() + time)
        }

        pub(crate) fn is_over(&self) -> bool {
            Instant::now() >= self.0
        }
    }

    /// What comes within `time`.
    pub(crate) fn recv_timeout<T>(
        from: &Receiver<T>,
        time: Duration,
    ) -> Result<T, RecvTimeoutError> {
        from.recv_timeout(time)
    }
}

#[cfg(feature = "shuttle")]
mod modelled {
    pub(crate) use shuttle::sync::{Mutex, MutexGuard, atomic, mpsc};
    pub(crate) use shuttle::thread;

    use std::cell::Cell;
    use std::time::Duration;

    use mpsc::{Receiver, RecvTimeoutError, TryRecvError};

    /// Over at the third look.
    #[derive(Debug)]
    pub(crate) struct Deadline(Cell<u32>);

    impl Deadline {
        pub(crate) fn after(_time: Duration) -> Self {
            Deadline(Cell::new(3))
        }

        pub(crate) fn is_over(&self) -> bool {
            self.0.set(self.0.get().saturating_sub(1));
            self.0.get() == 0
        }
    }

    /// What is there now, else a timeout.
    pub(crate) fn recv_timeout<T>(
        from: &Receiver<T>,
        _time: Duration,
    ) -> Result<T, RecvTimeoutError> {
        from.try_recv().map_err(|error| match error {
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
            TryRecvError::Empty => {
                thread::yield_now();
                RecvTimeoutError::Timeout
            }
        })
    }
}

#[cfg(feature = "shuttle")]
pub(crate) use modelled::*;
#[cfg(not(feature = "shuttle"))]
pub(crate) use real::*;
