//! Plans what an entry needs, given what is at the destination.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use copy_protocol::{Entry, FileId, Filter, Kind, Problem, ProblemKind};
use nix::errno::Errno;
use nix::fcntl::{readlinkat, renameat};
use nix::sys::stat::{
    FchmodatFlags, FileStat, Mode, SFlag, UtimensatFlags, fchmodat, mkdirat, utimensat,
};
use nix::sys::time::TimeSpec;
use nix::unistd::{UnlinkatFlags, symlinkat, unlinkat};

use super::super::temporary::{LINK, TRIES_MAX, beside};
use super::super::{EntryPlan, StoreSpec};
use super::{Destination, Record, look};
use crate::problems::{failed, problem, shown, with_hint};
use crate::store::finalize::time_of;

impl Destination {
    /// What the entry needs; folders and links are made.
    ///
    /// * `is_equal`: its very content is there.
    pub fn plan_entry(
        &self,
        file: FileId,
        entry: &Entry,
        spec: &StoreSpec,
        is_equal: bool,
    ) -> Result<EntryPlan, Problem> {
        let is_folder = entry.kind == Kind::Folder;
        self.state()
            .target
            .decide(is_folder, spec)
            .map_err(|refusal| refusal.told(&self.shown))?;
        match &entry.kind {
            Kind::Folder => {
                let plan = self.make_folder(entry, spec)?;
                self.keep_inode_of_folder(file)?;
                // One that is not there needs no mode and time at the end.
                self.state().folders.push(file);
                Ok(plan)
            }
            Kind::Link(_) if !self.takes_links => {
                Err(no_links(&self.shown_below(entry.name.as_bytes())))
            }
            Kind::Link(text) => {
                let plan = self.make_link(file, entry, text, spec)?;
                if !spec.dry_run && spec.filter != Filter::Missing {
                    self.set_link_inode(file, spec.attributes.kept)?;
                }
                Ok(plan)
            }
            Kind::File(size) => {
                let plan = self.plan_file(file, entry, *size, spec, is_equal)?;
                let is_there = matches!(plan, EntryPlan::Present);
                // Without the right to read a file nothing of it is changed.
                let stays = is_there && spec.filter != Filter::Missing && self.root.may_read();
                if stays && !spec.dry_run && spec.attributes.kept.changes_inodes() {
                    self.set_inode_of_present(file, spec)?;
                }
                Ok(plan)
            }
        }
    }

    fn make_folder(&self, entry: &Entry, spec: &StoreSpec) -> Result<EntryPlan, Problem> {
        let name = entry.name.as_bytes();
        if name.is_empty() {
            return Ok(EntryPlan::Present);
        }
        let mut state = self.state();
        let (folder, last) = match state.folder_of(name) {
            Ok(destination) => destination,
            Err(_) if spec.dry_run => return Ok(EntryPlan::Made),
            Err(error) => return Err(failed("make", self.shown_below(name), &error)),
        };
        let wrong = |error: io::Error| failed("make", self.shown_below(name), &error);
        let look = || look(&folder, &last).map_err(wrong);
        let mode = Mode::from_bits_truncate(entry.mode & 0o777 | 0o700);
        let there = match look()? {
            None if spec.dry_run => return Ok(EntryPlan::Made),
            None => match mkdirat(&folder, OsStr::from_bytes(&last), mode) {
                Ok(()) => return Ok(EntryPlan::Made),
                // Another copy was faster.
                Err(Errno::EEXIST) => look()?,
                Err(errno) => return Err(wrong(errno.into())),
            },
            there => there,
        };
        match there.filter(|stat| !is_folder(stat)) {
            Some(stat) => Err(in_the_way(&self.shown_below(name), &stat, "a folder")),
            None => Ok(EntryPlan::Present),
        }
    }

