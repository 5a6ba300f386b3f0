//! Temporary names of a file while it arrives, and the lock that keeps other copies away.

use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use copy_protocol::{FilePart, NAME_MAX, Problem, ProblemKind};
pub(super) use copy_protocol::{
    JOURNAL_ENDING as JOURNAL, LINK_ENDING as LINK, PART_ENDING as PART,
};
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, fstatat, major, minor};
use nix::unistd::{UnlinkatFlags, geteuid, unlinkat};

use crate::problems::{failed, problem, shown, with_hint};

/// Times that something in the way of the temporary file is removed before another program must be
/// putting it there.
pub(super) const TRIES_MAX: usize = 16;
/// Bytes of a long name that its hash replaces: 16 digits and a dash.
const HASHED: usize = 17;

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
    pub version: u64,
    /// Some of it may come as holes.
    pub is_sparse: bool,
    /// Only this part of it arrives here; the temporary file is shared with the other parts.
    pub part: Option<FilePart>,
}

impl At {
    /// The bytes of it that arrive here.
    pub fn within(&self) -> Range<u64> {
        self.part
            .map_or(0..self.size, |part| part.within(self.size))
    }

    /// A name beside it that only copies of its parts have, of this very version and of parts of
    /// that length.
    pub fn of_parts(&self, what: &str) -> Vec<u8> {
        let length = self.part.map_or(0, |part| part.length);
        of_parts(
            &self.last,
            self.size,
            self.modified_nanoseconds,
            length,
            what,
        )
    }

    /// What the system said when something was tried with this file.
    pub fn failed(&self, trying: &str, error: impl Into<io::Error>) -> Problem {
        failed(trying, &self.shown, &error.into())
    }

    /// The name beside it with this ending.
    pub fn beside(&self, ending: &[u8]) -> Vec<u8> {
        match self.part {
            None => beside(&self.last, ending),
            Some(part) if ending == JOURNAL => {
                beside(&self.of_parts(&format!("-{}", part.index)), ending)
            }
            Some(_) => beside(&self.of_parts(""), ending),
        }
    }

    /// Whether the name beside it with this ending stands for this very file.
    pub fn is_at(&self, ending: &[u8], stat: &FileStat) -> bool {
        let name = self.beside(ending);
        let name = OsStr::from_bytes(&name);
        let there = fstatat(&self.folder, name, AtFlags::AT_SYMLINK_NOFOLLOW);
        there.is_ok_and(|there| (there.st_dev, there.st_ino) == (stat.st_dev, stat.st_ino))
    }

    /// Removes what is beside it with this ending.
    pub fn remove(&self, ending: &[u8]) {
        // It may not be there, and where it cannot be removed, the next try says so.
        let _ = self.unlink(ending);
    }

    /// The same, where it has to be there.
    pub fn unlink(&self, ending: &[u8]) -> nix::Result<()> {
        let name = self.beside(ending);
        let name = OsStr::from_bytes(&name);
        unlinkat(&self.folder, name, UnlinkatFlags::NoRemoveDir)
    }

    /// Removes what an earlier try left, unless another copy is at it.
    pub fn sweep(&self) {
        match open_locked(self, false) {
            Ok(Some(_lock)) => {
                self.remove(PART);
                self.remove(JOURNAL);
            }
            // A copy that ended between the file's name and the end of its journal.
            Ok(None) => self.remove(JOURNAL),
            Err(_) => {}
        }
    }
}

/// A name of [`At::of_parts`].
pub(super) fn of_parts(
    last: &[u8],
    size: u64,
    modified_nanoseconds: i64,
    length: u64,
    what: &str,
) -> Vec<u8> {
    let mut hasher = blake3::Hasher::new();
    for number in [size, modified_nanoseconds as u64, length] {
        hasher.update(&number.to_le_bytes());
    }
    let version = hasher.finalize().to_hex();
    let ending = format!("-{}{what}", &version[..16]);
    [last, ending.as_bytes()].concat()
}

/// `.NAME` and the ending, shortened so that a file system takes it; what is cut off is replaced by
/// a hash of all.
pub(super) fn beside(last: &[u8], ending: &[u8]) -> Vec<u8> {
    let room = NAME_MAX - 1 - JOURNAL.len();
    if last.len() <= room {
        return [b".", last, ending].concat();
    }
    let hash = blake3::hash(last).to_hex();
    let (kept, hash) = (&last[..room - HASHED], &hash.as_bytes()[..HASHED - 1]);
    [b".", kept, b"-", hash, ending].concat()
}

