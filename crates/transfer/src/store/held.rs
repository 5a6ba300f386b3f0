//! The parts that are open: not more than the system lets a process have.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use wire::copying::{FileId, Problem};

use super::part::{Closed, Part};
use super::temporary::At;
use crate::HashTree;

/// Files that are on their way at once and stay open; each has a journal beside it.
const OPEN_MAX: usize = 1024;
/// Descriptors that this needs, with room for streams, folders and files that wait to be published.
const DESCRIPTORS: u64 = 32_768;
/// Most files that wait to be published.
const WAIT_MAX: usize = 4096;

/// Open parts by their file.
#[derive(Debug)]
pub(super) struct Held {
    parts: Mutex<Parts>,
    open_max: usize,
    batch: usize,
}

#[derive(Debug, Default)]
struct Parts {
    open: BTreeMap<FileId, Open>,
    /// Closed to make room for others.
    closed: BTreeMap<FileId, Closed>,
    uses: u64,
}

#[derive(Debug)]
struct Open {
    part: Arc<Part>,
    /// When it was used last, counted in uses.
    used: u64,
    /// Waits for its name and must not lose its lock.
    is_kept: bool,
}

impl Default for Held {
    fn default() -> Self {
        Held::new(limit(DESCRIPTORS))
    }
}

impl Held {
    fn new(descriptors: u64) -> Self {
        // A part and its journal are two; half is left to everybody else.
        let fitting = usize::try_from(descriptors / 4).unwrap_or(OPEN_MAX);
        let waiting = usize::try_from(descriptors / 8).unwrap_or(WAIT_MAX);
        Held {
            parts: Mutex::default(),
            open_max: fitting.clamp(8, OPEN_MAX),
            batch: waiting.clamp(4, WAIT_MAX),
        }
    }

    /// The part of this file, begun where there is none.
    pub fn open(
        &self,
        file: FileId,
        at: impl Fn() -> Result<At, Problem>,
    ) -> Result<Arc<Part>, Problem> {
        if let Some(part) = self.find(file, &at)? {
            return Ok(part);
        }
        let mut parts = self.parts();
        // Another thread may have begun it meanwhile.
        if let Some(part) = parts.used(file) {
            return Ok(part);
        }
        let part = Part::create(at()?)?;
        Ok(parts.hold(file, part, self.open_max))
    }

    /// The part of this file, where one was begun.
    pub fn find(
        &self,
        file: FileId,
        at: impl Fn() -> Result<At, Problem>,
    ) -> Result<Option<Arc<Part>>, Problem> {
        let mut parts = self.parts();
        if let Some(part) = parts.used(file) {
            return Ok(Some(part));
        }
        let Some(closed) = parts.closed.get(&file).copied() else {
            return Ok(None);
        };
        let part = Part::reopen(at()?, closed)?;
        parts.closed.remove(&file);
        Ok(Some(parts.hold(file, part, self.open_max)))
    }

    /// Takes up what an earlier try left, and says what is there.
    pub fn resume(&self, file: FileId, at: At) -> Result<Option<HashTree>, Problem> {
        let Some((part, tree)) = Part::resume(at)? else {
            return Ok(None);
        };
        self.parts().hold(file, part, self.open_max);
        Ok(Some(tree))
    }

    /// How many may be left open.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// Leaves it open until it is taken.
    pub fn keep(&self, file: FileId) {
        if let Some(open) = self.parts().open.get_mut(&file) {
            open.is_kept = true;
        }
    }

    /// Takes it out; its lock goes with the last who has it.
    pub fn take(&self, file: FileId) -> Option<Arc<Part>> {
        let mut parts = self.parts();
        parts.closed.remove(&file);
        parts.open.remove(&file).map(|open| open.part)
    }

    fn parts(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Parts {
    fn used(&mut self, file: FileId) -> Option<Arc<Part>> {
        self.uses += 1;
        let open = self.open.get_mut(&file)?;
        open.used = self.uses;
        Some(Arc::clone(&open.part))
    }

    fn hold(&mut self, file: FileId, part: Part, open_max: usize) -> Arc<Part> {
        if self.open.len() >= open_max {
            self.close_idle();
        }
        self.uses += 1;
        let part = Arc::new(part);
        let open = Open {
            part: Arc::clone(&part),
            used: self.uses,
            is_kept: false,
        };
        self.open.insert(file, open);
        part
    }

    /// Closes the part that was used longest ago, of those that nobody uses now.
    fn close_idle(&mut self) {
        let is_idle = |open: &Open| !open.is_kept && Arc::strong_count(&open.part) == 1;
        let idle = self.open.iter().filter(|(_, open)| is_idle(open));
        let Some(file) = idle
            .min_by_key(|(_, open)| open.used)
            .map(|(file, _)| *file)
        else {
            return;
        };
        let Some(open) = self.open.get(&file) else {
            return;
        };
        if let Ok(closed) = open.part.closed() {
            self.closed.insert(file, closed);
            self.open.remove(&file);
        }
    }
}

/// Descriptors that this process may have, after asking for enough.
fn limit(wanted: u64) -> u64 {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return 1024;
    };
    let wanted = wanted.min(hard);
    match soft >= wanted || setrlimit(Resource::RLIMIT_NOFILE, wanted, hard).is_ok() {
        true => soft.max(wanted),
        false => soft,
    }
}