    fn make_link(
        &self,
        file: FileId,
        entry: &Entry,
        text: &[u8],
        spec: &StoreSpec,
    ) -> Result<EntryPlan, Problem> {
        let name = self.shown_below(entry.name.as_bytes());
        let (folder, last) = match self.state().folder_of_file(file) {
            Ok(destination) => destination,
            Err(_) if spec.dry_run => return Ok(EntryPlan::Made),
            Err(error) => return Err(failed("make", name, &error)),
        };
        match look(&folder, &last).map_err(|error| failed("make", &name, &error))? {
            None => {}
            Some(stat) => match kind_of(&stat) {
                SFlag::S_IFREG | SFlag::S_IFLNK if spec.filter == Filter::Missing => {
                    return Ok(EntryPlan::Present);
                }
                SFlag::S_IFLNK => {
                    if spec.filter != Filter::All && says(&folder, &last, text) {
                        self.keep_time_of_link(&folder, &last, &stat, entry, spec);
                        return Ok(EntryPlan::Present);
                    }
                }
                SFlag::S_IFREG => {}
                _ => return Err(in_the_way(&name, &stat, "a link")),
            },
        }
        if spec.dry_run {
            return Ok(EntryPlan::Made);
        }
        let modified = spec.attributes.times.then_some(entry.modified_nanoseconds);
        let made = link(&folder, &last, text, modified);
        made.map_err(|error| failed("make", name, &error))?;
        Ok(EntryPlan::Made)
    }

    /// A copy that was killed may have left it without its time. One of another user keeps its own.
    fn keep_time_of_link(
        &self,
        folder: &OwnedFd,
        last: &[u8],
        stat: &FileStat,
        entry: &Entry,
        spec: &StoreSpec,
    ) {
        let may_set = spec.attributes.times && self.root.may_read() && !spec.dry_run;
        if may_set && !has_time(stat, entry.modified_nanoseconds) {
            let _ = set_time(folder, last, entry.modified_nanoseconds);
        }
    }

    fn plan_file(
        &self,
        file: FileId,
        entry: &Entry,
        size: u64,
        spec: &StoreSpec,
        is_equal: bool,
    ) -> Result<EntryPlan, Problem> {
        let name = self.shown_below(entry.name.as_bytes());
        let mut state = self.state();
        let (folder, last) = match state.folder_of_file(file) {
            Ok(destination) => destination,
            Err(_) if spec.dry_run => return Ok(EntryPlan::Whole),
            Err(error) => return Err(failed("write", name, &error)),
        };
        let there = look(&folder, &last).map_err(|error| failed("write", &name, &error))?;
        let record = &mut state.records[file as usize];
        record.is_exact = spec.attributes.permissions;
        let Some(stat) = there else {
            return Ok(EntryPlan::Whole);
        };
        match (kind_of(&stat), spec.filter) {
            (SFlag::S_IFREG | SFlag::S_IFLNK, Filter::Missing) => return Ok(EntryPlan::Present),
            (SFlag::S_IFREG, Filter::Changed) if is_same(&stat, size, entry) => {
                return self.keep(&folder, &last, &stat, record, spec);
            }
            (SFlag::S_IFREG, Filter::Content) if is_equal => {
                return self.keep(&folder, &last, &stat, record, spec);
            }
            (SFlag::S_IFREG, _) => {}
            (SFlag::S_IFLNK, _) => return Ok(EntryPlan::Whole),
            _ => return Err(in_the_way(&name, &stat, "a file")),
        }
        if !spec.attributes.permissions {
            // As with any program that writes to a file that is there.
            record.mode = stat.st_mode & 0o777;
            record.is_exact = true;
        }
        Ok(EntryPlan::Whole)
    }

    /// The content is there already; the mode may not be right.
    fn keep(
        &self,
        folder: &OwnedFd,
        last: &[u8],
        stat: &FileStat,
        record: &Record,
        spec: &StoreSpec,
    ) -> Result<EntryPlan, Problem> {
        // Without the right to read a file its mode is not changed.
        let may_set = record.is_exact && self.root.may_read();
        // Set-id bits come last, once the owner is the right one.
        let mode = record.mode & 0o777;
        let is_wrong = may_set && stat.st_mode & 0o777 != mode;
        if is_wrong && !spec.dry_run {
            let mode = Mode::from_bits_truncate(mode);
            let last = OsStr::from_bytes(last);
            let set = fchmodat(folder, last, mode, FchmodatFlags::NoFollowSymlink);
            set.map_err(|errno| failed("set the mode of", shown(last.as_bytes()), &errno.into()))?;
        }
        let has_other_time = !has_time(stat, record.modified_nanoseconds);
        if spec.attributes.times && self.root.may_read() && has_other_time && !spec.dry_run {
            set_time(folder, last, record.modified_nanoseconds)
                .map_err(|errno| failed("set the time of", shown(last), &errno.into()))?;
        }
        Ok(EntryPlan::Present)
    }
}

