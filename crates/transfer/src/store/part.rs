//! One file on its way: the temporary file, its lock and its journal.

use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError};

use nix::errno::Errno;
use nix::fcntl::{
    AtFlags, FallocateFlags, OFlag, RenameFlags, fallocate, openat, renameat, renameat2,
};
use nix::sys::stat::{Mode, SFlag, fchmod, fstat, fstatat, futimens};
use nix::sys::time::TimeSpec;
use nix::unistd::{UnlinkatFlags, fsync, unlinkat};
use wire::copying::{Attributes, Filter, HASH_LENGTH, NAME_MAX, Problem, ProblemKind};

use super::journal::{self, HEADER, Header};
use super::{Piece, StoreSpec};
use crate::trouble::{failed, problem, with_hint};

/// Smaller files get no room reserved: a full disk shows at their only write.
const RESERVE_MIN: u64 = 1 << 20;
/// How often a temporary file that is in the way is removed before somebody must be putting it there.
const TRIES_MAX: usize = 16;
/// Bytes that are read at once when a file is read again.
const READ_LENGTH: usize = 1 << 20;

/// Where a file belongs and what it is to be.
#[derive(Debug, Clone)]
pub(super) struct At {
    pub folder: Arc<OwnedFd>,
    pub last: Vec<u8>,
    /// Its name, for people.
    pub shown: String,
    pub size: u64,
    pub mode: u32,
    /// The mode is set whatever the mask says.
    pub is_exact: bool,
    pub modified_nanoseconds: i64,
}

impl At {
    pub fn failed(&self, trying: &str, error: &io::Error) -> Problem {
        failed(trying, &self.shown, error)
    }
}

/// A temporary file that this copy holds.
#[derive(Debug)]
pub(super) struct Part {
    at: At,
    file: File,
    header: Header,
    journal: Mutex<Option<File>>,
    known: Mutex<Vec<Piece>>,
}

/// `.NAME` and the ending, shortened so that a file system takes it; what is cut off is replaced by its hash.
pub(super) fn beside(last: &[u8], ending: &[u8]) -> Vec<u8> {
    let room = NAME_MAX - 1 - ending.len();
    let stem = match last.len() <= room {
        true => last.to_vec(),
        false => {
            let hash = blake3::hash(last).to_hex();
            let kept = &last[..room - 17];
            [kept, b"-", &hash.as_bytes()[..16]].concat()
        }
    };
    [b".", stem.as_slice(), ending].concat()
}

const PART: &[u8] = b".trunkline-part";
const JOURNAL: &[u8] = b".trunkline-journal";

impl Part {
    /// Begins a file anew.
    pub fn create(at: At) -> Result<Self, Problem> {
        let file = open_locked(&at, true)?;
        let file = file.ok_or_else(|| at.failed("create", &Errno::ENOENT.into()))?;
        file.set_len(0)
            .map_err(|error| at.failed("write", &error))?;
        remove(&at, JOURNAL);
        let part = Part {
            header: header_of(&at),
            at,
            file,
            journal: Mutex::default(),
            known: Mutex::default(),
        };
        match part.reserve() {
            Ok(()) => Ok(part),
            Err(error) => {
                part.remove();
                Err(part.at.failed("make room for", &error))
            }
        }
    }

    /// Takes up what an earlier try left; `None` where there is nothing of use.
    pub fn resume(at: At) -> Result<Option<Self>, Problem> {
        let journal_name = beside(&at.last, JOURNAL);
        let flags = OFlag::O_RDWR | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let name = OsStr::from_bytes(&journal_name);
        let Ok(journal) = openat(&at.folder, name, flags, Mode::empty()) else {
            return Ok(None);
        };
        let Some(file) = open_locked(&at, false)? else {
            return Ok(None);
        };
        let mut journal = File::from(journal);
        let mut bytes = Vec::new();
        let header = header_of(&at);
        let is_read = journal.read_to_end(&mut bytes).is_ok();
        let Some(old) = Header::decode(&bytes).filter(|_| is_read) else {
            return Ok(None);
        };
        let is_same =
            (old.size, old.modified_nanoseconds) == (header.size, header.modified_nanoseconds);
        if !is_same {
            return Ok(None);
        }
        let part = Part {
            at,
            file,
            header,
            journal: Mutex::default(),
            known: Mutex::default(),
        };
        let noted = old.pieces(bytes.get(HEADER..).unwrap_or_default());
        let pieces = part.trusted(journal::in_order(noted), &old);
        part.rewrite(journal, &pieces)?;
        *part.known.lock().unwrap_or_else(PoisonError::into_inner) = pieces;
        Ok(Some(part))
    }

