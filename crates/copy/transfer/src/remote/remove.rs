//! Removes a name, with all that is in it where that was asked for.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::time::Instant;

use copy_protocol::Name;
use copy_protocol::remote::{Failure, FailureKind, Removing, Told};
use nix::dir::{Dir, OwningIter};
use nix::errno::Errno;
use nix::fcntl::AtFlags;
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, fstatat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use super::failure::{failed, place};
use super::list::{DEPTH_MAX, FOLDER, is_gone, too_deep};
use super::names::{At, check_free, kind_of};
use super::outbox::{Gone, Outbox, WORKING};
use files::{Root, open_below};

/// Times that a folder is read again in which names appear while it is emptied.
const READ_AGAIN_MAX: u32 = 16;

/// Removes what was asked for. Links are removed, never followed.
pub(super) fn remove(
    root: &Root,
    path: &Name,
    what: Removing,
    outbox: &mut Outbox<'_>,
) -> Result<Result<(), Failure>, Gone> {
    let at = match check_free(path).and_then(|()| At::find(root, path, "remove")) {
        Ok(at) => at,
        Err(failure) => return Ok(Err(failure)),
    };
    let done = match what {
        Removing::File => unlink(&at, UnlinkatFlags::NoRemoveDir),
        Removing::EmptyFolder => unlink(&at, UnlinkatFlags::RemoveDir),
        Removing::Tree => return tree(&at, path, outbox),
    };
    let done = done.and_then(|()| at.flush());
    Ok(done.map_err(|error| failed("remove", path, &error)))
}

/// The system tells of a folder in two ways.
fn unlink(at: &At, how: UnlinkatFlags) -> io::Result<()> {
    match unlinkat(&at.folder, at.name(), how) {
        Err(Errno::EPERM) if is_folder(at.stat()) => Err(Errno::EISDIR.into()),
        other => Ok(other?),
    }
}

fn is_folder(stat: io::Result<FileStat>) -> bool {
    stat.is_ok_and(|stat| kind_of(&stat) == SFlag::S_IFDIR)
}

fn tree(at: &At, path: &Name, outbox: &mut Outbox<'_>) -> Result<Result<(), Failure>, Gone> {
    let wrong = |error: &io::Error| Ok(Err(failed("remove", path, error)));
    let stat = match at.stat() {
        Ok(stat) => stat,
        Err(error) => return wrong(&error),
    };
    if kind_of(&stat) == SFlag::S_IFDIR {
        let opened = open_below(at.folder.as_fd(), &at.last, FOLDER, Mode::empty());
        let level = match opened.and_then(|fd| Level::of(fd, at.last.clone())) {
            Ok(level) => level,
            Err(error) => return wrong(&error),
        };
        let mut emptying = Emptying {
            path,
            device: level.device,
            stack: vec![level],
            count: 0,
            told: Instant::now(),
        };
        if let Err(failure) = emptying.run(outbox)? {
            return Ok(Err(failure));
        }
        if let Err(error) = unlink(at, UnlinkatFlags::RemoveDir).and_then(|()| at.flush()) {
            return wrong(&error);
        }
        return Ok(Ok(()));
    }
    match unlink(at, UnlinkatFlags::NoRemoveDir).and_then(|()| at.flush()) {
        Ok(()) => Ok(Ok(())),
        Err(error) => wrong(&error),
    }
}

/// A folder that is being emptied.
struct Level {
    fd: OwnedFd,
    entries: OwningIter,
    last: Vec<u8>,
    device: u64,
    read_again: u32,
}

impl Level {
    fn of(fd: OwnedFd, last: Vec<u8>) -> io::Result<Self> {
        Ok(Level {
            entries: Dir::from_fd(fd.try_clone()?)?.into_iter(),
            device: fstat(&fd)?.st_dev,
            fd,
            last,
            read_again: 0,
        })
    }
}

struct Emptying<'a> {
    path: &'a Name,
    device: u64,
    stack: Vec<Level>,
    count: u64,
    told: Instant,
}

