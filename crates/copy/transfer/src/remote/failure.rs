//! What the system says of files, for the other end.

use std::io;

use copy_protocol::Name;
use copy_protocol::remote::{Failure, FailureKind};
use nix::errno::Errno;

use files::shown;

/// What the system said when something was tried with a name.
pub(super) fn failed(trying: &str, path: &Name, error: &io::Error) -> Failure {
    let errno = Errno::from_raw(error.raw_os_error().unwrap_or(0));
    let (kind, hint) = meaning(errno);
    let why = match (errno, error.raw_os_error()) {
        (Errno::EXDEV, _) => "that is outside of the folder that is served".to_owned(),
        (_, Some(_)) => errno.desc().to_owned(),
        (_, None) => error.to_string(),
    };
    Failure {
        kind,
        what: format!("cannot {trying} `{}`: {why}", place(path)),
        hint: hint.map(str::to_owned),
    }
}

/// A name for people; the empty one is the folder that is served.
pub(super) fn place(path: &Name) -> String {
    match path.is_empty() {
        true => "/".to_owned(),
        false => shown(path.as_bytes()),
    }
}

fn meaning(errno: Errno) -> (FailureKind, Option<&'static str>) {
    match errno {
        Errno::ENOENT => (FailureKind::NotFound, None),
        Errno::EEXIST => (FailureKind::Exists, None),
        Errno::ENOTDIR => (FailureKind::NotAFolder, None),
        Errno::EISDIR => (FailureKind::IsAFolder, None),
        Errno::ENOTEMPTY => (
            FailureKind::NotEmpty,
            Some("remove what is in it first, or all of it at once"),
        ),
        Errno::EACCES | Errno::EPERM => (
            FailureKind::Permission,
            Some("the user that serves there has no right to it"),
        ),
        Errno::EROFS => (
            FailureKind::Permission,
            Some("the file system there is mounted read-only"),
        ),
        Errno::ENOSPC => (FailureKind::DiskFull, Some("make room there")),
        Errno::EDQUOT => (
            FailureKind::DiskFull,
            Some("the quota there is used up; make room"),
        ),
        Errno::EXDEV => (
            FailureKind::Permission,
            Some("names, and links in them, must stay below the folder that is served"),
        ),
        Errno::ELOOP => (
            FailureKind::Request,
            Some("too many links, or links in a circle, stand in the way"),
        ),
        Errno::EINVAL | Errno::ENAMETOOLONG => (FailureKind::Request, None),
        Errno::EBUSY => (FailureKind::Busy, None),
        Errno::EMFILE | Errno::ENFILE => (
            FailureKind::Busy,
            Some("the server has too many open files; try again, or raise its limit"),
        ),
        _ => (FailureKind::Disk, None),
    }
}
