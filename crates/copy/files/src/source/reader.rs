//! One file that is read, and whether it stayed the same meanwhile.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use copy_protocol::{Attributes, FileId, Problem, ProblemKind};
use nix::fcntl::{OFlag, PosixFadviseAdvice, posix_fadvise};
use nix::sys::stat::{FileStat, SFlag, fstat};

use crate::holes::{self, Layout};
use crate::problems::{failed, problem, shown, with_hint};
use crate::root::{Root, open_to_read};

/// Files that are kept open at once.
const OPEN_MAX: usize = 64;
/// Shorter files are read in one go, where advice costs more than it brings.
const ADVICE_MIN: u64 = 256 << 10;

/// What a file looked like when it was listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    pub size: u64,
    /// Of device, inode, time of modification and time of change: another file, or another content,
    /// has another.
    pub identity: u64,
}

/// Which version of a file this is, for a receiver that has some of it already: of inode and times
/// of modification and of change, which no program can set. Without the device, whose number may be
/// another after a reboot or on another host in front of the same file system.
pub fn version(stat: &FileStat) -> u64 {
    hash_of(&[
        stat.st_ino,
        stat.st_mtime as u64,
        stat.st_mtime_nsec as u64,
        stat.st_ctime as u64,
        stat.st_ctime_nsec as u64,
    ])
}

/// Whether a file takes less room than it has bytes: it has holes, or its file system compresses
/// it.
pub(super) fn is_sparse(stat: &FileStat) -> bool {
    // The unit of `st_blocks` is 512 bytes on every file system, stat(2).
    stat.st_blocks.saturating_mul(512) < stat.st_size
}

fn hash_of(numbers: &[u64]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for number in numbers {
        hasher.update(&number.to_le_bytes());
    }
    let mut hash = [0; 8];
    hasher.finalize_xof().fill(&mut hash);
    u64::from_le_bytes(hash)
}

impl Seen {
    pub fn of(stat: &FileStat) -> Self {
        Seen {
            size: u64::try_from(stat.st_size).unwrap_or(0),
            identity: hash_of(&[stat.st_dev, version(stat)]),
        }
    }
}

/// An open file of the source.
#[derive(Debug)]
pub struct Reader {
    id: FileId,
    name: String,
    file: File,
    seen: Seen,
    /// It takes less room than it has bytes.
    is_sparse: bool,
}

impl Reader {
    pub(super) fn open(
        root: &Root,
        id: FileId,
        path: &[u8],
        seen: Seen,
        attributes: &Attributes,
    ) -> Result<Self, Problem> {
        let name = shown(path);
        // A pipe that took the file's place must not keep us waiting for its other end.
        let mut flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        flags.set(OFlag::O_NOFOLLOW, attributes.links);
        let keeps = attributes.kept.access_times;
        let opened = open_to_read(keeps, flags, |flags| root.open(path, flags));
        let file = opened.map_err(|error| about(id, failed("read", &name, &error)))?;
        let mut reader = Reader {
            id,
            name,
            file: file.into(),
            seen,
            is_sparse: false,
        };
        reader.is_sparse = is_sparse(&reader.check()?);
        if seen.size >= ADVICE_MIN {
            // Advice only: without it the same is read, later.
            let _ = posix_fadvise(
                &reader.file,
                0,
                0,
                PosixFadviseAdvice::POSIX_FADV_SEQUENTIAL,
            );
        }
        Ok(reader)
    }

    /// Bytes when it was listed.
    pub fn size(&self) -> u64 {
        self.seen.size
    }

    /// Reads exactly `into.len()` bytes at `offset`.
    ///
    /// # Errors
    /// When it ends before, or cannot be read.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), Problem> {
        match self.file.read_exact_at(into, offset) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                self.check()?;
                Err(self.changed(format!("ends before byte {}", offset + into.len() as u64)))
            }
            Err(error) => Err(about(self.id, failed("read", &self.name, &error))),
        }
    }

    /// What of `length` bytes at `offset` is data.
    pub fn layout(&self, offset: u64, length: u32) -> Layout {
        match self.is_sparse {
            true => holes::layout(&self.file, offset, length),
            false => Layout::Data,
        }
    }

    /// Says whether the open file is still what was listed, and what it looks like.
    ///
    /// # Errors
    /// [`ProblemKind::SourceChanged`] when it shrank, grew, was written to or is another file.
    pub fn check(&self) -> Result<FileStat, Problem> {
        let stat = fstat(&self.file)
            .map_err(|errno| about(self.id, failed("read", &self.name, &errno.into())))?;
        let now = Seen::of(&stat);
        if stat.st_mode & SFlag::S_IFMT.bits() != SFlag::S_IFREG.bits() {
            return Err(self.changed("is no file any more".to_owned()));
        }
        if now.size != self.seen.size {
            let (was, is) = (self.seen.size, now.size);
            return Err(self.changed(format!("had {was} bytes when the copy began, and has {is}")));
        }
        match now == self.seen {
            true => Ok(stat),
            false => Err(self.changed("was written to or replaced".to_owned())),
        }
    }

    fn changed(&self, how: String) -> Problem {
        let what = format!("`{}` {how} while it was copied", self.name);
        let changed = with_hint(
            problem(ProblemKind::SourceChanged, what),
            "copy it again once nothing writes to it",
        );
        about(self.id, changed)
    }
}

fn about(file: FileId, mut problem: Problem) -> Problem {
    problem.file = Some(file);
    problem
}

/// The files that are open, those used last at the end.
#[derive(Debug, Default)]
pub(super) struct Readers(Vec<Arc<Reader>>);

impl Readers {
    pub fn get(&mut self, file: FileId) -> Option<Arc<Reader>> {
        let at = self.0.iter().rposition(|reader| reader.id == file)?;
        let reader = self.0.remove(at);
        self.0.push(Arc::clone(&reader));
        Some(reader)
    }

    /// Keeps it, unless another thread was faster, and closes the one that was used longest ago.
    pub fn keep(&mut self, reader: Reader) -> Arc<Reader> {
        if let Some(other) = self.get(reader.id) {
            return other;
        }
        if self.0.len() >= OPEN_MAX {
            self.0.remove(0);
        }
        let reader = Arc::new(reader);
        self.0.push(Arc::clone(&reader));
        reader
    }

    pub fn close(&mut self, file: FileId) {
        self.0.retain(|reader| reader.id != file);
    }
}
