//! One file on its way: the temporary file, its lock and its journal.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, OFlag, PosixFadviseAdvice, fallocate, openat, posix_fadvise};
use nix::sys::stat::{FileStat, Mode, fstat};
use nix::sys::statfs::{TMPFS_MAGIC, fstatfs};
use wire::copying::{Problem, ProblemKind};

use super::JOURNAL_MIN;
use super::Piece;
use super::journal::{HEADER, Header};
use super::temporary::{At, JOURNAL, PART, busy, open_locked};
use crate::trouble::problem;
use crate::{HashTree, PieceHasher};

/// Smaller files get no room reserved: a full disk shows at their only write.
const RESERVE_MIN: u64 = 1 << 20;
/// The disk is told to begin once so many bytes of a file were written.
const FLUSH_AT_ONCE: u64 = 16 << 20;

/// A temporary file that this copy holds.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) at: At,
    pub(super) file: File,
    header: Header,
    journal: Mutex<Option<File>>,
    dirty: Mutex<Dirty>,
}

/// What was written since the disk was told to begin.
#[derive(Debug, Default)]
struct Dirty {
    bytes: u64,
    span: Range<u64>,
}

/// A part that was closed to have fewer files open, and that has to be the same when it is opened again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Closed {
    device: u64,
    inode: u64,
    has_journal: bool,
}

impl Part {
    fn new(at: At, file: File) -> Self {
        Part {
            header: header_of(&at),
            at,
            file,
            journal: Mutex::default(),
            dirty: Mutex::default(),
        }
    }

    /// Begins a file anew.
    pub fn create(at: At) -> Result<Self, Problem> {
        let file = open_locked(&at, true)?;
        let file = file.ok_or_else(|| at.failed("create", Errno::ENOENT))?;
        let part = Part::new(at, file);
        part.clear().map_err(|error| {
            part.remove();
            part.at.failed("make room for", error)
        })?;
        Ok(part)
    }

    /// Takes up what an earlier try left; `None` where there is nothing of use.
    pub fn resume(at: At) -> Result<Option<(Self, HashTree)>, Problem> {
        let Some(journal) = open_journal(&at) else {
            return Ok(None);
        };
        let Some(file) = open_locked(&at, false)? else {
            return Ok(None);
        };
        let part = Part::new(at, file);
        let Some((tree, noted)) = part.noted(&journal) else {
            return Ok(None);
        };
        let begun = part.begin_again(journal, &noted);
        begun.map_err(|error| part.at.failed("write the journal of", error))?;
        Ok(Some((part, tree)))
    }

    /// Opens what was closed a while ago.
    pub fn reopen(at: At, closed: Closed) -> Result<Self, Problem> {
        let file = open_locked(&at, false)?;
        let part = Part::new(at.clone(), file.ok_or_else(|| busy(&at))?);
        if part.identity()? != (closed.device, closed.inode) {
            return Err(busy(&at));
        }
        if closed.has_journal {
            let mut journal = open_journal(&at).ok_or_else(|| busy(&at))?;
            let sought = journal.seek(SeekFrom::End(0));
            sought.map_err(|error| at.failed("write the journal of", error))?;
            *part.journal() = Some(journal);
        }
        Ok(part)
    }

    /// What has to be known to open it again.
    pub fn closed(&self) -> Result<Closed, Problem> {
        let (device, inode) = self.identity()?;
        Ok(Closed {
            device,
            inode,
            has_journal: self.has_journal(),
        })
    }

    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Problem> {
        let end = offset.checked_add(bytes.len() as u64);
        if end.is_none_or(|end| end > self.at.size) {
            let (length, size) = (bytes.len(), self.at.size);
            let name = &self.at.shown;
            let what =
                format!("{length} bytes at {offset} lie beyond the {size} bytes of `{name}`");
            return Err(problem(ProblemKind::Protocol, what));
        }
        let written = self.file.write_all_at(bytes, offset);
        written.map_err(|error| self.at.failed("write", error))
    }

    pub fn note(&self, piece: &Piece) -> Result<(), Problem> {
        if self.at.size <= JOURNAL_MIN || u64::from(piece.length) == self.at.size {
            return Ok(());
        }
        self.begin_flush(piece);
        let mut journal = self.journal();
        let noted = match &mut *journal {
            Some(journal) => journal.write_all(&self.header.note(piece)),
            None => self
                .begin_journal(piece)
                .map(|begun| *journal = Some(begun)),
        };
        noted.map_err(|error| self.at.failed("write the journal of", error))
    }

    pub fn has_journal(&self) -> bool {
        self.journal().is_some()
    }

    /// Removes it and its journal.
    pub fn remove(&self) {
        self.at.remove(PART);
        self.at.remove(JOURNAL);
    }

    /// Has the disk start with what was written, some of it at a time, so that little is left to flush at the end: the
    /// advice writes out what was changed, and only drops what needs no writing (`generic_fadvise` in Linux's
    /// mm/fadvise.c). Each time it waits for all processors, so it is not given for each piece.
    fn begin_flush(&self, piece: &Piece) {
        let mut dirty = self.dirty.lock().unwrap_or_else(PoisonError::into_inner);
        let end = piece.offset + u64::from(piece.length);
        dirty.span = match dirty.bytes {
            0 => piece.offset..end,
            _ => dirty.span.start.min(piece.offset)..dirty.span.end.max(end),
        };
        dirty.bytes += u64::from(piece.length);
        if dirty.bytes < FLUSH_AT_ONCE {
            return;
        }
        let span = std::mem::take(&mut *dirty).span;
        let length = span.end - span.start;
        if let (Ok(start), Ok(length)) = (i64::try_from(span.start), i64::try_from(length)) {
            let advice = PosixFadviseAdvice::POSIX_FADV_DONTNEED;
            let _ = posix_fadvise(&self.file, start, length, advice);
        }
    }

