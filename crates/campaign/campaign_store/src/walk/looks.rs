//! What is in one folder.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use copy_protocol::Name;
use files::shown;
use nix::dir::Dir;
use nix::fcntl::{AtFlags, OFlag, openat, readlinkat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, fstatat};

use super::{Above, Folder, Worker};
use crate::clashes::{FoldedNames, clashing, hash};
use crate::line::{LeftOut, Reason};
use crate::{Entry, Kind, StoreError};

impl Worker<'_> {
    /// Lists a folder. What cannot be read of it is left out.
    pub(super) fn folder(&mut self, folder: Folder) -> Result<(), StoreError> {
        self.check_stop()?;
        let opened = self.open(&folder).and_then(|fd| {
            let stat = fstat(&fd)?;
            Ok((fd, stat))
        });
        match opened {
            Ok((fd, stat)) => self.listed(&folder, &fd, &stat),
            Err(error) if folder.name.is_empty() => {
                Err(StoreError::file("list", self.shared.tree.root)(error))
            }
            Err(error) => {
                self.leave_out(
                    &folder.name,
                    Reason::Unread,
                    format!("cannot list it: {error}"),
                );
                Ok(())
            }
        }
    }

    fn open(&self, folder: &Folder) -> io::Result<OwnedFd> {
        let name = match folder.name.as_slice() {
            b"" => OsStr::new("."),
            name => OsStr::from_bytes(name),
        };
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        Ok(openat(&self.shared.root, name, flags, Mode::empty())?)
    }

    fn listed(&mut self, folder: &Folder, fd: &OwnedFd, stat: &FileStat) -> Result<(), StoreError> {
        let id = (stat.st_dev, stat.st_ino);
        let mut above = folder.above.as_ref();
        while let Some(outer) = above {
            if outer.id == id {
                let what = "it leads back to a folder that it is in".to_owned();
                self.leave_out(&folder.name, Reason::Loop, what);
                return Ok(());
            }
            above = outer.above.as_ref();
        }
        let here = Arc::new(Above {
            id,
            above: folder.above.clone(),
        });
        let names = fd
            .as_fd()
            .try_clone_to_owned()
            .and_then(|fd| Ok(Dir::from_fd(fd)?));
        let mut dir = match names {
            Ok(dir) => dir,
            Err(error) => return self.cut(folder, &error),
        };
        let (mut kept, mut folded) = (0_u64, FoldedNames::default());
        for entry in dir.iter() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => return self.cut(folder, &error.into()),
            };
            let last = entry.file_name().to_bytes();
            if matches!(last, b"." | b"..") {
                continue;
            }
            if self.child(folder, fd, last, &here)? {
                kept += 1;
                folded.add(last);
            }
        }
        let repeated = folded.repeated();
        if !repeated.is_empty() {
            self.clashes(folder, fd, &repeated)?;
        }
        match kept == 0 && !folder.name.is_empty() {
            true => self.keep(folder.name.clone(), Kind::Folder, stat),
            false => Ok(()),
        }
    }

    /// A folder that could not be read to its end: what was found of it counts.
    fn cut(&mut self, folder: &Folder, error: &io::Error) -> Result<(), StoreError> {
        let what = format!("cannot list all of it: {error}");
        self.leave_out(&folder.name, Reason::Unread, what);
        Ok(())
    }

    /// Looks at one name of a folder. Returns whether it counts.
    fn child(
        &mut self,
        folder: &Folder,
        fd: &OwnedFd,
        last: &[u8],
        here: &Arc<Above>,
    ) -> Result<bool, StoreError> {
        let name = below(&folder.name, last);
        let stat = match fstatat(fd, OsStr::from_bytes(last), AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            // Removed since the folder was read: as if it had never been there.
            Err(nix::errno::Errno::ENOENT) => return Ok(false),
            Err(error) => {
                self.leave_out(
                    &name,
                    Reason::Unread,
                    format!("cannot look at it: {}", error.desc()),
                );
                return Ok(false);
            }
        };
        let kind = SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT;
        if self
            .shared
            .tree
            .rules
            .leave_out(&name, kind == SFlag::S_IFDIR)
        {
            return Ok(false);
        }
        if let Err(error) = Name::new(name.clone()) {
            self.leave_out(&name, Reason::Name, error.to_string());
            return Ok(false);
        }
        if copy_protocol::is_reserved(last) {
            let what = "it is a temporary file of a copy".to_owned();
            self.leave_out(&name, Reason::Temporary, what);
            return Ok(false);
        }
        self.counted(&stat, kind);
        match kind {
            SFlag::S_IFDIR => {
                let above = Some(Arc::clone(here));
                if let Some(folder) = self.shared.put(Folder { name, above }) {
                    self.folder(folder)?;
                }
            }
            SFlag::S_IFREG => {
                let size = u64::try_from(stat.st_size).unwrap_or(0);
                self.keep(name, Kind::File(size), &stat)?;
            }
            SFlag::S_IFLNK => match readlinkat(fd, OsStr::from_bytes(last)) {
                Ok(target) => self.keep(name, Kind::Link(target.as_bytes().to_vec()), &stat)?,
                Err(error) => {
                    let what = format!("cannot read the link: {}", error.desc());
                    self.leave_out(&name, Reason::Unread, what);
                    return Ok(false);
                }
            },
            _ => {
                let what = "a pipe, a socket or a device has no content".to_owned();
                self.leave_out(&name, Reason::NoContent, what);
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn counted(&mut self, stat: &FileStat, kind: SFlag) {
        let counted = self.shared.counted;
        counted.names.fetch_add(1, Ordering::Relaxed);
        if kind == SFlag::S_IFREG {
            let bytes = u64::try_from(stat.st_size).unwrap_or(0);
            counted.bytes.fetch_add(bytes, Ordering::Relaxed);
            self.walked.linked += u64::from(stat.st_nlink > 1);
        }
    }

    fn keep(&mut self, name: Vec<u8>, kind: Kind, stat: &FileStat) -> Result<(), StoreError> {
        let seconds = stat.st_mtime.saturating_mul(1_000_000_000);
        self.sorter.push(&Entry {
            name,
            kind,
            modified_nanoseconds: seconds.saturating_add(stat.st_mtime_nsec),
            digest: None,
            part: None,
        })
    }

    /// Reads the folder once more for the names that may be taken for one.
    fn clashes(
        &mut self,
        folder: &Folder,
        fd: &OwnedFd,
        repeated: &[u64],
    ) -> Result<(), StoreError> {
        let again = openat(fd, ".", OFlag::O_RDONLY | OFlag::O_DIRECTORY, Mode::empty());
        let again = again.and_then(Dir::from_fd);
        let mut dir = match again {
            Ok(dir) => dir,
            Err(error) => return self.cut(folder, &error.into()),
        };
        let mut names = Vec::new();
        for entry in dir.iter().flatten() {
            let name = entry.file_name().to_bytes();
            let path = below(&folder.name, name);
            let is_folder = entry.file_type() == Some(nix::dir::Type::Directory);
            let is_out = self.shared.tree.rules.leave_out(&path, is_folder);
            if !is_out && repeated.binary_search(&hash(name)).is_ok() {
                names.push(name.to_vec());
            }
        }
        for (last, first) in clashing(names) {
            self.walked.clashes += 1;
            if !self.shared.tree.folds_names {
                continue;
            }
            let name = below(&folder.name, &last);
            let what = format!("the far file system takes it for `{}`", shown(&first));
            self.leave_out(&name, Reason::Clash, what);
            self.walked.dropped.insert(name);
        }
        Ok(())
    }

    fn leave_out(&mut self, name: &[u8], reason: Reason, what: String) {
        self.walked.left_out.push(LeftOut {
            group: String::new(),
            name: shown(name),
            reason,
            what,
        });
    }
}

fn below(folder: &[u8], last: &[u8]) -> Vec<u8> {
    match folder.is_empty() {
        true => last.to_vec(),
        false => [folder, &b"/"[..], last].concat(),
    }
}
