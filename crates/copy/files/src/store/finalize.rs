//! Finalises a file: metadata, flush, final name.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::thread;

use copy_protocol::{Attributes, Filter, HASH_LENGTH, Problem, ProblemKind};
use nix::errno::Errno;
use nix::fcntl::{AtFlags, PosixFadviseAdvice, posix_fadvise, renameat};
use nix::sys::stat::{Mode, fchmod, fstat, fstatat, futimens};
use nix::sys::time::TimeSpec;
use nix::unistd::{fsync, syncfs};
use rustix::fs::{RenameFlags, renameat_with};

use super::part::Part;
use super::temporary::{At, JOURNAL, PART};
use crate::holes::is_hole;
use crate::problems::{problem, shown, with_hint};

/// From so many files or folders on, the whole file system is flushed at once instead of each of
/// them. That costs one flush of the disk, and the time to write whatever else is waiting to be
/// written, of other programs too; so it has to be worth many single ones.
pub(super) const TOGETHER_MIN: usize = 512;
/// Files that are flushed at the same time. A file system that has a log writes it once for all who
/// wait.
const AT_ONCE: usize = 32;
/// Bytes that are read at once when a file is read again.
const READ_LENGTH: usize = 1 << 20;

/// Mode and times, as the last thing before it is flushed.
pub(super) fn set_attributes(part: &Part, attributes: &Attributes) -> Result<(), Problem> {
    let dressed = || {
        match part.at.is_exact {
            true => fchmod(&part.file, Mode::from_bits_truncate(part.at.mode))?,
            false => allow_writing(part)?,
        }
        if attributes.times {
            let modified = time_of(part.at.modified_nanoseconds);
            futimens(&part.file, &TimeSpec::UTIME_OMIT, &modified)?;
        }
        Ok(())
    };
    dressed().map_err(|errno: Errno| part.at.failed("set mode and time of", errno))
}

/// Others may write to a new file where its source and the user's mask say so; while it arrived
/// they might not.
fn allow_writing(part: &Part) -> nix::Result<()> {
    let wanted = part.at.mode & 0o022 & !umask();
    if wanted == 0 {
        return Ok(());
    }
    let mode = fstat(&part.file)?.st_mode & 0o777;
    fchmod(&part.file, Mode::from_bits_truncate(mode | wanted))
}

/// Bits that new files of this process do not get (proc_pid_status(5)); those that are usual where
/// the kernel does not say.
pub(super) fn umask() -> u32 {
    static MASK: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *MASK.get_or_init(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mut lines = status.lines();
        let mask = lines.find_map(|line| line.strip_prefix("Umask:"));
        let mask = mask.and_then(|digits| u32::from_str_radix(digits.trim(), 8).ok());
        mask.unwrap_or(0o022)
    })
}

