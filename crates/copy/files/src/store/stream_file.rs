//! One file whose length is not known while it arrives: written from its beginning to its end.
//!
//! It lies under the temporary name of copies, locked, until all of it came; what an earlier try
//! left is written over, and what is given up is removed.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use copy_protocol::{Problem, ProblemKind};
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, renameat};
use nix::sys::stat::{Mode, SFlag, fchmod, fstat, fstatat};
use nix::unistd::fsync;

use super::destination::target::{self, Target};
use super::finalize::umask;
use super::temporary::{At, JOURNAL, PART, open_locked};
use crate::problems::{failed, problem, shown, with_hint};
use crate::root::{Root, open_below};

/// What a program makes that says no mode; the mask of this process holds.
const MODE: u32 = 0o666;

/// A file that arrives. It is removed when this is dropped before [`StreamFile::publish`].
#[derive(Debug)]
pub struct StreamFile {
    at: At,
    file: File,
    is_published: bool,
}

impl StreamFile {
    /// Opens the temporary file of `path`, as the user wrote it.
    ///
    /// # Errors
    /// When the root may not be written, there is no such folder, something other than a file has
    /// the name, or a copy is writing the same file.
    pub fn create(root: &Root, path: &[u8]) -> Result<Self, Problem> {
        let name = shown(path);
        if !root.may_write() {
            let refused = problem(ProblemKind::Permission, "nothing may be written here");
            return Err(with_hint(
                refused,
                "this server, token or key only gives files; use one that takes them",
            ));
        }
        let found = target::find(root, path, false);
        let at = match found.map_err(|error| failed("write", &name, &error))? {
            Target::New {
                parent,
                last,
                is_folder: false,
            }
            | Target::File { parent, last, .. } => At {
                folder: parent,
                last,
                shown: name,
                size: 0,
                mode: MODE,
                is_exact: false,
                modified_nanoseconds: 0,
                version: 0,
                is_sparse: false,
                part: None,
            },
            Target::New { .. } | Target::Folder(_) | Target::Nowhere => {
                return Err(no_file(&name, "a folder"));
            }
        };
        at.check_free()?;
        let Some(file) = open_locked(&at, true)? else {
            return Err(at.failed("create", Errno::ENOENT));
        };
        at.remove(JOURNAL);
        let cleared = file.set_len(0);
        cleared.map_err(|error| at.failed("write", error))?;
        Ok(StreamFile {
            at,
            file,
            is_published: false,
        })
    }

    /// Writes what follows.
    ///
    /// # Errors
    /// When there is no room, or the disk fails.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        let written = self.file.write_all(bytes);
        written.map_err(|error| Problem {
            hint: None,
            ..self.at.failed("write", error)
        })
    }

    /// All of it is on the disk, and then it has its name.
    ///
    /// # Errors
    /// When the disk fails, or the name cannot be given.
    pub fn publish(mut self) -> Result<(), Problem> {
        let at = &self.at;
        let mode = Mode::from_bits_truncate(MODE & !umask());
        let flushed = fchmod(&self.file, mode).and_then(|()| fsync(&self.file));
        flushed.map_err(|errno| at.failed("write", errno))?;
        let stat = fstat(&self.file).map_err(|errno| at.failed("write", errno))?;
        if !at.is_at(PART, &stat) {
            let what = format!(
                "another program has moved what was written for `{}`",
                at.shown
            );
            return Err(problem(ProblemKind::Busy, what));
        }
        at.check_free()?;
        let part = at.beside(PART);
        let (from, to) = (OsStr::from_bytes(&part), OsStr::from_bytes(&at.last));
        let named = renameat(&at.folder, from, &at.folder, to);
        named.map_err(|errno| at.failed("give the final name to", errno))?;
        self.is_published = true;
        self.at.flush_folder()
    }
}

impl Drop for StreamFile {
    fn drop(&mut self) {
        if !self.is_published {
            self.at.remove(PART);
        }
    }
}

impl At {
    /// Nothing but a file or a link has the name.
    fn check_free(&self) -> Result<(), Problem> {
        let name = OsStr::from_bytes(&self.last);
        let Ok(stat) = fstatat(&self.folder, name, AtFlags::AT_SYMLINK_NOFOLLOW) else {
            return Ok(());
        };
        match SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT {
            SFlag::S_IFREG | SFlag::S_IFLNK => Ok(()),
            SFlag::S_IFDIR => Err(no_file(&self.shown, "a folder")),
            _ => Err(no_file(&self.shown, "a device, a pipe or a socket")),
        }
    }

    /// The name is on the disk. A descriptor of `O_PATH` cannot be flushed; file systems without a
    /// flush of folders say so, and folders may be unreadable.
    fn flush_folder(&self) -> Result<(), Problem> {
        let folder = self.folder.as_fd();
        let readable = open_below(folder, b".", OFlag::O_RDONLY, Mode::empty());
        match readable.and_then(|fd| Ok(fsync(fd)?)) {
            Err(error) => match Errno::from_raw(error.raw_os_error().unwrap_or(0)) {
                Errno::EINVAL | Errno::EACCES => Ok(()),
                _ => Err(self.failed("write", error)),
            },
            Ok(()) => Ok(()),
        }
    }
}

fn no_file(name: &str, is: &str) -> Problem {
    let what = format!("cannot write `{name}`: it is {is}");
    with_hint(problem(ProblemKind::Request, what), "name a file")
}
