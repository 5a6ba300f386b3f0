//! Files that are found under several names (hard links).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;

use copy_protocol::{FileId, Shared};
use nix::sys::stat::{FileStat, SFlag};

use super::look::{device_and_inode, kind_of};

/// The files seen so far that have several names, here or elsewhere.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// By device and inode: whether it was found under two names.
    seen: BTreeMap<(u64, u64), bool>,
    /// The same: its first name, where names of one file stay together.
    first: BTreeMap<(u64, u64), FileId>,
    names: u32,
}

impl Links {
    /// A name of this file was found.
    pub fn note(&mut self, stat: &FileStat) {
        if kind_of(stat) != SFlag::S_IFREG || stat.st_nlink < 2 {
            return;
        }
        match self.seen.get_mut(&device_and_inode(stat)) {
            None => {
                self.seen.insert(device_and_inode(stat), false);
            }
            Some(is_shared) => {
                // The second name makes the first one count too.
                let is_second = !std::mem::replace(is_shared, true);
                self.names = self.names.saturating_add(1 + u32::from(is_second));
            }
        }
    }

    /// Which of several names of a file or link an entry is.
    pub fn shared(&mut self, file: FileId, stat: &FileStat) -> Option<Shared> {
        let may_share = matches!(kind_of(stat), SFlag::S_IFREG | SFlag::S_IFLNK);
        if !may_share || stat.st_nlink < 2 {
            return None;
        }
        match self.first.entry(device_and_inode(stat)) {
            Slot::Occupied(first) => Some(Shared::With(*first.get())),
            Slot::Vacant(slot) => {
                slot.insert(file);
                Some(Shared::First)
            }
        }
    }

    /// How many of the names share their file with another one.
    pub fn names(&self) -> u32 {
        self.names
    }
}
