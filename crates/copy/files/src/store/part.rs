//! One file on its way: the temporary file, its lock and its journal.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use copy_protocol::{HASH_LENGTH, Problem, ProblemKind};
use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, OFlag, PosixFadviseAdvice, fallocate, openat, posix_fadvise};
use nix::sys::stat::{Mode, fstat};
use nix::sys::statfs::{TMPFS_MAGIC, fstatfs};
use nix::sys::statvfs::{Statvfs, fstatvfs};
use units::Bytes;

use super::JOURNAL_MIN;
use super::journal::{HEADER, Header};
use super::shared;
use super::temporary::{At, JOURNAL, PART, is_ours, open_locked};
use super::{Piece, Rest};
use crate::problems::problem;
use crate::{HashTree, PieceHasher, holes};

/// Smaller files get no room reserved: a full disk shows at their only write.
const RESERVE_MIN: u64 = 1 << 20;
/// The disk is told to begin once so many bytes of a file were written.
const FLUSH_AT_ONCE: u64 = 16 << 20;
/// Zeros that are written at a time.
const ZEROS: usize = 64 << 10;

/// A temporary file that this copy holds.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) at: At,
    pub(super) file: File,
    pub(super) header: Header,
    journal: Mutex<Journal>,
    /// All its room is reserved.
    is_reserved: AtomicBool,
    /// Of a part of a file: its chaining value, once all of it has arrived.
    pub(super) arrived: OnceLock<[u8; HASH_LENGTH]>,
    dirty: Mutex<Dirty>,
}

/// What was written since the disk was told to begin.
#[derive(Debug, Default)]
struct Dirty {
    bytes: u64,
    span: Range<u64>,
}

/// What has arrived is noted here.
#[derive(Debug, Default)]
enum Journal {
    /// Nothing was noted.
    #[default]
    None,
    Open(File),
    /// Closed to have fewer files open; no other process writes to it while this end has the lock.
    Closed,
}

impl Part {
    fn new(at: At, file: File) -> Self {
        Part {
            header: header_of(&at),
            at,
            file,
            journal: Mutex::default(),
            is_reserved: AtomicBool::new(false),
            arrived: OnceLock::new(),
            dirty: Mutex::default(),
        }
    }

    /// One of the parts of a file, in a temporary file that all of them share, with what an earlier
    /// try left of it.
    pub fn join(at: At) -> Result<(Self, Rest), Problem> {
        let (file, number) = shared::open(&at)?;
        let journal = shared::open_journal(&at)?;
        let mut part = Part::new(at, file);
        // Notes of a temporary file that was there before this one do not count.
        part.header.version ^= number;
        let rest = part.noted(&journal).unwrap_or_else(|| Rest {
            claimed: HashTree::part(part.at.size, part.at.within()),
            noted: Vec::new(),
        });
        let begun = part.begin_again(journal, &rest.noted);
        begun.map_err(|error| part.at.failed("write the journal of", error))?;
        part.is_reserved.store(false, Ordering::Release);
        Ok((part, rest))
    }