    /// Nothing of an earlier try is left, and there is room for all.
    fn clear(&self) -> io::Result<()> {
        self.file.set_len(0)?;
        if self.at.size > JOURNAL_MIN {
            self.at.remove(JOURNAL);
        }
        let size = i64::try_from(self.at.size).map_err(|_| Errno::EFBIG)?;
        if self.at.size >= RESERVE_MIN && !self.is_in_memory()? {
            match fallocate(&self.file, FallocateFlags::empty(), 0, size) {
                Ok(()) => return Ok(()),
                Err(Errno::EOPNOTSUPP | Errno::ENOSYS) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        self.file.set_len(self.at.size)
    }

    /// Whether the file system is memory, in which reserving takes about as long as writing, and nothing is written meanwhile.
    /// What can be known without is whether there is room.
    fn is_in_memory(&self) -> io::Result<bool> {
        let system = fstatfs(&self.file)?;
        if system.filesystem_type() != TMPFS_MAGIC {
            return Ok(false);
        }
        let block = u64::try_from(system.block_size()).unwrap_or(0);
        let room = system.blocks_available().saturating_mul(block);
        // One without a limit says that it has no blocks at all.
        match system.blocks() > 0 && room < self.at.size {
            true => Err(Errno::ENOSPC.into()),
            false => Ok(true),
        }
    }

    fn begin_journal(&self, piece: &Piece) -> io::Result<File> {
        let name = self.at.beside(JOURNAL);
        let flags = OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC;
        let mode = Mode::S_IRUSR | Mode::S_IWUSR;
        let fd = openat(&self.at.folder, OsStr::from_bytes(&name), flags, mode)?;
        let mut file = File::from(fd);
        file.write_all(&[&self.header.encode()[..], &self.header.note(piece)].concat())?;
        Ok(file)
    }

    /// Pieces of an older journal that are on the disk: all it names where the machine ran on, else those that read
    /// back as they were. `None` where the journal is of another file.
    fn noted(&self, mut journal: &File) -> Option<(HashTree, Vec<Piece>)> {
        let mut bytes = Vec::new();
        journal.read_to_end(&mut bytes).ok()?;
        let old = Header::decode(&bytes)?;
        let length = self.file.metadata().ok()?.len();
        if !self.header.is_of_same_file(&old) || length != self.at.size {
            return None;
        }
        let has_run_on = self.header.boot == old.boot && self.header.boot != [0; 16];
        let mut pieces = old.pieces(bytes.get(HEADER..)?);
        pieces.sort_unstable_by_key(|piece| piece.offset);
        let (mut tree, mut buffer) = (HashTree::new(self.at.size), Vec::new());
        pieces.retain(|piece| {
            let is_there = has_run_on || self.reads_back(piece, &mut buffer);
            let insert =
                |tree: &mut HashTree| tree.insert(piece.offset, piece.length.into(), piece.hash);
            is_there && insert(&mut tree).is_ok_and(|new| new > 0)
        });
        Some((tree, pieces))
    }

    /// A clean journal of this boot; what follows is written behind it.
    fn begin_again(&self, mut journal: File, pieces: &[Piece]) -> io::Result<()> {
        let mut bytes = self.header.encode().to_vec();
        for piece in pieces {
            bytes.extend_from_slice(&self.header.note(piece));
        }
        // Over what was there, so that a crash in between costs no more than the notes that are not yet over.
        journal.seek(SeekFrom::Start(0))?;
        journal.write_all(&bytes)?;
        journal.set_len(bytes.len() as u64)?;
        *self.journal() = Some(journal);
        Ok(())
    }

    fn reads_back(&self, piece: &Piece, buffer: &mut Vec<u8>) -> bool {
        buffer.resize(piece.length as usize, 0);
        if self.file.read_exact_at(buffer, piece.offset).is_err() {
            return false;
        }
        let mut hasher = PieceHasher::new(self.at.size, piece.offset, piece.length.into());
        hasher.update(buffer);
        hasher.finish() == Some(piece.hash)
    }

    fn identity(&self) -> Result<(u64, u64), Problem> {
        let stat: Result<FileStat, Errno> = fstat(&self.file);
        let stat = stat.map_err(|errno| self.at.failed("write", errno))?;
        Ok((stat.st_dev, stat.st_ino))
    }

    fn journal(&self) -> MutexGuard<'_, Option<File>> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn open_journal(at: &At) -> Option<File> {
    let name = at.beside(JOURNAL);
    let flags = OFlag::O_RDWR | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let fd = openat(&at.folder, OsStr::from_bytes(&name), flags, Mode::empty());
    let file = File::from(fd.ok()?);
    file.metadata().is_ok_and(|it| it.is_file()).then_some(file)
}

fn header_of(at: &At) -> Header {
    Header {
        size: at.size,
        modified_nanoseconds: at.modified_nanoseconds,
        boot: boot(),
    }
}

/// Which boot of the machine this is (random(4)); zeros where the kernel does not say, which is then never the same.
fn boot() -> [u8; 16] {
    static BOOT: std::sync::OnceLock<[u8; 16]> = std::sync::OnceLock::new();
    *BOOT.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
        u128::from_str_radix(&digits, 16).unwrap_or(0).to_be_bytes()
    })
}
