//! What the sender reads: a file, a pipe, what a program prints.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use copy_protocol::{Problem, ProblemKind};
use nix::sys::stat::{FileStat, SFlag, fstat};
use sockets::poll;
use units::Rate;

use super::outgoing::Outgoing;
use crate::throttle::Throttle;
use files::{failed, problem, with_hint};

/// Bytes of a block where as much comes at once.
const BLOCK: usize = 256 << 10;
/// How soon it is noticed that nothing more is wanted.
const LOOK: Duration = Duration::from_millis(100);
/// How long a block that is not full waits for more while the streams have enough to do.
const GATHER: Duration = Duration::from_millis(2);
/// How often it waits so long.
const GATHERS: usize = 5;

/// What is read.
#[derive(Debug)]
pub struct Input {
    file: File,
    /// For people.
    name: String,
    /// An end without this is none: what wrote to it was given up.
    is_finished: Option<Arc<AtomicBool>>,
    /// A file that must stay the same.
    before: Option<FileStat>,
}

impl Input {
    /// Reads this to its end; `name` is for people. A file of a disk must not change meanwhile.
    pub fn new(file: File, name: &str) -> Self {
        let stat = fstat(&file).ok();
        let is_file = |stat: &FileStat| {
            SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT == SFlag::S_IFREG
        };
        Input {
            file,
            name: name.to_owned(),
            is_finished: None,
            before: stat.filter(is_file),
        }
    }

    /// The end counts only once `is_finished` is set.
    #[must_use]
    pub fn until(mut self, is_finished: Arc<AtomicBool>) -> Self {
        self.is_finished = Some(is_finished);
        self
    }

    fn wrong(&self, error: &io::Error) -> Problem {
        Problem {
            hint: None,
            ..failed("read", &self.name, error)
        }
    }

    /// Whether there is something to read, or its end, within that time.
    fn is_ready(&self, time: Duration) -> bool {
        let mut watched = [poll::readable(self.file.as_fd())];
        // An error is for the read to tell.
        poll::wait(&mut watched, time).map_or(true, |ready| ready > 0)
    }

    /// Whether its end is one.
    fn check_end(&self) -> Result<(), Problem> {
        let is_given_up = self.is_finished.as_ref();
        if is_given_up.is_some_and(|it| !it.load(Ordering::Acquire)) {
            let what = format!("{} ended before it was finished", self.name);
            return Err(problem(ProblemKind::Cancelled, what));
        }
        let of = |stat: &FileStat| (stat.st_size, stat.st_mtime, stat.st_mtime_nsec);
        let now = fstat(&self.file).ok();
        let has_changed = |before: &FileStat| now.as_ref().map(of) != Some(of(before));
        match self.before.as_ref().is_some_and(has_changed) {
            true => {
                let what = format!("`{}` was written to while it was read", self.name);
                let changed = problem(ProblemKind::SourceChanged, what);
                Err(with_hint(
                    changed,
                    "read it again once nothing writes to it",
                ))
            }
            false => Ok(()),
        }
    }
}

/// Reads to the end, or until the pipe is over.
pub(crate) fn read_all(mut input: Input, to: &Outgoing, rate_max: Option<Rate>) {
    let throttle = Throttle::new(1.0);
    throttle.set(rate_max);
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; BLOCK];
    while to.wait_for_room(BLOCK as u64) {
        match fill(&mut input, &mut buffer, to) {
            Ok(Some(0)) => match input.check_end() {
                Ok(()) => return to.finish(hasher.finalize().into()),
                Err(problem) => return to.fail(problem),
            },
            Ok(Some(filled)) => {
                let bytes = buffer.get(..filled).unwrap_or_default();
                hasher.update(bytes);
                if let Some(turn) = throttle.turn(filled) {
                    throttle.wait(turn, &|| to.is_over());
                }
                to.push(bytes.to_vec());
            }
            Ok(None) => return,
            Err(error) => return to.fail(input.wrong(&error)),
        }
    }
}

/// Reads a block, or what of it is there; zero bytes at the end, none once the pipe is over.
fn fill(input: &mut Input, buffer: &mut [u8], to: &Outgoing) -> io::Result<Option<usize>> {
    let mut filled = 0;
    while let Some(room) = buffer.get_mut(filled..)
        && !room.is_empty()
    {
        if filled == 0 {
            while !input.is_ready(LOOK) {
                if to.is_over() {
                    return Ok(None);
                }
            }
        } else if !has_more(input, to) {
            break;
        }
        match input.file.read(room) {
            Ok(0) => break,
            Ok(got) => filled += got,
            Err(error) if is_passing(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Some(filled))
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock)
}

/// Whether more comes at once, or soon while nothing waits for it.
fn has_more(input: &Input, to: &Outgoing) -> bool {
    (0..=GATHERS).any(|tried| match tried {
        0 => input.is_ready(Duration::ZERO),
        _ => to.has_waiting() && input.is_ready(GATHER),
    })
}
