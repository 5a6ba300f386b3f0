//! The versions that files replace: pieces that are the same need not be sent.
//!
//! What is read here counts only once its hash is that of the sender's piece, and the bytes that
//! were hashed are those that are written, so that it does no harm if another program changes the
//! old version meanwhile.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError};

use copy_protocol::FileId;
use nix::fcntl::{AtFlags, OFlag};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, fstatat};

use super::temporary::At;
use crate::root::open_below;

/// Smaller files are sent whole: offering their pieces costs a round trip more.
const BYTES_MIN: u64 = 1 << 20;
/// Files that are kept open at once.
const OPEN_MAX: usize = 64;

/// Older versions that are open.
#[derive(Debug, Default)]
pub(super) struct OlderFiles {
    /// `None` where there is none, or it cannot be read.
    open: Mutex<BTreeMap<FileId, Option<Arc<File>>>>,
}

impl OlderFiles {
    /// Bytes of the older version; `None` where it is of no use.
    pub fn bytes(&self, at: &At) -> Option<u64> {
        let last = OsStr::from_bytes(&at.last);
        let stat = fstatat(&at.folder, last, AtFlags::AT_SYMLINK_NOFOLLOW).ok()?;
        let bytes = u64::try_from(stat.st_size).ok()?;
        let is_of_use = is_regular(&stat) && bytes.min(at.size) >= BYTES_MIN;
        is_of_use.then_some(bytes)
    }

    /// Reads exactly `into.len()` bytes; whether that succeeded.
    pub fn read(
        &self,
        file: FileId,
        at: impl FnOnce() -> Option<At>,
        offset: u64,
        into: &mut [u8],
    ) -> bool {
        let opened = self.opened(file, at);
        opened.is_some_and(|opened| opened.read_exact_at(into, offset).is_ok())
    }

    /// The file has its new version: the room of the old one is given back.
    pub fn close(&self, file: FileId) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.remove(&file);
    }

    fn opened(&self, file: FileId, at: impl FnOnce() -> Option<At>) -> Option<Arc<File>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = open.get(&file) {
            return known.clone();
        }
        if open.len() >= OPEN_MAX {
            // Files come in the order of their numbers.
            open.pop_first();
        }
        let opened = at().and_then(|at| opened_at(&at)).map(Arc::new);
        open.insert(file, opened.clone());
        opened
    }
}

fn opened_at(at: &At) -> Option<File> {
    // A pipe in its place must not keep us waiting.
    let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let opened = open_below(at.folder.as_fd(), &at.last, flags, Mode::empty());
    let file = File::from(opened.ok()?);
    is_regular(&fstat(&file).ok()?).then_some(file)
}

fn is_regular(stat: &FileStat) -> bool {
    stat.st_mode & SFlag::S_IFMT.bits() == SFlag::S_IFREG.bits()
}