fn set_time(folder: &OwnedFd, last: &[u8], modified: i64) -> nix::Result<()> {
    let (then, stay) = (time_of(modified), TimeSpec::UTIME_OMIT);
    let last = OsStr::from_bytes(last);
    utimensat(folder, last, &stay, &then, UtimensatFlags::NoFollowSymlink)
}

/// Makes a link that says `text`, in place of what is there. Another copy may make the same one at
/// the same time: whichever gives it its name, it is there.
fn link(folder: &OwnedFd, last: &[u8], text: &[u8], modified: Option<i64>) -> io::Result<()> {
    let beside = beside(last, LINK);
    match unlinkat(
        folder,
        OsStr::from_bytes(&beside),
        UnlinkatFlags::NoRemoveDir,
    ) {
        Ok(()) | Err(Errno::ENOENT) => {}
        Err(errno) => return Err(errno.into()),
    }
    let mut lost = Errno::EEXIST;
    for _ in 0..TRIES_MAX {
        match try_link(folder, &beside, last, text, modified) {
            Err(Errno::ENOENT | Errno::EEXIST) if says(folder, last, text) => {
                // It may have got its name before its time.
                let set = modified.map(|modified| set_time(folder, last, modified));
                return Ok(set.transpose().map(|_| ())?);
            }
            Err(errno @ (Errno::ENOENT | Errno::EEXIST)) => lost = errno,
            made => return Ok(made?),
        }
    }
    Err(lost.into())
}

/// Whether it is a link to there.
fn says(folder: &OwnedFd, last: &[u8], text: &[u8]) -> bool {
    let there = readlinkat(folder, OsStr::from_bytes(last));
    there.is_ok_and(|there| there.as_bytes() == text)
}

fn try_link(
    folder: &OwnedFd,
    beside: &[u8],
    last: &[u8],
    text: &[u8],
    modified: Option<i64>,
) -> nix::Result<()> {
    let (from, to) = (OsStr::from_bytes(beside), OsStr::from_bytes(last));
    match symlinkat(OsStr::from_bytes(text), folder, from) {
        Err(Errno::EEXIST) if says(folder, beside, text) => {}
        made => made?,
    }
    if let Some(modified) = modified {
        set_time(folder, beside, modified)?;
    }
    renameat(folder, from, folder, to)
}

/// Same size and time; a file system that keeps whole seconds has lost the rest.
fn is_same(stat: &FileStat, size: u64, entry: &Entry) -> bool {
    u64::try_from(stat.st_size) == Ok(size) && has_time(stat, entry.modified_nanoseconds)
}

pub(super) fn has_time(stat: &FileStat, wanted: i64) -> bool {
    is_time((stat.st_mtime, stat.st_mtime_nsec), wanted)
}

pub(super) fn has_access_time(stat: &FileStat, wanted: i64) -> bool {
    is_time((stat.st_atime, stat.st_atime_nsec), wanted)
}

fn is_time((seconds, rest): (i64, i64), wanted: i64) -> bool {
    const SECOND: i64 = 1_000_000_000;
    let is_same_second = seconds == wanted.div_euclid(SECOND);
    let is_same_rest = rest == wanted.rem_euclid(SECOND) || rest == 0;
    is_same_second && is_same_rest
}

/// Whether it is a regular file.
pub(super) fn is_regular(stat: &FileStat) -> bool {
    kind_of(stat) == SFlag::S_IFREG
}

/// Whether it is a folder.
pub(super) fn is_folder(stat: &FileStat) -> bool {
    kind_of(stat) == SFlag::S_IFDIR
}

pub(super) fn kind_of(stat: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT
}

fn no_links(name: &str) -> Problem {
    let what = format!("`{name}` is a link, and this server takes none (`--no-links`)");
    with_hint(
        problem(ProblemKind::Permission, what),
        "copy with `-L`, so that what the link points to is copied",
    )
}

pub(super) fn in_the_way(name: &str, stat: &FileStat, wanted: &str) -> Problem {
    let there = match kind_of(stat) {
        SFlag::S_IFDIR => "a folder",
        SFlag::S_IFLNK => "a link",
        SFlag::S_IFIFO => "a pipe",
        SFlag::S_IFSOCK => "a socket",
        SFlag::S_IFREG => "a file",
        _ => "a device",
    };
    let what = format!("`{name}` is {there}, and {wanted} should take its place");
    with_hint(
        problem(ProblemKind::Request, what),
        "move it away or choose another destination",
    )
}