/// Reads all of it again, from the disk and not from memory, and compares.
pub(super) fn verify(part: &Part, digest: &[u8; HASH_LENGTH]) -> Result<(), Problem> {
    let read = || {
        fsync(&part.file)?;
        posix_fadvise(&part.file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?;
        hash(part)
    };
    if read().map_err(|error| part.at.failed("read again", error))? == *digest {
        return Ok(());
    }
    let what = format!(
        "`{}` reads back from the disk as something else",
        part.at.shown
    );
    let hint = "the disk or memory of the receiving host may be failing; copy it again";
    Err(with_hint(problem(ProblemKind::Corrupt, what), hint))
}

fn hash(part: &Part) -> io::Result<[u8; HASH_LENGTH]> {
    let mut hasher = blake3::Hasher::new();
    let mut bytes = vec![0; READ_LENGTH];
    let mut offset = 0;
    loop {
        let next = offset + READ_LENGTH as u64;
        if next <= part.at.size && part.at.is_sparse && is_hole(&part.file, &(offset..next)) {
            bytes.fill(0);
            hasher.update(&bytes);
            offset = next;
            continue;
        }
        match part.file.read_at(&mut bytes, offset) {
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

/// Flushes the files, gives them their names by `name` and flushes their folders. One outcome for
/// each, in order.
pub(super) fn publish(
    parts: &[Arc<Part>],
    name: impl Fn(&Part) -> Result<(), Problem>,
) -> Vec<Result<(), Problem>> {
    let mut outcomes = flush(parts, |part| part.file.as_fd());
    let mut folders: BTreeMap<(u64, u64), Arc<Part>> = BTreeMap::new();
    for (part, outcome) in parts.iter().zip(&mut outcomes) {
        if outcome.is_ok() {
            *outcome = name(part);
            folders
                .entry(folder_of(part))
                .or_insert_with(|| Arc::clone(part));
        }
    }
    let (folders, one_of_each): (Vec<_>, Vec<_>) = folders.into_iter().unzip();
    let flushed = flush(&one_of_each, |part| part.at.folder.as_fd());
    let flushed: BTreeMap<_, _> = folders.into_iter().zip(flushed).collect();
    for (part, outcome) in parts.iter().zip(&mut outcomes) {
        if let (Ok(()), Some(Err(trouble))) = (&outcome, flushed.get(&folder_of(part))) {
            *outcome = Err(trouble.clone());
        }
    }
    outcomes
}

fn folder_of(part: &Part) -> (u64, u64) {
    let stat = fstat(&part.at.folder);
    stat.map_or((0, 0), |stat| (stat.st_dev, stat.st_ino))
}

/// Flushes each, many at the same time. One outcome for each, in order.
pub(super) fn fsync_all<T: Sync>(
    all: &[T],
    of: impl Fn(&T) -> BorrowedFd<'_> + Sync,
) -> Vec<nix::Result<()>> {
    let mut outcomes = vec![Ok(()); all.len()];
    let share = all.len().div_ceil(AT_ONCE).max(1);
    let flush = |all: &[T], outcomes: &mut [nix::Result<()>]| {
        for (one, outcome) in all.iter().zip(outcomes) {
            *outcome = fsync(of(one));
        }
    };
    if all.len() < 2 {
        flush(all, &mut outcomes);
        return outcomes;
    }
    thread::scope(|scope| {
        for (all, outcomes) in all.chunks(share).zip(outcomes.chunks_mut(share)) {
            scope.spawn(move || flush(all, outcomes));
        }
    });
    outcomes
}

/// Flushes something of each.
fn flush(
    parts: &[Arc<Part>],
    of: impl Fn(&Part) -> BorrowedFd<'_> + Sync,
) -> Vec<Result<(), Problem>> {
    if parts.len() < TOGETHER_MIN {
        let flushed = fsync_all(parts, |part| of(part));
        let told = parts.iter().zip(flushed);
        let told = told.map(|(part, it)| it.map_err(|errno| part.at.failed("write", errno)));
        return told.collect();
    }
    let device = |part: &Part| fstat(of(part)).map(|stat| stat.st_dev);
    let mut whole: BTreeMap<u64, bool> = BTreeMap::new();
    for part in parts {
        if let Ok(device) = device(part) {
            whole
                .entry(device)
                .or_insert_with(|| syncfs(of(part)).is_ok());
        }
    }
    let flush = |part: &Arc<Part>| {
        let is_flushed = |device| whole.get(&device).copied();
        let is_done = device(part).ok().and_then(is_flushed) == Some(true);
        match is_done {
            true => Ok(()),
            false => fsync(of(part)).map_err(|errno| part.at.failed("write", errno)),
        }
    };
    parts.iter().map(flush).collect()
}

/// Renames within a folder unless the new name exists. nix has this call for glibc alone.
fn rename_to_new(folder: &impl AsFd, from: &OsStr, to: &OsStr) -> Result<(), Errno> {
    let renamed = renameat_with(folder, from, folder, to, RenameFlags::NOREPLACE);
    renamed.map_err(|error| Errno::from_raw(error.raw_os_error()))
}

pub(super) fn rename(part: &Part, filter: Filter) -> Result<(), Problem> {
    let at = &part.at;
    let temporary = at.beside(PART);
    if !part.is_there() {
        return Err(moved(part));
    }
    let (from, to) = (OsStr::from_bytes(&temporary), OsStr::from_bytes(&at.last));
    let folder = &at.folder;
    let renamed = match filter {
        Filter::Missing => match rename_to_new(folder, from, to) {
            // Not every file system has this; what came there meanwhile is then looked for.
            Err(Errno::EINVAL | Errno::ENOSYS) => {
                match fstatat(folder, to, AtFlags::AT_SYMLINK_NOFOLLOW) {
                    Err(Errno::ENOENT) => renameat(folder, from, folder, to),
                    _ => Err(Errno::EEXIST),
                }
            }
            other => other,
        },
        Filter::All | Filter::Changed | Filter::Content => renameat(folder, from, folder, to),
    };
    match renamed {
        Ok(()) => {}
        Err(Errno::EEXIST) => {
            at.remove(PART);
            at.remove(JOURNAL);
            return Err(taken(at));
        }
        Err(errno) => return Err(at.failed("give the final name to", errno)),
    }
    match part.has_journal().then(|| at.unlink(JOURNAL)) {
        None | Some(Ok(()) | Err(Errno::ENOENT)) => Ok(()),
        Some(Err(errno)) => {
            let trouble = at.failed("remove the journal of", errno);
            let hint = "the file itself is whole; the same command removes what is left beside it";
            Err(with_hint(trouble, hint))
        }
    }
}

/// Its temporary name stands for something else.
pub(super) fn moved(part: &Part) -> Problem {
    let what = format!(
        "`{}` is not the file any more that this copy wrote for `{}`",
        shown(&part.at.beside(PART)),
        part.at.shown
    );
    let hint = "some other program moves files in that folder; copy it again once that is done";
    with_hint(problem(ProblemKind::Busy, what), hint)
}

/// What came to the name meanwhile stays, as it was asked for; it is not what was copied.
fn taken(at: &At) -> Problem {
    let what = format!(
        "`{}` came there from elsewhere while it was copied, and stays as it is",
        at.shown
    );
    let hint = "with `--ignore-existing` the same command skips it; without, it is replaced";
    with_hint(problem(ProblemKind::Busy, what), hint)
}

/// For the calls that set times.
pub(super) fn time_of(nanoseconds: i64) -> TimeSpec {
    let seconds = nanoseconds.div_euclid(1_000_000_000);
    TimeSpec::new(seconds, nanoseconds.rem_euclid(1_000_000_000))
}