    /// What of the file did not arrive by the time it was resumed.
    pub fn missing(&self) -> Vec<(u64, u64)> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        journal::missing(&known, self.at.size)
    }

    pub fn take_known(&self) -> Vec<Piece> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *known)
    }

    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Problem> {
        let end = offset.checked_add(bytes.len() as u64);
        if end.is_none_or(|end| end > self.at.size) {
            let what = format!(
                "{} bytes at {offset} lie beyond the {} bytes of `{}`",
                bytes.len(),
                self.at.size,
                self.at.shown
            );
            return Err(problem(ProblemKind::Protocol, what));
        }
        let written = self.file.write_all_at(bytes, offset);
        written.map_err(|error| self.at.failed("write", &error))
    }

    pub fn note(&self, piece: &Piece) -> Result<(), Problem> {
        if piece.offset == 0 && u64::from(piece.length) == self.at.size {
            return Ok(());
        }
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        let noted = match &mut *journal {
            Some(journal) => journal.write_all(&self.header.note(piece)),
            None => self
                .begin_journal(piece)
                .map(|begun| *journal = Some(begun)),
        };
        noted.map_err(|error| self.at.failed("write the journal of", &error))
    }

    /// Mode and times, as the last thing before it is flushed.
    pub fn dress(&self, attributes: &Attributes) -> Result<(), Problem> {
        let dressed = (|| {
            if self.at.is_exact {
                fchmod(&self.file, Mode::from_bits_truncate(self.at.mode))?;
            }
            if attributes.times {
                let modified = time_of(self.at.modified_nanoseconds);
                futimens(&self.file, &TimeSpec::UTIME_OMIT, &modified)?;
            }
            Ok(())
        })();
        dressed.map_err(|errno: Errno| self.at.failed("set mode and time of", &errno.into()))
    }

    /// Reads all of it from the disk and compares.
    pub fn verify(&self, digest: &[u8; HASH_LENGTH]) -> Result<(), Problem> {
        let hash = self
            .hash()
            .map_err(|error| self.at.failed("read again", &error))?;
        if hash == *digest {
            return Ok(());
        }
        let what = format!(
            "`{}` reads back from the disk as something else",
            self.at.shown
        );
        Err(with_hint(
            problem(ProblemKind::Corrupt, what),
            "the disk or memory of the receiving host may be failing; copy it again",
        ))
    }

    /// Flushes it, gives it its name and flushes the folder.
    pub fn publish(&self, spec: &StoreSpec) -> Result<(), Problem> {
        let flushed = fsync(&self.file);
        flushed.map_err(|errno| self.at.failed("write", &errno.into()))?;
        self.rename(spec.filter)?;
        let flushed = fsync(&self.at.folder);
        flushed.map_err(|errno| self.at.failed("write", &errno.into()))
    }

    /// Removes it and its journal.
    pub fn remove(&self) {
        remove(&self.at, PART);
        remove(&self.at, JOURNAL);
    }

    fn rename(&self, filter: Filter) -> Result<(), Problem> {
        let part = beside(&self.at.last, PART);
        let (from, to) = (OsStr::from_bytes(&part), OsStr::from_bytes(&self.at.last));
        let folder = &self.at.folder;
        let renamed = match filter {
            Filter::Missing => renameat2(folder, from, folder, to, RenameFlags::RENAME_NOREPLACE),
            Filter::All | Filter::Changed => renameat(folder, from, folder, to),
        };
        renamed.map_err(|errno| self.at.failed("rename to", &errno.into()))?;
        remove(&self.at, JOURNAL);
        Ok(())
    }

    fn reserve(&self) -> io::Result<()> {
        let Ok(size) = i64::try_from(self.at.size) else {
            return Err(Errno::EFBIG.into());
        };
        if self.at.size >= RESERVE_MIN {
            match fallocate(&self.file, FallocateFlags::empty(), 0, size) {
                Ok(()) => return Ok(()),
                Err(Errno::EOPNOTSUPP | Errno::ENOSYS) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        self.file.set_len(self.at.size)
    }

    fn begin_journal(&self, piece: &Piece) -> io::Result<File> {
        let name = beside(&self.at.last, JOURNAL);
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC;
        let mode = Mode::S_IRUSR | Mode::S_IWUSR;
        let fd = openat(&self.at.folder, OsStr::from_bytes(&name), flags, mode)?;
        let mut file = File::from(fd);
        file.write_all(&[&self.header.encode()[..], &self.header.note(piece)].concat())?;
        Ok(file)
    }

    /// A clean journal of this boot; what follows is written behind it.
    fn rewrite(&self, mut journal: File, pieces: &[Piece]) -> Result<(), Problem> {
        let mut bytes = self.header.encode().to_vec();
        for piece in pieces {
            bytes.extend_from_slice(&self.header.note(piece));
        }
        let written = journal
            .set_len(0)
            .and_then(|()| journal.seek(SeekFrom::Start(0)))
            .and_then(|_| journal.write_all(&bytes));
        written.map_err(|error| self.at.failed("write the journal of", &error))?;
        *self.journal.lock().unwrap_or_else(PoisonError::into_inner) = Some(journal);
        Ok(())
    }

    /// Pieces that are on the disk: all of them where the machine ran on, else those that are read back as they were.
    fn trusted(&self, mut pieces: Vec<Piece>, old: &Header) -> Vec<Piece> {
        let has_run_on = self.header.boot == old.boot && self.header.boot != [0; 16];
        if !has_run_on {
            pieces.retain(|piece| self.reads_back(piece));
        }
        pieces
    }

    fn reads_back(&self, piece: &Piece) -> bool {
        use blake3::hazmat::{HasherExt, max_subtree_len};
        let is_whole = piece.offset == 0 && u64::from(piece.length) == self.at.size;
        let is_subtree = piece.offset % blake3::CHUNK_LEN as u64 == 0
            && max_subtree_len(piece.offset).is_none_or(|max| u64::from(piece.length) <= max);
        let mut bytes = vec![0; piece.length as usize];
        if !is_subtree || self.file.read_exact_at(&mut bytes, piece.offset).is_err() {
            return false;
        }
        let mut hasher = blake3::Hasher::new();
        hasher.set_input_offset(piece.offset).update(&bytes);
        match is_whole {
            true => hasher.finalize() == piece.hash,
            false => hasher.finalize_non_root() == piece.hash,
        }
    }

    fn hash(&self) -> io::Result<[u8; HASH_LENGTH]> {
        let mut hasher = blake3::Hasher::new();
        let mut bytes = vec![0; READ_LENGTH];
        let mut offset = 0;
        loop {
            match self.file.read_at(&mut bytes, offset) {
                Ok(0) => return Ok(hasher.finalize().into()),
                Ok(length) => {
                    hasher.update(&bytes[..length]);
                    offset += length as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
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
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    u128::from_str_radix(&digits, 16).unwrap_or(0).to_be_bytes()
}

pub(super) fn time_of(nanoseconds: i64) -> TimeSpec {
    let seconds = nanoseconds.div_euclid(1_000_000_000);
    TimeSpec::new(seconds, nanoseconds.rem_euclid(1_000_000_000))
}

fn remove(at: &At, ending: &[u8]) {
    // It may not be there, and where it cannot be removed, the next try says so.
    let name = beside(&at.last, ending);
    let _ = unlinkat(
        &at.folder,
        OsStr::from_bytes(&name),
        UnlinkatFlags::NoRemoveDir,
    );
}

/// Opens the temporary file and locks it, so that no other copy writes to it; `None` where there is none and none is
/// to be made.
fn open_locked(at: &At, create: bool) -> Result<Option<File>, Problem> {
    let name = beside(&at.last, PART);
    let name = OsStr::from_bytes(&name);
    let mut flags = OFlag::O_RDWR | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    flags.set(OFlag::O_CREAT, create);
    let mode = Mode::from_bits_truncate(at.mode & 0o777 | 0o600);
    for _ in 0..TRIES_MAX {
        let file = match openat(&at.folder, name, flags, mode) {
            Ok(fd) => File::from(fd),
            Err(Errno::ENOENT) if !create => return Ok(None),
            Err(Errno::ELOOP | Errno::ENXIO) => {
                remove(at, PART);
                continue;
            }
            Err(errno) => return Err(at.failed("create a temporary file for", &errno.into())),
        };
        let stat = fstat(&file).map_err(|errno| at.failed("create", &errno.into()))?;
        let is_ours =
            stat.st_mode & SFlag::S_IFMT.bits() == SFlag::S_IFREG.bits() && stat.st_nlink == 1;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(busy(at)),
            Err(TryLockError::Error(error)) => return Err(at.failed("lock", &error)),
        }
        // Whoever held the lock may have given the file its final name just now.
        let there = fstatat(&at.folder, name, AtFlags::AT_SYMLINK_NOFOLLOW);
        let is_there =
            there.is_ok_and(|there| (there.st_dev, there.st_ino) == (stat.st_dev, stat.st_ino));
        match (is_there, is_ours) {
            (true, true) => return Ok(Some(file)),
            (true, false) => remove(at, PART),
            (false, _) => {}
        }
    }
    let what = format!(
        "somebody keeps putting something at the temporary name of `{}`",
        at.shown
    );
    Err(problem(ProblemKind::Busy, what))
}

fn busy(at: &At) -> Problem {
    let what = format!("another copy is writing `{}`", at.shown);
    with_hint(
        problem(ProblemKind::Busy, what),
        "wait until it is done, or copy to another destination",
    )
}
