//! From a name to what it is, and to the folder that it is in.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use copy_protocol::Name;
use copy_protocol::remote::{Failure, FailureKind, FileIdentity, FileInfo, FileKind};
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, readlinkat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, fstatat, mkdirat};
use nix::unistd::fsync;

use super::failure::{failed, place};
use files::Root;
use files::source::version;

/// Opens only to look, or as a place to begin.
const LOOK: OFlag = OFlag::O_PATH.union(OFlag::O_CLOEXEC);
const FOLDER: OFlag = LOOK.union(OFlag::O_DIRECTORY);

/// What a name is.
pub(super) fn info(root: &Root, path: &Name) -> Result<FileInfo, Failure> {
    let wrong = |error: &io::Error| failed("look at", path, error);
    let opened = root.open(path.as_bytes(), LOOK | OFlag::O_NOFOLLOW);
    let fd = opened.map_err(|error| wrong(&error))?;
    let stat = fstat(&fd).map_err(|errno| wrong(&errno.into()))?;
    match kind_of(&stat) {
        SFlag::S_IFLNK => {
            let link = readlinkat(&fd, "").map_err(|errno| wrong(&errno.into()))?;
            Ok(link_info(root, path, link.into_vec(), &stat))
        }
        _ => Ok(info_of(&stat)),
    }
}

/// What an entry of `folder` is; `path` leads to it from the root.
pub(super) fn entry_info(
    root: &Root,
    folder: BorrowedFd<'_>,
    last: &[u8],
    path: &Name,
) -> io::Result<FileInfo> {
    let name = OsStr::from_bytes(last);
    let stat = fstatat(folder, name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
    match kind_of(&stat) {
        SFlag::S_IFLNK => {
            let link = readlinkat(folder, name)?.into_vec();
            Ok(link_info(root, path, link, &stat))
        }
        _ => Ok(info_of(&stat)),
    }
}

/// A link is what it points to, where that can be reached.
fn link_info(root: &Root, path: &Name, link: Vec<u8>, own: &FileStat) -> FileInfo {
    let target = root.open(path.as_bytes(), LOOK);
    let target = target.and_then(|fd| Ok(fstat(&fd)?));
    FileInfo {
        link: Some(link),
        ..info_of(&target.unwrap_or(*own))
    }
}

fn info_of(stat: &FileStat) -> FileInfo {
    FileInfo {
        kind: match kind_of(stat) {
            SFlag::S_IFREG => FileKind::File,
            SFlag::S_IFDIR => FileKind::Folder,
            SFlag::S_IFLNK => FileKind::Link,
            _ => FileKind::Special,
        },
        identity: identity(stat),
        mode: stat.st_mode & 0o7777,
        link: None,
    }
}

pub(super) fn identity(stat: &FileStat) -> FileIdentity {
    let seconds = stat.st_mtime.saturating_mul(1_000_000_000);
    FileIdentity {
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified_nanoseconds: seconds.saturating_add(stat.st_mtime_nsec),
        version: version(stat),
    }
}

pub(super) fn kind_of(stat: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT
}

/// Refuses names of temporary files: a copy may be writing there.
pub(super) fn check_free(path: &Name) -> Result<(), Failure> {
    match path.is_reserved() {
        true => Err(Failure::new(
            FailureKind::Request,
            format!("`{}` is a temporary file of a copy", place(path)),
        )
        .with_hint("finish the copy that began it")),
        false => Ok(()),
    }
}

/// A folder that is open, and a name in it.
pub(super) struct At {
    pub folder: OwnedFd,
    pub last: Vec<u8>,
}

impl At {
    /// The folder that `path` is in. Links to it are followed as far as the root allows; the last
    /// component is not.
    pub fn find(root: &Root, path: &Name, trying: &str) -> Result<At, Failure> {
        let Some((above, last)) = split(path) else {
            let what = format!("cannot {trying} the folder that is served itself");
            return Err(Failure::new(FailureKind::Request, what));
        };
        let folder = root.open(&above, FOLDER);
        Ok(At {
            folder: folder.map_err(|error| failed(trying, path, &error))?,
            last,
        })
    }

    pub fn name(&self) -> &OsStr {
        OsStr::from_bytes(&self.last)
    }

    pub fn stat(&self) -> io::Result<FileStat> {
        let flags = AtFlags::AT_SYMLINK_NOFOLLOW;
        Ok(fstatat(&self.folder, self.name(), flags)?)
    }

    /// What was done with the name is on the disk.
    pub fn flush(&self) -> io::Result<()> {
        flush(self.folder.as_fd())
    }
}

fn flush(folder: BorrowedFd<'_>) -> io::Result<()> {
    // A descriptor of O_PATH cannot be flushed.
    let readable = files::open_below(folder, b".", OFlag::O_RDONLY, Mode::empty());
    match readable.and_then(|fd| Ok(fsync(fd)?)) {
        // File systems without a flush of folders say so, and folders may be unreadable.
        Err(error) => match Errno::from_raw(error.raw_os_error().unwrap_or(0)) {
            Errno::EINVAL | Errno::EACCES => Ok(()),
            _ => Err(error),
        },
        Ok(()) => Ok(()),
    }
}

fn split(path: &Name) -> Option<(Vec<u8>, Vec<u8>)> {
    let bytes = path.as_bytes();
    match bytes.iter().rposition(|byte| *byte == b'/') {
        Some(at) => Some((bytes[..at].to_vec(), bytes[at + 1..].to_vec())),
        None if bytes.is_empty() => None,
        None => Some((Vec::new(), bytes.to_vec())),
    }
}

/// Makes a folder; one that is there is as good.
pub(super) fn make_folder(root: &Root, path: &Name, with_parents: bool) -> Result<(), Failure> {
    check_free(path)?;
    if path.is_empty() {
        return Ok(());
    }
    if with_parents {
        let bytes = path.as_bytes();
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        for above in ends.filter_map(|(at, _)| Name::new(bytes[..at].to_vec()).ok()) {
            make_one(root, &above, Errno::ENOTDIR)?;
        }
    }
    make_one(root, path, Errno::EEXIST)
}

/// Makes a folder; what is there and is none is `taken`.
fn make_one(root: &Root, path: &Name, taken: Errno) -> Result<(), Failure> {
    let at = At::find(root, path, "make")?;
    let wrong = |error: &io::Error| failed("make", path, error);
    match mkdirat(&at.folder, at.name(), Mode::from_bits_truncate(0o777)) {
        Ok(()) => at.flush().map_err(|error| wrong(&error)),
        Err(Errno::EEXIST) => match root.open(path.as_bytes(), FOLDER) {
            Ok(_) => Ok(()),
            Err(error) if error.raw_os_error() == Some(Errno::ENOTDIR as i32) => {
                Err(wrong(&taken.into()))
            }
            Err(error) => Err(wrong(&error)),
        },
        Err(errno) => Err(wrong(&errno.into())),
    }
}
