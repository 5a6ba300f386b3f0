//! What is in a folder, and what it is.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use copy_protocol::{Entry, FileProblem, Inode, Problem, ProblemKind};
use nix::dir::Dir;
use nix::sys::stat::{FileStat, SFlag};

use crate::problems::{problem, shown, with_hint};

/// Names in a folder, in the order of their bytes; a folder of a million takes 8 bytes each beside
/// them.
#[derive(Debug)]
pub(crate) struct Listing {
    bytes: Vec<u8>,
    /// Where each name begins and how long it is; the next one is the last.
    left: Vec<(u32, u16)>,
}

impl Listing {
    /// Reads all names.
    pub fn of(folder: &OwnedFd) -> io::Result<Self> {
        let mut dir = Dir::from_fd(folder.as_fd().try_clone_to_owned()?)?;
        let (mut bytes, mut left) = (Vec::new(), Vec::new());
        for entry in dir.iter() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            let start = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
            let length = u16::try_from(name.len()).map_err(|_| io::ErrorKind::InvalidFilename)?;
            bytes.extend_from_slice(name);
            left.push((start, length));
        }
        let name = |at: &(u32, u16)| &bytes[at.0 as usize..at.0 as usize + usize::from(at.1)];
        left.sort_unstable_by(|one, other| name(other).cmp(name(one)));
        Ok(Listing { bytes, left })
    }

    /// The next name.
    pub fn pop(&mut self) -> Option<Vec<u8>> {
        let (start, length) = self.left.pop()?;
        let start = start as usize;
        Some(self.bytes[start..start + usize::from(length)].to_vec())
    }
}

/// Which kind, of `S_IFMT`.
pub(crate) fn kind_of(stat: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT
}

/// What tells one folder from another.
pub(super) fn device_and_inode(stat: &FileStat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

/// Since 1970; what lies beyond the years 1677 to 2262 becomes the nearest that can be said.
pub(super) fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

/// A problem of something that has no id.
pub(super) fn left_out(name: &[u8], problem: Problem) -> Found {
    Found::LeftOut(FileProblem::new(shown(name), problem))
}

/// A problem of a folder, with all that is in it.
pub(super) fn folder_left_out(name: &[u8], problem: Problem) -> Found {
    Found::LeftOut(FileProblem::new(format!("{}/", shown(name)), problem))
}

/// A folder where none is wanted.
pub(super) fn a_folder(name: &[u8]) -> Problem {
    let what = format!("`{}` is a folder", shown(name));
    with_hint(
        problem(ProblemKind::Request, what),
        "copy folders with `-r`",
    )
}

/// Whether the file has no end, such as a device.
pub(super) fn special(name: &[u8], kind: SFlag) -> Problem {
    let kind = match kind {
        SFlag::S_IFIFO => "a pipe",
        SFlag::S_IFSOCK => "a socket",
        SFlag::S_IFCHR | SFlag::S_IFBLK => "a device",
        _ => "no file",
    };
    let what = format!("`{}` is {kind} and is left out", shown(name));
    // There will never be more of it to copy, so it is no failure that the next try could mend.
    problem(ProblemKind::NoContent, what)
}

/// What an interrupted copy into that folder left, or one that goes on writes.
///
/// * `is_asked_for`: it was named itself, or is a folder, which no copy makes.
pub(super) fn temporary(name: &[u8], is_asked_for: bool) -> Problem {
    let what = format!(
        "`{}` is a temporary file of a copy and is left out",
        shown(name)
    );
    let kind = match is_asked_for {
        true => ProblemKind::Request,
        false => ProblemKind::Unfinished,
    };
    with_hint(
        problem(kind, what),
        "finish the copy that began it, or remove it",
    )
}

/// What a walk comes across.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Something to copy, with what else belongs to it; the first has id 0.
    Entry(Entry, Option<Box<Inode>>),
    /// Something that cannot be copied; it has no id.
    LeftOut(FileProblem),
}
