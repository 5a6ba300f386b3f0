//! Owners, attributes, ACLs, times of access and further names of entries.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use copy_protocol::{ACL_ACCESS, Entry, FileId, Inode, Kept, Problem, ProblemKind, Shared};
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, renameat};
use nix::sys::stat::{
    FchmodatFlags, FileStat, Mode, SFlag, UtimensatFlags, fchmod, fchmodat, fstat, fstatat,
    futimens, utimensat,
};
use nix::sys::time::TimeSpec;
use nix::unistd::{Gid, Uid, UnlinkatFlags, fchownat, linkat, unlinkat};

use super::super::temporary::{At, LINK, beside};
use super::super::{EntryPlan, StoreSpec};
use super::plan_entry::{has_access_time, has_time, in_the_way, kind_of};
use super::target::Target;
use super::{Destination, look};
use crate::inodes::{apply, may_give_away, takes};
use crate::problems::{failed, problem, with_hint};
use crate::root::open_below;
use crate::store::finalize::time_of;

/// Bytes of attributes of folders that are kept until the end.
const FOLDERS_MAX: usize = 64 << 20;

impl Destination {
    /// Refuses by name what cannot be kept here.
    pub fn check_kept(&self, kept: Kept) -> Result<(), Problem> {
        let refused =
            |what: String, hint: &str| Err(with_hint(problem(ProblemKind::Request, what), hint));
        if !self.root.is_own() && (kept.acls || kept.owners.is_some()) {
            let what = "a server keeps no owners and no ACLs of what others put there";
            return refused(
                what.to_owned(),
                "copy over ssh, or leave out `--owner` and `--acls`",
            );
        }
        if kept.owners.is_some() && !may_give_away() {
            let what = format!(
                "only root may give files to others, and `{}` is written by another user",
                self.shown
            );
            return refused(what, "receive as root, or leave out `--owner`");
        }
        let state = self.state();
        let folder = match &state.target {
            Target::Folder(folder) => Some(folder),
            Target::File { parent, .. } | Target::New { parent, .. } => Some(parent),
            Target::Nowhere => None,
        };
        let Some(folder) = folder else {
            return Ok(());
        };
        let lacks = |name: &[u8]| !takes(folder, name);
        let lacking = match (kept.user_attributes, kept.acls) {
            (true, _) if lacks(b"user.trunkline") => "extended attributes of users (`--xattrs`)",
            (_, true) if lacks(ACL_ACCESS) => "ACLs (`--acls`)",
            _ => return Ok(()),
        };
        let what = format!("the file system of `{}` has no {lacking}", self.shown);
        refused(what, "leave the option out, or choose another destination")
    }

    /// What else belongs to entries that come next.
    pub fn take_inodes(&self, inodes: Vec<Inode>) {
        let all = inodes.into_iter().map(|inode| (inode.file, inode));
        self.state().inodes.extend(all);
    }

    /// Nothing else is kept of this entry.
    pub fn forget_inode(&self, file: FileId) {
        self.state().inodes.remove(&file);
    }

    /// Which of several names of a file an entry is.
    pub fn shared(&self, file: FileId) -> Option<Shared> {
        self.state()
            .inodes
            .get(&file)
            .and_then(|inode| inode.shared)
    }

    /// A further name of a file: it is that already, or is to be made at the end.
    pub fn plan_further_name(
        &self,
        file: FileId,
        entry: &Entry,
        first: FileId,
    ) -> Result<EntryPlan, Problem> {
        let name = self.shown_below(entry.name.as_bytes());
        let mut state = self.state();
        state.inodes.remove(&file);
        let (folder, last) = match state.folder_of_file(file) {
            Ok(place) => place,
            // In a dry run the folder was not made.
            Err(_) => return Ok(EntryPlan::Made),
        };
        let there = look(&folder, &last).map_err(|error| failed("write", &name, &error))?;
        let Some(there) = there else {
            return Ok(EntryPlan::Made);
        };
        if !matches!(kind_of(&there), SFlag::S_IFREG | SFlag::S_IFLNK) {
            return Err(in_the_way(&name, &there, "a file"));
        }
        let first = state.folder_of_file(first);
        let first = first.and_then(|(folder, last)| look(&folder, &last));
        let is_it =
            first.is_ok_and(|first| first.is_some_and(|first| is_same_file(&first, &there)));
        Ok(match is_it {
            true => EntryPlan::Present,
            false => EntryPlan::Made,
        })
    }

