//! Further names of files that are copied: which are still to be made.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use copy_protocol::FileId;

/// Names to be made at the end, with the entries that have the content.
#[derive(Debug, Default)]
pub(super) struct FurtherNames {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    left: Vec<(FileId, FileId)>,
    /// First names whose file was there already, and stays.
    there: BTreeSet<FileId>,
}

impl FurtherNames {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file of a first name is there already.
    pub fn on_there(&self, first: FileId) {
        self.state().there.insert(first);
    }

    /// Whether it was.
    pub fn is_there(&self, first: FileId) -> bool {
        self.state().there.contains(&first)
    }

    /// `file` is to become a name of what `first` is.
    pub fn add(&self, file: FileId, first: FileId) {
        self.state().left.push((file, first));
    }

    /// All that are left, in the order of the entries.
    pub fn take(&self) -> Vec<(FileId, FileId)> {
        std::mem::take(&mut self.state().left)
    }
}
