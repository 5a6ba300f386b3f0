//! Owners, extended attributes and ACLs: read from a source, set at a destination.
//!
//! Names are resolved by `/proc/self/fd`, so that what is read belongs to what the walk looked at,
//! and nothing has to be opened for it. Only `user.*` and the two ACLs are ever read or set.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use copy_protocol::{
    ACL_ACCESS, ACL_DEFAULT, ATTRIBUTES_MAX, Attribute, Inode, Kept, Owner, OwnersBy, VALUE_MAX,
};
use nix::errno::Errno;
use nix::sys::stat::{FileStat, Mode, fchmod, fstat};
use nix::unistd::{Gid, Group, Uid, User, fchown};
use rustix::fs::{
    XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr, getxattr, lgetxattr, listxattr,
    llistxattr,
};

/// Bytes of a list of names (xattr(7), `XATTR_LIST_MAX`).
const LIST_MAX: usize = 64 << 10;
const USER: &[u8] = b"user.";
/// Names of users, and as many of groups, whose numbers are remembered.
const NAMES_MAX: usize = 1 << 16;

/// Something whose attributes are read.
pub(crate) enum Place {
    /// What an open file, or one that was opened as a place only, stands for.
    Open(PathBuf),
    /// A name in a folder; a link is not followed.
    In(PathBuf),
}

impl Place {
    /// What `fd` stands for.
    pub fn open(fd: &impl AsFd) -> Self {
        Place::Open(by_number(fd))
    }

    /// `last` in `folder`.
    pub fn within(folder: &impl AsFd, last: &[u8]) -> Self {
        Place::In(by_number(folder).join(OsStr::from_bytes(last)))
    }

    fn names(&self) -> io::Result<Vec<Vec<u8>>> {
        let mut list = vec![0; LIST_MAX];
        let listed = match self {
            Place::Open(path) => listxattr(path, &mut list[..]),
            Place::In(path) => llistxattr(path, &mut list[..]),
        };
        Ok(split(&list, listed)?)
    }

    fn value(&self, name: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let mut value = vec![0; VALUE_MAX];
        let read = match self {
            Place::Open(path) => getxattr(path, name, &mut value[..]),
            Place::In(path) => lgetxattr(path, name, &mut value[..]),
        };
        found(value, read)
    }

    /// The attributes that are kept, in order.
    pub fn attributes(&self, kept: Kept, is_folder: bool) -> io::Result<Vec<Attribute>> {
        let mut names: Vec<Vec<u8>> = Vec::new();
        if kept.acls {
            names.push(ACL_ACCESS.to_vec());
            names.extend(is_folder.then(|| ACL_DEFAULT.to_vec()));
        }
        if kept.user_attributes {
            let of_users = self.names()?.into_iter();
            names.extend(of_users.filter(|name| name.starts_with(USER)));
        }
        names.sort();
        let (mut attributes, mut bytes) = (Vec::new(), 0);
        for name in names {
            let Some(value) = self.value(&name)? else {
                continue;
            };
            bytes += name.len() + value.len();
            if bytes > ATTRIBUTES_MAX {
                let what = format!("its attributes take more than {ATTRIBUTES_MAX} bytes");
                return Err(io::Error::other(what));
            }
            attributes.push(Attribute { name, value });
        }
        Ok(attributes)
    }
}

fn by_number(fd: &impl AsFd) -> PathBuf {
    Path::new("/proc/self/fd").join(fd.as_fd().as_raw_fd().to_string())
}

/// The names of a list that was read; none where the file system knows no attributes.
fn split(list: &[u8], read: rustix::io::Result<usize>) -> rustix::io::Result<Vec<Vec<u8>>> {
    let length = match read {
        Err(rustix::io::Errno::OPNOTSUPP) => 0,
        read => read?,
    };
    let names = list[..length].split(|byte| *byte == 0);
    Ok(names
        .filter(|name| !name.is_empty())
        .map(<[u8]>::to_vec)
        .collect())
}