/// Opens the temporary file and locks it, so that no other copy writes to it; `None` where there is
/// none and none is to be made.
///
/// One that another user of this host made, or may write to, is not taken: that user could change
/// the file after it has its name. It is removed.
pub(super) fn open_locked(at: &At, create: bool) -> Result<Option<File>, Problem> {
    let mut foreign = None;
    for _ in 0..TRIES_MAX {
        let (file, is_new) = match open_or_create(at, create)? {
            Some(opened) => opened,
            // What another process made just now is gone again.
            None if create => continue,
            None => return Ok(None),
        };
        let Some(file) = file else {
            at.remove(PART);
            continue;
        };
        let stat = fstat(&file).map_err(|errno| at.failed("create", errno))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(held(at, &file)),
            Err(TryLockError::Error(error)) => return Err(at.failed("lock", error)),
        }
        let is_ours = is_new || is_ours(&at.folder, &stat);
        // The other holder of the lock may have given the file its final name just now.
        match (at.is_at(PART, &stat), is_ours) {
            (true, true) => return Ok(Some(file)),
            (true, false) => {
                foreign = Some(stat.st_uid);
                at.remove(PART);
            }
            (false, _) => {}
        }
    }
    Err(in_the_way(at, foreign))
}

/// The temporary file, and whether it was made just now; no file where something else has its name.
pub(super) fn open_or_create(
    at: &At,
    create: bool,
) -> Result<Option<(Option<File>, bool)>, Problem> {
    let name = at.beside(PART);
    let name = OsStr::from_bytes(&name);
    // A pipe in the way must not keep us waiting.
    let flags = OFlag::O_RDWR | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let failed = |errno: Errno| at.failed("create a temporary file for", errno);
    match openat(&at.folder, name, flags, Mode::empty()) {
        Ok(fd) => return Ok(Some((Some(File::from(fd)), false))),
        Err(Errno::ENOENT) if !create => return Ok(None),
        Err(Errno::ENOENT) => {}
        // A link, a socket, a folder, or a file that this user may not write to.
        Err(Errno::ELOOP | Errno::ENXIO | Errno::EACCES | Errno::EISDIR) => {
            return Ok(Some((None, false)));
        }
        Err(errno) => return Err(failed(errno)),
    }
    // No other user may write to it before it has its name.
    let mode = Mode::from_bits_truncate(at.mode & 0o755 | 0o600);
    match openat(
        &at.folder,
        name,
        flags | OFlag::O_CREAT | OFlag::O_EXCL,
        mode,
    ) {
        Ok(fd) => Ok(Some((Some(File::from(fd)), true))),
        // Another process was faster; the next look shows what it made.
        Err(Errno::EEXIST) => open_or_create(at, false),
        Err(errno) => Err(failed(errno)),
    }
}

/// Whether a file belongs to this user, has no other name and no other user can write to it.
pub(super) fn is_ours(folder: &OwnedFd, stat: &FileStat) -> bool {
    let is_file = stat.st_mode & SFlag::S_IFMT.bits() == SFlag::S_IFREG.bits();
    // A name of the file elsewhere would show what we write under that name too.
    if !is_file || stat.st_nlink != 1 {
        return false;
    }
    let others = stat.st_mode & 0o022;
    if stat.st_uid == geteuid().as_raw() && others == 0 {
        return true;
    }
    // Some file systems give every file one owner and mode, or another owner than the user.
    new_file_of(folder).is_some_and(|new| stat.st_uid == new.st_uid && others & !new.st_mode == 0)
}

/// What a file looks like that this user makes in the folder with mode 0600.
pub(super) fn new_file_of(folder: &OwnedFd) -> Option<FileStat> {
    let name = format!(".{}-{:p}.trunkline-part", std::process::id(), folder);
    let flags = OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC;
    let mode = Mode::S_IRUSR | Mode::S_IWUSR;
    let file = openat(folder, name.as_str(), flags, mode).ok()?;
    let stat = fstat(&file).ok();
    // Where it cannot be removed, the next copy of this folder leaves it out as a temporary file.
    let _ = unlinkat(folder, name.as_str(), UnlinkatFlags::NoRemoveDir);
    stat
}

/// What a copy of this user left under a temporary name and no copy is at. As long as it is held,
/// none takes it up.
#[derive(Debug)]
pub(super) struct Leftover {
    _lock: Option<File>,
    pub stat: FileStat,
}