    /// Whether other parts of its file are written to the same temporary file.
    pub fn is_shared(&self) -> bool {
        self.at.part.is_some()
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
    pub fn resume(at: At) -> Result<Option<(Self, Rest)>, Problem> {
        let Some(journal) = open_journal(&at) else {
            return Ok(None);
        };
        let Some(file) = open_locked(&at, false)? else {
            return Ok(None);
        };
        let part = Part::new(at, file);
        let Some(rest) = part.noted(&journal) else {
            return Ok(None);
        };
        let begun = part.begin_again(journal, &rest.noted);
        begun.map_err(|error| part.at.failed("write the journal of", error))?;
        Ok(Some((part, rest)))
    }

    /// Has one file less open. Returns whether it did.
    pub fn close_journal(&self) -> bool {
        let mut journal = self.journal();
        // That of a shared one is its lock.
        let is_open = matches!(*journal, Journal::Open(_)) && !self.is_shared();
        if is_open {
            *journal = Journal::Closed;
        }
        is_open
    }

    /// Whether its temporary name still stands for it.
    pub fn is_there(&self) -> bool {
        fstat(&self.file).is_ok_and(|stat| self.at.is_at(PART, &stat))
    }

    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Problem> {
        self.check_within(offset, bytes.len() as u64)?;
        let reserved = self.reserve_once();
        reserved.map_err(|error| no_room(&self.at, error, fstatvfs(&self.file).ok()))?;
        let written = self.file.write_all_at(bytes, offset);
        written.map_err(|error| self.at.failed("write", error))
    }

    /// Leaves a hole: whatever lies there, or is put aside there, is given back.
    pub fn make_hole(&self, offset: u64, length: u64) -> Result<(), Problem> {
        self.check_within(offset, length)?;
        // Whatever speaks against it: zeros are as right, or cannot be written either.
        let made = self.punch(offset, length);
        let made = made.or_else(|_| self.write_zeros(offset..offset + length));
        made.map_err(|error| self.at.failed("make a hole in", error))
    }

    fn punch(&self, offset: u64, length: u64) -> nix::Result<()> {
        let flags = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
        let offset = i64::try_from(offset).map_err(|_| Errno::EFBIG)?;
        let length = i64::try_from(length).map_err(|_| Errno::EFBIG)?;
        fallocate(&self.file, flags, offset, length)
    }

    /// Where the file system makes no holes. One that was never written to is one.
    fn write_zeros(&self, bytes: Range<u64>) -> io::Result<()> {
        if holes::is_hole(&self.file, &bytes) {
            return Ok(());
        }
        let zeros = [0; ZEROS];
        let mut at = bytes.start;
        while at < bytes.end {
            let block = usize::try_from(bytes.end - at).unwrap_or(ZEROS).min(ZEROS);
            self.file.write_all_at(&zeros[..block], at)?;
            at += block as u64;
        }
        Ok(())
    }

    fn check_within(&self, offset: u64, length: u64) -> Result<(), Problem> {
        let (name, within) = (&self.at.shown, self.at.within());
        let end = offset.checked_add(length);
        match offset >= within.start && end.is_some_and(|end| end <= within.end) {
            true => Ok(()),
            false => {
                let Range { start, end } = within;
                let what = format!(
                    "{length} bytes at {offset} lie outside of the bytes {start} to {end} of \
                     `{name}`"
                );
                Err(problem(ProblemKind::Protocol, what))
            }
        }
    }

    /// * `is_hole`: nothing of it was written.
    pub fn note(&self, piece: &Piece, is_hole: bool) -> Result<(), Problem> {
        if self.at.size <= JOURNAL_MIN || u64::from(piece.length) == self.at.size {
            return Ok(());
        }
        if !is_hole {
            self.begin_flush(piece);
        }
        let mut journal = self.journal();
        let noted = self.note_in(&mut journal, piece);
        noted.map_err(|error| self.at.failed("write the journal of", error))
    }

    fn note_in(&self, journal: &mut Journal, piece: &Piece) -> io::Result<()> {
        if let Some(file) = self.opened(journal)? {
            return file.write_all(&self.header.note(piece));
        }
        *journal = Journal::Open(self.begin_journal(piece)?);
        Ok(())
    }

    /// The journal, opened again where it was closed; `None` where there is none.
    fn opened<'a>(&self, journal: &'a mut Journal) -> io::Result<Option<&'a mut File>> {
        if matches!(journal, Journal::Closed) {
            let mut file = open_journal(&self.at).ok_or(io::ErrorKind::NotFound)?;
            file.seek(SeekFrom::End(0))?;
            *journal = Journal::Open(file);
        }
        match journal {
            Journal::Open(file) => Ok(Some(file)),
            Journal::None | Journal::Closed => Ok(None),
        }
    }

    pub fn has_journal(&self) -> bool {
        !matches!(*self.journal(), Journal::None)
    }

    /// Removes it and its journal, unless something else has taken its place.
    pub fn remove(&self) {
        if self.is_there() {
            // A shared one has what the other parts brought.
            if !self.is_shared() {
                self.at.remove(PART);
            }
            self.at.remove(JOURNAL);
        }
    }

    /// Has the disk start with what was written, some of it at a time, so that little is left to
    /// flush at the end: the advice writes out what was changed, and only drops what needs no
    /// writing (`generic_fadvise` in Linux's mm/fadvise.c). Each time it waits for all processors,
    /// so it is not given for each piece.
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

    /// Nothing of an earlier try is left.
    fn clear(&self) -> io::Result<()> {
        self.file.set_len(0)?;
        // Also beside a file too small to have one: its source may have been larger.
        self.at.remove(JOURNAL);
        self.file.set_len(self.at.size)
    }

    /// Takes the room for all of it with the first byte: a peer that only promises bytes takes
    /// none. Where holes may come, data takes its room as it is written.
    fn reserve_once(&self) -> io::Result<()> {
        if self.is_reserved.load(Ordering::Acquire) {
            return Ok(());
        }
        // One thread reserves, and the others wait for it.
        let _one = self.journal();
        if !self.is_reserved.load(Ordering::Acquire) {
            self.reserve()?;
            self.is_reserved.store(true, Ordering::Release);
        }
        Ok(())
    }

    fn reserve(&self) -> io::Result<()> {
        let Range { start, end } = self.at.within();
        let start = i64::try_from(start).map_err(|_| Errno::EFBIG)?;
        let length = i64::try_from(end).map_err(|_| Errno::EFBIG)? - start;
        if self.at.is_sparse || self.at.size < RESERVE_MIN || self.is_in_memory()? {
            return Ok(());
        }
        match fallocate(&self.file, FallocateFlags::empty(), start, length) {
            Ok(()) | Err(Errno::EOPNOTSUPP | Errno::ENOSYS) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Whether the file system is memory, in which reserving takes about as long as writing, and
    /// nothing is written meanwhile. What can be known without is whether there is room.
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
        // A part that was taken up without its journal, or whose journal was foreign.
        self.at.remove(JOURNAL);
        let fd = openat(&self.at.folder, OsStr::from_bytes(&name), flags, mode)?;
        let mut file = File::from(fd);
        file.write_all(&[&self.header.encode()[..], &self.header.note(piece)].concat())?;
        Ok(file)
    }

    /// Pieces that an older journal names; `None` where it is of another file, or of another
    /// version of it.
    fn noted(&self, journal: &File) -> Option<Rest> {
        let mut bytes = Vec::new();
        let mut journal = journal.take(self.header.length_max());
        journal.read_to_end(&mut bytes).ok()?;
        let old = Header::decode(&bytes)?;
        let length = self.file.metadata().ok()?.len();
        if self.header != old || length != self.at.size {
            return None;
        }
        let mut noted = newest(old.pieces(bytes.get(HEADER..)?));
        let mut claimed = HashTree::part(self.at.size, self.at.within());
        noted.retain(|piece| {
            let inserted = claimed.insert(piece.offset, piece.length.into(), piece.hash);
            inserted.is_ok()
        });
        Some(Rest { claimed, noted })
    }

    /// Whether the bytes of a noted piece are those that were noted.
    pub fn reads_back(&self, piece: &Piece, buffer: &mut Vec<u8>) -> bool {
        let length = u64::from(piece.length);
        let mut hasher = PieceHasher::new(self.at.size, piece.offset, length);
        if holes::is_hole(&self.file, &(piece.offset..piece.offset + length)) {
            hasher.zeros(length);
            return hasher.finish() == Some(piece.hash);
        }
        buffer.resize(piece.length as usize, 0);
        if self.file.read_exact_at(buffer, piece.offset).is_err() {
            return false;
        }
        hasher.update(buffer);
        hasher.finish() == Some(piece.hash)
    }

    /// A clean journal; what follows is written behind it.
    fn begin_again(&self, mut journal: File, pieces: &[Piece]) -> io::Result<()> {
        let mut bytes = self.header.encode().to_vec();
        for piece in pieces {
            bytes.extend_from_slice(&self.header.note(piece));
        }
        // Over what was there, so that a crash in between costs no more than the notes that are not
        // yet over.
        journal.seek(SeekFrom::Start(0))?;
        journal.write_all(&bytes)?;
        journal.set_len(bytes.len() as u64)?;
        *self.journal() = Journal::Open(journal);
        self.is_reserved.store(true, Ordering::Release);
        Ok(())
    }

    fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn open_journal(at: &At) -> Option<File> {
    let name = at.beside(JOURNAL);
    let flags = OFlag::O_RDWR | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let fd = openat(&at.folder, OsStr::from_bytes(&name), flags, Mode::empty());
    let file = File::from(fd.ok()?);
    let stat = fstat(&file).ok()?;
    is_ours(&at.folder, &stat).then_some(file)
}

fn header_of(at: &At) -> Header {
    Header {
        size: at.size,
        modified_nanoseconds: at.modified_nanoseconds,
        version: at.version,
    }
}

/// Pieces that do not overlap, in order. Of those that do, the one that was noted last counts: one
/// that read back wrong is sent and noted again.
fn newest(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut kept: BTreeMap<u64, Piece> = BTreeMap::new();
    for piece in pieces {
        let end = piece.offset + u64::from(piece.length);
        while let Some((start, older)) = kept.range(..end).next_back()
            && start + u64::from(older.length) > piece.offset
        {
            let start = *start;
            kept.remove(&start);
        }
        kept.insert(piece.offset, piece);
    }
    kept.into_values().collect()
}

/// Why there is no room for all of a file: how much it needs, and how much there is.
fn no_room(at: &At, error: io::Error, free: Option<Statvfs>) -> Problem {
    let trouble = at.failed("make room for", error);
    let free = free.map(|disk| Bytes::new(disk.blocks_available() * disk.fragment_size()));
    match (trouble.kind, free) {
        (ProblemKind::DiskFull, Some(free)) => {
            let (needed, free) = (Bytes::new(at.size).human(), free.human());
            let what = format!("{}; it needs {needed}, and {free} are free", trouble.what);
            Problem { what, ..trouble }
        }
        _ => trouble,
    }
}
