//! The end of several waits in a row.

use std::fmt;
use std::io;
use std::time::{Duration, Instant};

use nix::poll::PollFd;

use crate::poll;

/// The longest time between two questions whether a wait is given up.
const TICK: Duration = Duration::from_millis(100);

/// The end of several waits in a row: a time, or when they are given up, which is asked ten times
/// a second.
#[derive(Clone, Copy)]
pub struct Deadline<'a> {
    end: Instant,
    is_given_up: &'a dyn Fn() -> bool,
}

impl fmt::Debug for Deadline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Deadline({:?})", self.end)
    }
}

impl<'a> Deadline<'a> {
    /// So much from now on, unless it is given up.
    pub fn after(limit: Duration, is_given_up: &'a dyn Fn() -> bool) -> Self {
        Deadline {
            end: Instant::now() + limit,
            is_given_up,
        }
    }

    /// The same, and over at `end` at the latest.
    #[must_use]
    pub fn at_most(self, end: Instant) -> Self {
        Deadline {
            end: self.end.min(end),
            ..self
        }
    }

    /// What is left of it.
    pub fn left(&self) -> Duration {
        match (self.is_given_up)() {
            true => Duration::ZERO,
            false => self.end.saturating_duration_since(Instant::now()),
        }
    }

    /// Whether nothing is left.
    pub fn is_over(&self) -> bool {
        self.left().is_zero()
    }

    /// Waits until one of `descriptors` is ready; returns how many are, zero once it is over.
    ///
    /// # Errors
    /// When the kernel refuses the wait.
    pub fn wait(&self, descriptors: &mut [PollFd<'_>]) -> io::Result<usize> {
        loop {
            let left = self.left();
            let ready = poll::wait(descriptors, left.min(TICK))?;
            if ready > 0 || left.is_zero() {
                return Ok(ready);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_wait_ends_when_it_is_given_up() {
        let (quiet, _other) = UnixStream::pair().unwrap();
        let asked = Cell::new(0);
        let is_given_up = || asked.replace(asked.get() + 1) > 1;
        let deadline = Deadline::after(Duration::from_secs(3600), &is_given_up);
        let ready = deadline.wait(&mut [poll::readable(quiet.as_fd())]);
        assert_eq!(ready.unwrap(), 0);
        assert!(deadline.is_over());
    }

    #[test]
    fn what_is_ready_is_told_although_the_time_is_over() {
        use std::io::Write;
        let (here, mut there) = UnixStream::pair().unwrap();
        there.write_all(b"x").unwrap();
        let deadline = Deadline::after(Duration::ZERO, &|| false);
        let ready = deadline.wait(&mut [poll::readable(here.as_fd())]);
        assert_eq!(ready.unwrap(), 1);
    }
}