    /// Why a further name is not made: `first` was not copied.
    pub fn without_first(&self, file: FileId, first: FileId) -> Problem {
        let state = self.state();
        let shown = |id| self.shown_below(&state.names.get(id).unwrap_or_default());
        let what = format!(
            "`{}` is the same file as `{}`, which was not copied",
            shown(file),
            shown(first)
        );
        let hint = "once the reason is gone, the same command makes it";
        with_hint(problem(ProblemKind::Follows, what), hint)
    }

    /// Makes a further name of the file that `first` has become. What has that name by now has to
    /// be what was copied.
    ///
    /// * `times`: the time of the file was kept.
    pub fn make_further_name(
        &self,
        file: FileId,
        first: FileId,
        times: bool,
    ) -> Result<(), Problem> {
        let mut state = self.state();
        let name = state.names.get(file).unwrap_or_default();
        let wrong = |error: io::Error| failed("link", self.shown_below(&name), &error);
        let from = state.names.get(first).unwrap_or_default();
        let (from_folder, from_last) = state.folder_of_file(first).map_err(wrong)?;
        let (folder, last) = state.folder_of_file(file).map_err(wrong)?;
        let is_as_told = |stat: &FileStat| match state.records.get(first as usize) {
            Some(record) => match kind_of(stat) {
                SFlag::S_IFREG => {
                    let is_size = u64::try_from(stat.st_size) == Ok(record.size);
                    is_size && (!times || has_time(stat, record.modified_nanoseconds))
                }
                kind => kind == SFlag::S_IFLNK,
            },
            None => false,
        };
        let there = look(&from_folder, &from_last).map_err(wrong)?;
        let Some(there) = there.filter(is_as_told) else {
            let what = format!(
                "`{}` is the same file as `{}`, which was replaced meanwhile",
                self.shown_below(&name),
                self.shown_below(&from)
            );
            let hint = "once the reason is gone, the same command makes it";
            return Err(with_hint(problem(ProblemKind::Follows, what), hint));
        };
        if look(&folder, &last)
            .map_err(wrong)?
            .is_some_and(|now| is_same_file(&now, &there))
        {
            return Ok(());
        }
        let temporary = beside(&last, LINK);
        let (between, to) = (OsStr::from_bytes(&temporary), OsStr::from_bytes(&last));
        let remove = || unlinkat(&folder, between, UnlinkatFlags::NoRemoveDir);
        match remove() {
            Ok(()) | Err(Errno::ENOENT) => {}
            Err(errno) => return Err(wrong(errno.into())),
        }
        let source = OsStr::from_bytes(&from_last);
        let linked = linkat(&from_folder, source, &folder, between, AtFlags::empty());
        linked.map_err(|errno| wrong(errno.into()))?;
        let is_it = fstatat(&folder, between, AtFlags::AT_SYMLINK_NOFOLLOW);
        let named = match is_it {
            Ok(stat) if is_same_file(&stat, &there) => renameat(&folder, between, &folder, to),
            Ok(_) => Err(Errno::EBUSY),
            Err(errno) => Err(errno),
        };
        named.map_err(|errno| {
            let _ = remove();
            wrong(errno.into())
        })
    }

    /// Sets owner, attributes, ACLs and the time of access of what is open, and forgets them.
    pub fn set_inode(&self, file: FileId, fd: &impl AsFd, kept: Kept) -> io::Result<()> {
        if !kept.changes_inodes() {
            self.forget_inode(file);
            return Ok(());
        }
        let (inode, owner) = self.take_inode(file);
        apply(fd, &inode, owner, kept)?;
        match inode.accessed_nanoseconds {
            Some(accessed) if !has_access_time(&fstat(fd)?, accessed) => {
                Ok(futimens(fd, &time_of(accessed), &TimeSpec::UTIME_OMIT)?)
            }
            _ => Ok(()),
        }
    }

