//! Further names of files that are copied: which are still to be made.

use std::collections::BTreeMap;
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
    /// First names, and whether what they stand for is what was told: it was there already, was
    /// made, or has arrived.
    firsts: BTreeMap<FileId, bool>,
}

impl FurtherNames {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This entry is a first name.
    ///
    /// * `is_there`: it stands for what was told already.
    pub fn on_first(&self, first: FileId, is_there: bool) {
        self.state().firsts.insert(first, is_there);
    }

    /// A file has its final name.
    pub fn on_published(&self, file: FileId) {
        if let Some(is_there) = self.state().firsts.get_mut(&file) {
            *is_there = true;
        }
    }

    /// Whether it is a first name that stands for what was told.
    pub fn is_there(&self, first: FileId) -> bool {
        self.state().firsts.get(&first) == Some(&true)
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
