//! Waits for descriptors, each wait bounded.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll, ppoll};
use nix::sys::time::TimeSpec;

/// Waits until one of `descriptors` is ready; returns how many are, zero when `limit` has passed.
///
/// # Errors
/// When the kernel refuses the wait; a signal only ends it early.
pub fn wait(descriptors: &mut [PollFd<'_>], limit: Duration) -> io::Result<usize> {
    // Rounded up, so that a wait of less than a millisecond is not a busy loop.
    let millis = limit.as_nanos().div_ceil(1_000_000);
    let timeout = PollTimeout::try_from(millis).unwrap_or(PollTimeout::MAX);
    match poll(descriptors, timeout) {
        Ok(ready) => Ok(usize::try_from(ready).unwrap_or(0)),
        Err(Errno::EINTR) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

/// The same with a limit that is kept to the microsecond, for those who send by the clock.
///
/// # Errors
/// As [`wait`].
pub fn wait_exactly(descriptors: &mut [PollFd<'_>], limit: Duration) -> io::Result<usize> {
    match ppoll(descriptors, Some(TimeSpec::from_duration(limit)), None) {
        Ok(ready) => Ok(usize::try_from(ready).unwrap_or(0)),
        Err(Errno::EINTR) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

/// A descriptor to be watched for something to read.
pub fn readable(descriptor: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::new(descriptor, PollFlags::POLLIN)
}

/// Whether the other end of a pipe or connection is open, so that what is written may be read.
pub fn is_open(descriptor: BorrowedFd<'_>) -> bool {
    // An end that is closed is told without being asked for.
    let mut watched = [PollFd::new(descriptor, PollFlags::empty())];
    matches!(wait(&mut watched, Duration::ZERO), Ok(0))
}

/// Whether the last wait found something on it: data, an end or an error.
pub fn is_ready(descriptor: &PollFd<'_>) -> bool {
    descriptor.any().unwrap_or(false)
}