    /// The content is there already; owner, attributes and ACLs may not be right, nor the mode
    /// after them.
    pub fn set_inode_of_present(&self, file: FileId, spec: &StoreSpec) -> Result<(), Problem> {
        let at = self.at(file)?;
        let set = open_present(&at).and_then(|(fd, before)| {
            let set = self.set_inode(file, &fd, spec.attributes.kept);
            let mode = match spec.attributes.permissions && set.is_ok() {
                true => Some(at.mode),
                false => before,
            };
            if let Some(mode) = mode {
                fchmod(&fd, Mode::from_bits_truncate(mode))?;
            }
            set
        });
        set.map_err(|error| at.failed("set owner and attributes of", error))
    }

    /// Sets owner and time of access of a link.
    pub fn set_link_inode(&self, file: FileId, kept: Kept) -> Result<(), Problem> {
        let (inode, owner) = self.take_inode(file);
        let owner = owner.filter(|_| kept.owners.is_some());
        let accessed = inode.accessed_nanoseconds.map(time_of);
        if owner.is_none() && accessed.is_none() {
            return Ok(());
        }
        let mut state = self.state();
        let name = state.names.get(file).unwrap_or_default();
        let set = state.folder_of_file(file).and_then(|(folder, last)| {
            let last = OsStr::from_bytes(&last);
            if let Some((user, group)) = owner {
                let flags = AtFlags::AT_SYMLINK_NOFOLLOW;
                fchownat(&folder, last, Some(user), Some(group), flags)?;
            }
            if let Some(accessed) = accessed {
                let flags = UtimensatFlags::NoFollowSymlink;
                utimensat(&folder, last, &accessed, &TimeSpec::UTIME_OMIT, flags)?;
            }
            Ok(())
        });
        let name = self.shown_below(&name);
        set.map_err(|error| failed("set owner and time of access of", name, &error))
    }

    /// A folder's are kept until the end, in bounded memory.
    pub fn keep_inode_of_folder(&self, file: FileId) -> Result<(), Problem> {
        let mut state = self.state();
        let bytes = state.inodes.get(&file).map_or(0, Inode::bytes);
        state.folder_bytes += bytes;
        if state.folder_bytes <= FOLDERS_MAX {
            return Ok(());
        }
        state.inodes.remove(&file);
        let what = format!("the attributes of all folders take more than {FOLDERS_MAX} bytes");
        let hint = "copy the folders one after the other";
        Err(with_hint(problem(ProblemKind::Request, what), hint))
    }

    fn take_inode(&self, file: FileId) -> (Inode, Option<(Uid, Gid)>) {
        let mut state = self.state();
        let inode = state.inodes.remove(&file);
        let inode = inode.unwrap_or_else(|| Inode::of(file));
        let owner = inode.owner.as_ref();
        let owner = owner.map(|owner| state.owner_numbers.local(owner));
        (inode, owner)
    }
}

/// Opens a file that is there, even one that its own owner may not read. The mode that it had comes
/// with it where it had to be changed for that.
fn open_present(at: &At) -> io::Result<(OwnedFd, Option<u32>)> {
    let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let open = || open_below(at.folder.as_fd(), &at.last, flags, Mode::empty());
    match open() {
        Err(error) if error.raw_os_error() == Some(Errno::EACCES as i32) => {}
        opened => return Ok((opened?, None)),
    }
    let last = OsStr::from_bytes(&at.last);
    let stat = fstatat(&at.folder, last, AtFlags::AT_SYMLINK_NOFOLLOW)?;
    let before = stat.st_mode & 0o7777;
    let set = |mode| {
        let mode = Mode::from_bits_truncate(mode);
        fchmodat(&at.folder, last, mode, FchmodatFlags::NoFollowSymlink)
    };
    set(before | 0o600)?;
    match open() {
        Ok(fd) => Ok((fd, Some(before))),
        Err(error) => {
            set(before)?;
            Err(error)
        }
    }
}

fn is_same_file(one: &FileStat, other: &FileStat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}