/// The value that was read; `None` where there is none.
fn found(mut value: Vec<u8>, read: rustix::io::Result<usize>) -> io::Result<Option<Vec<u8>>> {
    match read {
        Ok(length) => {
            value.truncate(length);
            Ok(Some(value))
        }
        Err(rustix::io::Errno::NODATA | rustix::io::Errno::OPNOTSUPP) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// Names of users and groups, each looked up once.
#[derive(Debug, Default)]
pub(crate) struct OwnerNames {
    users: BTreeMap<u32, Option<String>>,
    groups: BTreeMap<u32, Option<String>>,
}

impl OwnerNames {
    /// Owner and group of what was looked at.
    pub fn owner(&mut self, stat: &FileStat, by: OwnersBy) -> Owner {
        let (user, group) = (stat.st_uid, stat.st_gid);
        let is_named = by == OwnersBy::Names;
        let user_name = is_named.then(|| {
            let look = || User::from_uid(Uid::from_raw(user)).ok().flatten();
            let known = self.users.entry(user);
            known
                .or_insert_with(|| look().map(|user| user.name))
                .clone()
        });
        let group_name = is_named.then(|| {
            let look = || Group::from_gid(Gid::from_raw(group)).ok().flatten();
            let known = self.groups.entry(group);
            known
                .or_insert_with(|| look().map(|group| group.name))
                .clone()
        });
        Owner {
            user,
            group,
            user_name: user_name.flatten(),
            group_name: group_name.flatten(),
        }
    }
}

/// Numbers of users and groups that a sender names, each looked up once unless they are too many.
#[derive(Debug, Default)]
pub(crate) struct OwnerNumbers {
    users: BTreeMap<String, Option<u32>>,
    groups: BTreeMap<String, Option<u32>>,
}

impl OwnerNumbers {
    /// The owner here: by name, and by number where there is no such name.
    pub fn local(&mut self, owner: &Owner) -> (Uid, Gid) {
        let user = owner.user_name.as_ref().and_then(|name| {
            let look = || User::from_name(name).ok().flatten();
            number_of(&mut self.users, name, || {
                look().map(|user| user.uid.as_raw())
            })
        });
        let group = owner.group_name.as_ref().and_then(|name| {
            let look = || Group::from_name(name).ok().flatten();
            number_of(&mut self.groups, name, || {
                look().map(|group| group.gid.as_raw())
            })
        });
        let user = Uid::from_raw(user.unwrap_or(owner.user));
        (user, Gid::from_raw(group.unwrap_or(owner.group)))
    }
}

/// What a name stands for; it is looked up where that is not known.
fn number_of(
    known: &mut BTreeMap<String, Option<u32>>,
    name: &str,
    look: impl FnOnce() -> Option<u32>,
) -> Option<u32> {
    if let Some(number) = known.get(name) {
        return *number;
    }
    let number = look();
    if known.len() < NAMES_MAX {
        known.insert(name.to_owned(), number);
    }
    number
}

/// Gives a file or folder its owner, attributes and ACLs, where they are others. What it has of
/// these and the source has not is removed. The mode has to be set afterwards: a new owner takes
/// bits of it away, and it is part of the ACL.
pub(crate) fn apply(
    fd: &impl AsFd,
    inode: &Inode,
    owner: Option<(Uid, Gid)>,
    kept: Kept,
) -> io::Result<()> {
    let stat = fstat(fd)?;
    if let Some((user, group)) = owner
        && (stat.st_uid, stat.st_gid) != (user.as_raw(), group.as_raw())
    {
        fchown(fd, Some(user), Some(group))?;
    }
    match change(fd, inode, kept) {
        // A user's own file that may not be read or written to.
        Err(error) if error.raw_os_error() == Some(Errno::EACCES as i32) => {
            let mode = stat.st_mode & 0o7777;
            fchmod(fd, Mode::from_bits_truncate(mode | 0o600))?;
            let changed = change(fd, inode, kept);
            fchmod(fd, Mode::from_bits_truncate(mode))?;
            changed
        }
        changed => changed,
    }
}

fn change(fd: &impl AsFd, inode: &Inode, kept: Kept) -> io::Result<()> {
    let mut list = vec![0; LIST_MAX];
    let listed = flistxattr(fd, &mut list[..]);
    let there = split(&list, listed)?;
    let is_kept = |name: &[u8]| {
        kept.user_attributes && name.starts_with(USER)
            || kept.acls && (name == ACL_ACCESS || name == ACL_DEFAULT)
    };
    let is_wanted = |name: &[u8]| inode.attributes.iter().any(|one| one.name == name);
    for name in there
        .iter()
        .filter(|name| is_kept(name) && !is_wanted(name))
    {
        fremovexattr(fd, name.as_slice())?;
    }
    for Attribute { name, value } in &inode.attributes {
        let mut now = vec![0; VALUE_MAX];
        let read = fgetxattr(fd, name.as_slice(), &mut now[..]);
        if found(now, read)?.as_ref() != Some(value) {
            fsetxattr(fd, name.as_slice(), value, XattrFlags::empty())?;
        }
    }
    Ok(())
}

/// Whether the file system of a folder keeps an attribute of this name.
pub(crate) fn takes(folder: &impl AsFd, name: &[u8]) -> bool {
    let mut value = [0; 1];
    let read = fgetxattr(folder, name, &mut value[..]);
    read != Err(rustix::io::Errno::OPNOTSUPP)
}

/// Whether this process may give files to other owners (capabilities(7), `CAP_CHOWN`).
pub(crate) fn may_give_away() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let effective = lines.find_map(|line| line.strip_prefix("CapEff:"));
    let bits = effective.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    bits.map_or_else(|| Uid::effective().is_root(), |bits| bits & 1 == 1)
}