impl Emptying<'_> {
    /// Until the outermost folder has nothing in it.
    fn run(&mut self, outbox: &mut Outbox<'_>) -> Result<Result<(), Failure>, Gone> {
        while !self.stack.is_empty() {
            if self.told.elapsed() >= WORKING {
                outbox.tell(&Told::Working { count: self.count })?;
                self.told = Instant::now();
            }
            match self.step() {
                Ok(true) => {}
                Ok(false) => break,
                Err(failure) => return Ok(Err(failure)),
            }
        }
        Ok(Ok(()))
    }

    /// One name; `false` when the outermost folder is empty.
    fn step(&mut self) -> Result<bool, Failure> {
        let Some(level) = self.stack.last_mut() else {
            return Ok(false);
        };
        match level.entries.next() {
            Some(Ok(entry)) => {
                let last = entry.file_name().to_bytes().to_vec();
                if !matches!(&*last, b"." | b"..") {
                    self.child(&last)?;
                }
                Ok(true)
            }
            Some(Err(errno)) => Err(self.wrong(&errno.into())),
            None if self.stack.len() == 1 => Ok(false),
            None => self.leave().map(|()| true),
        }
    }

    fn child(&mut self, last: &[u8]) -> Result<(), Failure> {
        let Some(level) = self.stack.last() else {
            return Ok(());
        };
        let name = OsStr::from_bytes(last);
        let stat = match fstatat(&level.fd, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::ENOENT) => return Ok(()),
            Err(errno) => return Err(self.wrong(&errno.into())),
        };
        if kind_of(&stat) != SFlag::S_IFDIR {
            return match unlinkat(&level.fd, name, UnlinkatFlags::NoRemoveDir) {
                Ok(()) => {
                    self.count += 1;
                    Ok(())
                }
                Err(Errno::ENOENT) => Ok(()),
                Err(errno) => Err(self.wrong(&errno.into())),
            };
        }
        if stat.st_dev != self.device {
            let what = format!(
                "cannot remove `{}`: another file system is mounted in it",
                place(self.path)
            );
            return Err(Failure::new(FailureKind::Busy, what));
        }
        if self.stack.len() >= DEPTH_MAX {
            return Err(too_deep(self.path));
        }
        let opened = open_below(level.fd.as_fd(), last, FOLDER, Mode::empty());
        match opened.and_then(|fd| Level::of(fd, last.to_vec())) {
            Ok(inner) => self.stack.push(inner),
            // It is gone, or another thing by now; the folder is read again then.
            Err(error) if is_gone(&error) => {}
            Err(error) => return Err(self.wrong(&error)),
        }
        Ok(())
    }

    /// The innermost folder is read to its end: it goes, unless names have come into it.
    fn leave(&mut self) -> Result<(), Failure> {
        let Some(mut done) = self.stack.pop() else {
            return Ok(());
        };
        let Some(above) = self.stack.last() else {
            return Ok(());
        };
        let name = OsStr::from_bytes(&done.last);
        match unlinkat(&above.fd, name, UnlinkatFlags::RemoveDir) {
            Ok(()) => {
                self.count += 1;
                Ok(())
            }
            Err(Errno::ENOENT) => Ok(()),
            Err(Errno::ENOTEMPTY) if done.read_again < READ_AGAIN_MAX => {
                done.read_again += 1;
                // From its beginning: a clone would go on where this one stands.
                let again = open_below(done.fd.as_fd(), b".", FOLDER, Mode::empty());
                let again = again.and_then(|fd| Ok(Dir::from_fd(fd)?.into_iter()));
                done.entries = again.map_err(|error| self.wrong(&error))?;
                self.stack.push(done);
                Ok(())
            }
            Err(errno) => Err(self.wrong(&errno.into())),
        }
    }

    fn wrong(&self, error: &io::Error) -> Failure {
        failed("remove all of", self.path, error)
    }
}
