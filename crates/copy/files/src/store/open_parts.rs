//! Open partial files. Each stays open to keep its lock; journals are closed when there are many.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use copy_protocol::{FileId, Problem};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::Rest;
use super::part::Part;
use super::temporary::At;

/// Journals that are open at once.
const OPEN_MAX: usize = 1024;
/// Descriptors that this needs, with room for streams, folders and files that wait to be published.
const DESCRIPTORS: u64 = 32_768;
/// Most files that wait to be published.
const WAIT_MAX: usize = 4096;

/// Open parts by their file.
#[derive(Debug)]
pub(super) struct OpenParts {
    parts: Mutex<Parts>,
    journals_max: usize,
    batch: usize,
}

#[derive(Debug, Default)]
struct Parts {
    open: BTreeMap<FileId, Open>,
    /// Files of which nothing more is taken, with the reason: what other streams still bring must
    /// not begin them anew.
    refused: BTreeMap<FileId, Problem>,
    uses: u64,
}

#[derive(Debug)]
struct Open {
    part: Arc<Part>,
    /// When it was used last, counted in uses.
    used: u64,
}

impl Default for OpenParts {
    fn default() -> Self {
        OpenParts::new(limit(DESCRIPTORS))
    }
}

impl OpenParts {
    fn new(descriptors: u64) -> Self {
        // A part and its journal are two descriptors; half is left for other uses.
        let fitting = usize::try_from(descriptors / 4).unwrap_or(OPEN_MAX);
        let waiting = usize::try_from(descriptors / 8).unwrap_or(WAIT_MAX);
        OpenParts {
            parts: Mutex::default(),
            journals_max: fitting.clamp(8, OPEN_MAX),
            batch: waiting.clamp(4, WAIT_MAX),
        }
    }

    /// The part of this file, begun where there is none.
    pub fn open(
        &self,
        file: FileId,
        at: impl Fn() -> Result<At, Problem>,
    ) -> Result<Arc<Part>, Problem> {
        let mut parts = self.parts();
        if let Some(part) = parts.used(file) {
            return Ok(part);
        }
        if let Some(reason) = parts.refused.get(&file) {
            return Err(reason.clone());
        }
        let at = at()?;
        let part = match at.part {
            // To begin it anew would take away what the other parts have brought.
            Some(_) => Part::join(at)?.0,
            None => Part::create(at)?,
        };
        Ok(parts.hold(file, part, self.journals_max))
    }

    /// The part of this file, where one was begun.
    pub fn find(&self, file: FileId) -> Option<Arc<Part>> {
        self.parts().used(file)
    }

    /// Takes up what an earlier try left, and says what is there.
    pub fn resume(&self, file: FileId, at: At) -> Result<Option<Rest>, Problem> {
        let Some((part, rest)) = Part::resume(at)? else {
            return Ok(None);
        };
        self.parts().hold(file, part, self.journals_max);
        Ok(Some(rest))
    }

    /// Takes up one part of a file, whose others come by other copies, and says what is there.
    pub fn join(&self, file: FileId, at: At) -> Result<Rest, Problem> {
        let (part, rest) = Part::join(at)?;
        self.parts().hold(file, part, self.journals_max);
        Ok(rest)
    }

    /// How many may be left open.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// Takes it out; its lock goes with the last who has it.
    pub fn take(&self, file: FileId) -> Option<Arc<Part>> {
        let mut parts = self.parts();
        parts.open.remove(&file).map(|open| open.part)
    }

    /// Takes nothing more of this file. What could not be taken up again is removed.
    pub fn refuse(&self, file: FileId, reason: Problem) {
        let mut parts = self.parts();
        let part = parts.open.remove(&file).map(|open| open.part);
        parts.refused.entry(file).or_insert(reason);
        if let Some(part) = part
            && !part.has_journal()
        {
            part.remove();
        }
    }

    /// Removes parts that cannot be resumed: without a journal it is unknown what has arrived.
    pub fn remove_useless(&self) {
        for (_, open) in std::mem::take(&mut self.parts().open) {
            if !open.part.has_journal() {
                open.part.remove();
            }
        }
    }

    /// They stay as they are.
    #[cfg(any(test, feature = "testing"))]
    pub fn let_all_go(&self) {
        self.parts().open.clear();
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

    fn hold(&mut self, file: FileId, part: Part, journals_max: usize) -> Arc<Part> {
        if self.open.len() >= journals_max {
            self.close_a_journal();
        }
        self.uses += 1;
        let part = Arc::new(part);
        let open = Open {
            part: Arc::clone(&part),
            used: self.uses,
        };
        self.open.insert(file, open);
        part
    }

    /// Closes the journal that was used longest ago.
    fn close_a_journal(&self) {
        let mut by_use: Vec<&Open> = self.open.values().collect();
        by_use.sort_unstable_by_key(|open| open.used);
        by_use.iter().any(|open| open.part.close_journal());
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
