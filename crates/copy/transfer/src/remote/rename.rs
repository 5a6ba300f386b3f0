//! Gives a name another place.

use std::io;

use copy_protocol::Name;
use copy_protocol::remote::{Failure, FailureKind};
use nix::errno::Errno;
use nix::fcntl::renameat;
use nix::sys::stat::SFlag;
use rustix::fs::{RenameFlags, renameat_with};

use super::failure::{failed, place};
use super::names::{At, check_free, kind_of};
use files::Root;

/// Renames within the file system.
pub(super) fn rename(root: &Root, from: &Name, to: &Name, replaces: bool) -> Result<(), Failure> {
    check_free(from)?;
    check_free(to)?;
    let old = At::find(root, from, "rename")?;
    let new = At::find(root, to, "rename to")?;
    let wrong = |error: &io::Error| failed("rename", from, error);
    let stat = old.stat().map_err(|error| wrong(&error))?;
    if kind_of(&stat) == SFlag::S_IFLNK && !root.may_link() {
        let what = format!("`{}` is a link, and this server makes none", place(from));
        return Err(Failure::new(FailureKind::Rights, what));
    }
    let renamed = match replaces {
        true => renameat(&old.folder, old.name(), &new.folder, new.name()),
        false => put_beside(&old, &new),
    };
    renamed.map_err(|errno| told(from, to, errno))?;
    new.flush()
        .and_then(|()| old.flush())
        .map_err(|error| wrong(&error))
}

fn put_beside(old: &At, new: &At) -> Result<(), Errno> {
    let (from, to) = (old.name(), new.name());
    let done = renameat_with(&old.folder, from, &new.folder, to, RenameFlags::NOREPLACE);
    done.map_err(|errno| Errno::from_raw(errno.raw_os_error()))
}

fn told(from: &Name, to: &Name, errno: Errno) -> Failure {
    let (kind, why, hint) = match errno {
        Errno::EXDEV => (
            FailureKind::Request,
            "that is on another file system",
            "copy it there, and remove it here",
        ),
        Errno::EINVAL => (
            FailureKind::Request,
            "the file system refuses it, as it does to put a folder into itself",
            "choose another name",
        ),
        Errno::EEXIST | Errno::ENOTEMPTY => {
            let what = format!(
                "cannot rename `{}` to `{}`: that is taken",
                place(from),
                place(to)
            );
            let kind = match errno {
                Errno::EEXIST => FailureKind::Exists,
                _ => FailureKind::NotEmpty,
            };
            return Failure::new(kind, what)
                .with_hint("choose another name, or remove what has it");
        }
        errno => return failed("rename", from, &errno.into()),
    };
    let what = format!("cannot rename `{}` to `{}`: {why}", place(from), place(to));
    Failure::new(kind, what).with_hint(hint)
}
