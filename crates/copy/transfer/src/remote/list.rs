//! What is in a folder, and below it, in bounded memory.

use std::os::fd::{AsFd, OwnedFd};

use copy_protocol::remote::{Failure, FailureKind, Listed, Told};
use copy_protocol::{Name, is_reserved};
use nix::dir::{Dir, OwningIter};
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::stat::Mode;

use super::failure::{failed, place};
use super::names::entry_info;
use super::outbox::{Gone, Outbox};
use files::{Root, open_below};

/// Folders within folders: each is held open.
pub(super) const DEPTH_MAX: usize = 256;
/// Entries in one answer.
const LISTED_MAX: usize = 256;
/// Bytes of names in one answer: together with the rest of the entries less than an answer may
/// have.
const NAMES_MAX: usize = 64 << 10;

pub(super) const FOLDER: OFlag = OFlag::O_RDONLY
    .union(OFlag::O_DIRECTORY)
    .union(OFlag::O_CLOEXEC);

/// A folder that is being read.
struct Level {
    fd: OwnedFd,
    entries: OwningIter,
    /// From the folder that was asked for.
    name: Vec<u8>,
}

/// Answers with all entries. What is gone meanwhile is not told; a folder that cannot be read ends
/// the listing, because without it nothing complete can be told.
pub(super) fn list(
    root: &Root,
    path: &Name,
    is_recursive: bool,
    outbox: &mut Outbox<'_>,
) -> Result<Result<(), Failure>, Gone> {
    let opened = root.open(path.as_bytes(), FOLDER);
    let first = opened.and_then(|fd| Level::of(fd, Vec::new()));
    let mut walk = match first {
        Ok(level) => Walk {
            root,
            path,
            is_recursive,
            stack: vec![level],
        },
        Err(error) => return Ok(Err(failed("list", path, &error))),
    };
    let (mut batch, mut bytes, mut count) = (Vec::new(), 0, 0);
    loop {
        let next = match walk.next() {
            Ok(next) => next,
            Err(failure) => return Ok(Err(failure)),
        };
        let is_end = next.is_none();
        if let Some(entry) = next {
            count += 1;
            bytes += entry.name.as_bytes().len() + entry.info.link.as_ref().map_or(0, Vec::len);
            batch.push(entry);
        }
        if batch.len() >= LISTED_MAX || bytes >= NAMES_MAX || is_end && !batch.is_empty() {
            outbox.tell(&Told::Listed(std::mem::take(&mut batch)))?;
            bytes = 0;
        }
        if is_end {
            outbox.tell(&Told::ListEnd { count })?;
            return Ok(Ok(()));
        }
    }
}

struct Walk<'a> {
    root: &'a Root,
    path: &'a Name,
    is_recursive: bool,
    stack: Vec<Level>,
}

impl Walk<'_> {
    fn next(&mut self) -> Result<Option<Listed>, Failure> {
        while let Some(level) = self.stack.last_mut() {
            let Some(entry) = level.entries.next() else {
                self.stack.pop();
                continue;
            };
            let entry = entry.map_err(|errno| failed("list", self.path, &errno.into()))?;
            let last = entry.file_name().to_bytes().to_vec();
            if matches!(&*last, b"." | b"..") || is_reserved(&last) {
                continue;
            }
            if let Some(listed) = self.entry(&last)? {
                return Ok(Some(listed));
            }
        }
        Ok(None)
    }

    /// An entry of the innermost folder; a folder becomes the innermost.
    fn entry(&mut self, last: &[u8]) -> Result<Option<Listed>, Failure> {
        let depth = self.stack.len();
        let Some(level) = self.stack.last() else {
            return Ok(None);
        };
        let name = below(&level.name, last);
        let whole = below(self.path.as_bytes(), &name);
        let (Ok(name), Ok(whole)) = (Name::new(name), Name::new(whole)) else {
            let what = format!(
                "`{}` has names that are too long to be told",
                place(self.path)
            );
            return Err(Failure::new(FailureKind::Request, what));
        };
        let info = match entry_info(self.root, level.fd.as_fd(), last, &whole) {
            Ok(info) => info,
            Err(error) if error.raw_os_error() == Some(Errno::ENOENT as i32) => return Ok(None),
            Err(error) => return Err(failed("list", &whole, &error)),
        };
        if self.is_recursive && info.is_folder() && info.link.is_none() {
            if depth >= DEPTH_MAX {
                return Err(too_deep(&whole));
            }
            let opened = open_below(level.fd.as_fd(), last, FOLDER, Mode::empty());
            match opened.and_then(|fd| Level::of(fd, name.as_bytes().to_vec())) {
                Ok(level) => self.stack.push(level),
                // It is gone, or another thing by now.
                Err(error) if is_gone(&error) => return Ok(None),
                Err(error) => return Err(failed("list", &whole, &error)),
            }
        }
        Ok(Some(Listed { name, info }))
    }
}

pub(super) fn is_gone(error: &std::io::Error) -> bool {
    let errno = Errno::from_raw(error.raw_os_error().unwrap_or(0));
    matches!(errno, Errno::ENOENT | Errno::ENOTDIR | Errno::ELOOP)
}

impl Level {
    fn of(fd: OwnedFd, name: Vec<u8>) -> std::io::Result<Self> {
        let entries = Dir::from_fd(fd.try_clone()?)?.into_iter();
        Ok(Level { fd, entries, name })
    }
}

fn below(folder: &[u8], last: &[u8]) -> Vec<u8> {
    match folder.is_empty() {
        true => last.to_vec(),
        false => [folder, b"/", last].concat(),
    }
}

pub(super) fn too_deep(path: &Name) -> Failure {
    let what = format!(
        "`{}`: more than {DEPTH_MAX} folders lie within each other",
        place(path)
    );
    Failure::new(FailureKind::Request, what).with_hint("name a folder further down")
}
