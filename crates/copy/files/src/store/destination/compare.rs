//! Compares the content of an existing file with that of its source.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use copy_protocol::{Entry, HASH_LENGTH, Kind};
use nix::fcntl::OFlag;
use nix::sys::stat::{Mode, fstat};

use super::Destination;
use crate::root::open_below;

/// Bytes that are read and hashed at a time.
const BLOCK: usize = 1 << 20;

impl Destination {
    /// Whether a file of this size and content is there; `false` also where it cannot be read, and
    /// once `is_over` says so.
    pub fn has_content_of(&self, entry: &Entry, is_over: &dyn Fn() -> bool) -> bool {
        let file = self.open_of_size(entry);
        file.is_some_and(|file| entry.digest.is_some() && hash(&file, is_over) == entry.digest)
    }

    /// The file of this name, where it has the entry's size.
    pub fn open_of_size(&self, entry: &Entry) -> Option<File> {
        let Kind::File(size) = entry.kind else {
            return None;
        };
        let file = self.open_to_compare(entry)?;
        let stat = fstat(&file).ok()?;
        let is_same =
            super::plan_entry::is_regular(&stat) && u64::try_from(stat.st_size) == Ok(size);
        is_same.then_some(file)
    }

    fn open_to_compare(&self, entry: &Entry) -> Option<File> {
        let (folder, last) = self.state().folder_of(entry.name.as_bytes()).ok()?;
        // A pipe in its place must not keep us waiting.
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        let opened = open_below(folder.as_fd(), &last, flags, Mode::empty());
        opened.ok().map(File::from)
    }
}

fn hash(file: &File, is_over: &dyn Fn() -> bool) -> Option<[u8; HASH_LENGTH]> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; BLOCK];
    let mut offset = 0;
    loop {
        if is_over() {
            return None;
        }
        match file.read_at(&mut buffer, offset).ok()? {
            0 => return Some(hasher.finalize().into()),
            read => {
                hasher.update(&buffer[..read]);
                offset += read as u64;
            }
        }
    }
}
