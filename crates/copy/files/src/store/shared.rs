//! The temporary file of a file whose parts come from several copies, at several hosts perhaps, in
//! front of one file system.
//!
//! | beside the file, hidden | what |
//! |---|---|
//! | `NAME-VERSION.trunkline-part` | the file itself; each copy writes its own part, and no other |
//! | `NAME-VERSION-id.trunkline-journal` | a random number of that temporary file |
//! | `NAME-VERSION-N.trunkline-journal` | what has arrived of part N; its copy has it locked |
//! | `NAME-VERSION-N-whole.trunkline-journal` | part N is on the disk, and its chaining value |
//!
//! VERSION is a hash of the source's size and time of modification, by which a plan knows it, and
//! of the length of the parts, so that parts of two versions, or of two ways to cut one, never
//! meet. Another mode, owner or name of the source makes no other version: parts that other copies
//! have brought already would wait for the rest for good. Journals have the random number in their
//! headers: none counts for a temporary file that was made anew. Copies hold the temporary
//! file with a shared lock. The first one makes it, and the last one names it, under an exclusive
//! lock; which one is last, each finds out after its own part is on the disk.

use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::thread;
use std::time::{Duration, Instant};

use copy_protocol::{Problem, ProblemKind};
use nix::errno::Errno;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::{Mode, fstat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use super::journal::{HEADER, Header, NOTE};
use super::temporary::{
    At, JOURNAL, PART, beside, held, in_the_way, is_ours, open_or_create, told_busy,
};
use crate::problems::{problem, with_hint};

/// How long another copy may take to make or to name the file.
const LOCK_MAX: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);

/// Opens the temporary file with a shared lock, and makes it where it is not there. Returns its
/// random number, too.
pub(super) fn open(at: &At) -> Result<(File, u64), Problem> {
    if at.within().is_empty() {
        let what = format!(
            "`{}` has fewer bytes than when it was cut into parts",
            at.shown
        );
        let refused = problem(ProblemKind::SourceChanged, what);
        return Err(with_hint(
            refused,
            "plan again: the next plan has it as it is then",
        ));
    }
    wait(|| try_open(at))?.ok_or_else(|| told_busy(at, ""))
}

/// Asks again until there is an answer; `None` where there is none for long.
pub(super) fn wait<T>(
    mut ask: impl FnMut() -> Result<Option<T>, Problem>,
) -> Result<Option<T>, Problem> {
    let until = Instant::now() + LOCK_MAX;
    loop {
        match ask()? {
            None if Instant::now() < until => thread::sleep(PAUSE),
            answer => return Ok(answer),
        }
    }
}

/// `None` while another copy makes or names it.
fn try_open(at: &At) -> Result<Option<(File, u64)>, Problem> {
    let Some((file, _)) = open_or_create(at, true)? else {
        return Ok(None);
    };
    let file = file.ok_or_else(|| in_the_way(at, None))?;
    if !is_locked(at, file.try_lock_shared())? {
        return Ok(None);
    }
    let failed = |error: io::Error| at.failed("create a temporary file for", error);
    let stat = fstat(&file).map_err(|errno| failed(errno.into()))?;
    if !at.is_at(PART, &stat) {
        return Ok(None);
    }
    if !is_ours(&at.folder, &stat) {
        return Err(in_the_way(at, Some(stat.st_uid)));
    }
    if let Some(number) = number(at, &file) {
        return Ok(Some((file, number)));
    }
    file.unlock().map_err(failed)?;
    // Others may have made it meanwhile, or even named it.
    let is_alone = is_locked(at, file.try_lock())? && at.is_at(PART, &stat);
    if is_alone && number(at, &file).is_none() {
        make(at, &file).map_err(failed)?;
    }
    // The next look takes the shared lock.
    Ok(None)
}

pub(super) fn is_locked(at: &At, tried: Result<(), TryLockError>) -> Result<bool, Problem> {
    match tried {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(at.failed("lock", error)),
    }
}

/// The random number of a temporary file that was made to its end.
fn number(at: &At, file: &File) -> Option<u64> {
    let is_made = file.metadata().ok()?.len() == at.size;
    let bytes = read_small(at, "-id").filter(|_| is_made)?;
    let header = Header::decode(&bytes)?;
    let is_its = header.size == at.size && header.modified_nanoseconds == at.modified_nanoseconds;
    is_its.then_some(header.version)
}

/// Its number is on the disk before it has its length, so that the number of an older one never
/// counts for it.
fn make(at: &At, file: &File) -> io::Result<()> {
    file.set_len(0)?;
    file.sync_all()?;
    let header = Header {
        size: at.size,
        modified_nanoseconds: at.modified_nanoseconds,
        version: RandomState::new().hash_one(std::process::id()),
    };
    write_small(at, "-id", &header.encode())?;
    file.set_len(at.size)
}

/// The journal of this part, locked: no other copy is at the same part.
pub(super) fn open_journal(at: &At) -> Result<File, Problem> {
    let failed = |error: io::Error| at.failed("write the journal of", error);
    let file = create(at, &at.beside(JOURNAL)).map_err(failed)?;
    if !is_locked(at, file.try_lock())? {
        return Err(held(at, &file));
    }
    let stat = fstat(&file).map_err(|errno| failed(errno.into()))?;
    match is_ours(&at.folder, &stat) && at.is_at(JOURNAL, &stat) {
        true => Ok(file),
        false => Err(told_busy(at, "")),
    }
}

fn create(at: &At, name: &[u8]) -> io::Result<File> {
    let flags = OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let mode = Mode::S_IRUSR | Mode::S_IWUSR;
    let flags = flags | OFlag::O_CLOEXEC;
    Ok(File::from(openat(
        &at.folder,
        OsStr::from_bytes(name),
        flags,
        mode,
    )?))
}

/// Writes a small file beside it, to the disk.
pub(super) fn write_small(at: &At, what: &str, bytes: &[u8]) -> io::Result<()> {
    let mut file = create(at, &beside(&at.of_parts(what), JOURNAL))?;
    if !is_ours(&at.folder, &fstat(&file)?) {
        return Err(Errno::EPERM.into());
    }
    file.set_len(0)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Reads one; `None` where it is not there, or not this user's.
pub(super) fn read_small(at: &At, what: &str) -> Option<Vec<u8>> {
    let name = beside(&at.of_parts(what), JOURNAL);
    let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let file = openat(&at.folder, OsStr::from_bytes(&name), flags, Mode::empty());
    let file = File::from(file.ok()?);
    let mut bytes = Vec::new();
    let is_ours = is_ours(&at.folder, &fstat(&file).ok()?);
    let most = (HEADER + NOTE) as u64;
    file.take(most).read_to_end(&mut bytes).ok()?;
    is_ours.then_some(bytes)
}

/// What could not be removed is told as a leftover by the next copy of the folder.
pub(super) fn remove_small(at: &At, what: &str) {
    let name = beside(&at.of_parts(what), JOURNAL);
    let _ = unlinkat(
        &at.folder,
        OsStr::from_bytes(&name),
        UnlinkatFlags::NoRemoveDir,
    );
}