impl Leftover {
    /// `None` where it belongs to another user, is none of ours, or a copy goes on with it.
    pub fn find(folder: &OwnedFd, last: &[u8]) -> Option<Self> {
        let mut endings = [PART, JOURNAL, LINK].into_iter();
        let stem = endings.find_map(|ending| last.strip_suffix(ending))?;
        let name = OsStr::from_bytes(last);
        let stat = fstatat(folder, name, AtFlags::AT_SYMLINK_NOFOLLOW).ok()?;
        let is_folder = stat.st_mode & SFlag::S_IFMT.bits() == SFlag::S_IFDIR.bits();
        if is_folder || stat.st_uid != geteuid().as_raw() {
            return None;
        }
        let part = [stem, PART].concat();
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let lock = match openat(folder, OsStr::from_bytes(&part), flags, Mode::empty()) {
            Ok(fd) => Some(File::from(fd)),
            Err(Errno::ENOENT) => None,
            Err(_) => return None,
        };
        if let Some(part) = &lock {
            part.try_lock().ok()?;
        }
        Some(Leftover { _lock: lock, stat })
    }

    /// How long nothing was written to it.
    pub fn age(&self) -> Duration {
        let modified = u64::try_from(self.stat.st_mtime).unwrap_or(0);
        let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(modified);
        modified.elapsed().unwrap_or_default()
    }
}

/// The temporary name cannot be had.
pub(super) fn in_the_way(at: &At, foreign: Option<u32>) -> Problem {
    let name = shown(&at.beside(PART));
    match foreign {
        Some(user) => with_hint(
            problem(
                ProblemKind::Permission,
                format!(
                    "`{name}` beside `{}` belongs to user {user} of that host or can be written to \
                    by others, and cannot be removed",
                    at.shown
                ),
            ),
            "have it removed, or copy to a folder in which only you may write",
        ),
        None => {
            let what = format!(
                "something stands at `{name}`, the temporary name of `{}`, and cannot be removed",
                at.shown
            );
            with_hint(
                problem(ProblemKind::Request, what),
                "have it removed, or copy to another folder",
            )
        }
    }
}

/// Another copy has the lock on its temporary file.
pub(super) fn held(at: &At, file: &File) -> Problem {
    let begun = file.metadata().and_then(|known| known.created());
    let since = begun.ok().and_then(|begun| begun.elapsed().ok());
    let since = since.map(|span| match span.as_secs() {
        0 => "since just now".to_owned(),
        seconds => format!("for {seconds} s"),
    });
    let process = holder(file).map(|id| format!("process {id} at the receiver"));
    let known: Vec<String> = process.into_iter().chain(since).collect();
    match known.is_empty() {
        true => told_busy(at, ""),
        false => told_busy(at, &format!(" ({})", known.join(", "))),
    }
}

pub(super) fn told_busy(at: &At, who: &str) -> Problem {
    let what = format!("another copy is writing `{}`{who}", at.shown);
    with_hint(
        problem(ProblemKind::Busy, what),
        "wait until it is done and start this one again, or copy to another destination; the place \
         of a copy that was killed is free within 15 s",
    )
}

/// How often the list of locks is read until it names one that is held.
const LOOKS_AT_LOCKS: usize = 3;

/// The process that has locked it, where the kernel says so (proc_locks(5)); a lock goes with its
/// process, however that ends.
fn holder(file: &File) -> Option<u32> {
    let stat = fstat(file).ok()?;
    let device = (major(stat.st_dev), minor(stat.st_dev));
    let wanted = format!("{:02x}:{:02x}:{}", device.0, device.1, stat.st_ino);
    // The kernel lists locks in portions, and leaves some out where others go between two of them.
    (0..LOOKS_AT_LOCKS).find_map(|_| holder_in_list(&wanted))
}

fn holder_in_list(wanted: &str) -> Option<u32> {
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    // `1: FLOCK  ADVISORY  WRITE 4711 08:02:262153 0 EOF`
    let line = locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let place = words.iter().position(|word| *word == wanted)?;
        let is_whole_file = words.get(1) == Some(&"FLOCK");
        is_whole_file.then(|| words.get(place - 1)?.parse().ok())?
    });
    line.filter(|id| *id > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_are_never_longer_than_a_file_system_takes() {
        for length in [1, 200, 235, 236, 237, 254, 255] {
            let last = vec![b'x'; length];
            for ending in [PART, JOURNAL, LINK] {
                assert!(beside(&last, ending).len() <= NAME_MAX, "{length}");
            }
        }
        let (a, b) = (
            [b"x".repeat(254), b"a".to_vec()].concat(),
            [b"x".repeat(254), b"b".to_vec()].concat(),
        );
        assert_ne!(beside(&a, PART), beside(&b, PART), "only their ends differ");
    }
}
