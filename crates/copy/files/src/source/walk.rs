//! From folder to folder.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, PoisonError};

use copy_protocol::{Attribute, Entry, FileId, Inode, Kept, Kind, Name, Problem, ProblemKind};
use nix::fcntl::{AtFlags, OFlag, openat, readlinkat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, fstatat};

use super::Source;
use super::links::Links;
use super::look::{Found, Listing, a_folder, device_and_inode, folder_left_out, kind_of, left_out};
use super::look::{nanoseconds, special, temporary};
use super::missing::missing;
use super::reader::{Seen, is_sparse, version};
use super::tops::Top;
use crate::inodes::{OwnerNames, Place};
use crate::problems::{failed, problem, shown, with_hint};
use crate::root::open_to_read;

/// Folders on the way to where the walk stands that are held open; those above are opened again on
/// the way back.
const OPEN_MAX: usize = 64;

/// Goes through all sources; see [`Source::walk`].
#[derive(Debug)]
pub struct Walk {
    source: Arc<Source>,
    tops: VecDeque<Top>,
    folders: Vec<Folder>,
    links: Links,
    owners: OwnerNames,
}

/// A folder that the walk is in.
#[derive(Debug)]
struct Folder {
    id: u32,
    fd: Option<OwnedFd>,
    name: Vec<u8>,
    device_and_inode: (u64, u64),
    /// Names in it that are still to come.
    left: Listing,
}

impl Iterator for Walk {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        loop {
            let Some(folder) = self.folders.last_mut() else {
                let top = self.tops.pop_front()?;
                match self.top(&top) {
                    Some(found) => return Some(found),
                    None => continue,
                }
            };
            match folder.left.pop().map(|name| self.child(&name)) {
                Some(Some(found)) => return Some(found),
                // A rule leaves it out.
                Some(None) => {}
                None => drop(self.folders.pop()),
            }
        }
    }
}

/// Something that was looked at, before it is an entry.
struct Looked {
    stat: FileStat,
    /// What the link says, where it stays one.
    link: Option<Vec<u8>>,
    /// Opened through links, from the root.
    is_followed: bool,
    /// Its attributes, where they are kept.
    attributes: Vec<Attribute>,
}

impl Walk {
    pub(super) fn new(source: Arc<Source>) -> Self {
        let tops = source.tops.clone();
        Walk {
            source,
            tops,
            folders: Vec::new(),
            links: Links::default(),
            owners: OwnerNames::default(),
        }
    }

    /// Names so far that share their file with another one, and will not at the destination.
    pub fn linked(&self) -> u32 {
        match self.kept().hard_links {
            true => 0,
            false => self.links.names(),
        }
    }

    fn kept(&self) -> Kept {
        self.source.spec.attributes.kept
    }

    fn top(&mut self, top: &Top) -> Option<Found> {
        let Top {
            path,
            name,
            is_alone,
        } = top;
        match self.look_at_top(path) {
            Ok(looked) => self.found(name.clone(), path, looked, *is_alone),
            Err(error) => Some(left_out(name, self.unread(path, &error))),
        }
    }

    /// Why a source cannot be looked at.
    fn unread(&self, path: &[u8], error: &io::Error) -> Problem {
        let Source { root, spec, .. } = &*self.source;
        match error.kind() {
            // Only the far end resolves wildcards.
            io::ErrorKind::NotFound => missing(root, path, spec.wildcards),
            _ => failed("read", shown(path), error),
        }
    }

    /// Why nothing at all can be copied: all sources are missing, or folders that are not wanted.
    pub(super) fn nothing(&self) -> Option<Problem> {
        let mut first = None;
        for Top { path, is_alone, .. } in &self.tops {
            let trouble = match self.look_at_top(path) {
                Err(error) => self.unread(path, &error),
                Ok(looked) => {
                    let is_folder = kind_of(&looked.stat) == SFlag::S_IFDIR;
                    match is_folder && !is_alone && !self.source.spec.recursive {
                        true => a_folder(path),
                        false => return None,
                    }
                }
            };
            first.get_or_insert(trouble);
        }
        first
    }

    /// `None` where a rule leaves it out.
    fn child(&mut self, last: &[u8]) -> Option<Found> {
        let name = match self.folders.last() {
            Some(folder) if !folder.name.is_empty() => [&folder.name, &b"/"[..], last].concat(),
            _ => last.to_vec(),
        };
        match self.look_at_child(last) {
            Ok(looked) => self.found(name, last, looked, false),
            Err(error) => Some(left_out(&name, failed("read", shown(&name), &error))),
        }
    }

    fn keeps_links(&self) -> bool {
        self.source.spec.attributes.links
    }

    fn look_at_top(&self, path: &[u8]) -> io::Result<Looked> {
        let mut flags = OFlag::O_PATH;
        flags.set(
            OFlag::O_NOFOLLOW,
            self.keeps_links() && !path.ends_with(b"/"),
        );
        let fd = self.source.root.open(path, flags)?;
        let stat = fstat(&fd)?;
        let link = match kind_of(&stat) == SFlag::S_IFLNK {
            true => Some(readlinkat(&fd, "")?.as_bytes().to_vec()),
            false => None,
        };
        Ok(Looked {
            attributes: attributes(self.kept(), &stat, &Place::open(&fd))?,
            stat,
            link,
            is_followed: true,
        })
    }

    fn look_at_child(&mut self, last: &[u8]) -> io::Result<Looked> {
        let path = self.path_of(last);
        let (keeps_links, kept) = (self.keeps_links(), self.kept());
        let folder = self.standing_in()?;
        let last = OsStr::from_bytes(last);
        let stat = fstatat(folder, last, AtFlags::AT_SYMLINK_NOFOLLOW)?;
        if kind_of(&stat) != SFlag::S_IFLNK {
            let place = Place::within(folder, last.as_bytes());
            return Ok(Looked {
                attributes: attributes(kept, &stat, &place)?,
                stat,
                link: None,
                is_followed: false,
            });
        }
        if keeps_links {
            let link = readlinkat(folder, last)?.as_bytes().to_vec();
            return Ok(Looked {
                stat,
                link: Some(link),
                is_followed: false,
                attributes: Vec::new(),
            });
        }
        let fd = self.source.root.open(&path, OFlag::O_PATH)?;
        let stat = fstat(&fd)?;
        Ok(Looked {
            attributes: attributes(self.kept(), &stat, &Place::open(&fd))?,
            stat,
            link: None,
            is_followed: true,
        })
    }

    /// As the user would call what is in the present folder.
    fn path_of(&self, last: &[u8]) -> Vec<u8> {
        let found = self.source.found.read();
        let found = found.unwrap_or_else(PoisonError::into_inner);
        let folder = self
            .folders
            .last()
            .and_then(|folder| found.names.get(folder.id));
        match folder {
            Some(folder) if folder.ends_with(b"/") => [&folder, last].concat(),
            Some(folder) if !folder.is_empty() => [&folder, &b"/"[..], last].concat(),
            _ => last.to_vec(),
        }
    }

    /// The present folder; opened again where it had to be closed on the way down.
    fn standing_in(&mut self) -> io::Result<&OwnedFd> {
        let path = match self.folders.last() {
            Some(Folder { fd: None, id, .. }) => self.source.path(*id),
            _ => None,
        };
        let (root, keeps) = (self.source.root.clone(), self.kept().access_times);
        let Some(folder) = self.folders.last_mut() else {
            return Err(io::ErrorKind::NotFound.into());
        };
        if let Some(path) = path {
            let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY;
            let fd = open_to_read(keeps, flags, |flags| root.open(&path, flags))?;
            if device_and_inode(&fstat(&fd)?) != folder.device_and_inode {
                return Err(io::Error::other("the folder was replaced meanwhile"));
            }
            folder.fd = Some(fd);
        }
        folder.fd.as_ref().ok_or(io::ErrorKind::NotFound.into())
    }

    fn found(
        &mut self,
        name: Vec<u8>,
        last: &[u8],
        looked: Looked,
        is_alone: bool,
    ) -> Option<Found> {
        let kind = kind_of(&looked.stat);
        let is_out = self.source.rules.leave_out(&name, kind == SFlag::S_IFDIR)
            || kind == SFlag::S_IFREG && !self.is_finished(&name, &looked.stat);
        (!is_out).then(|| self.entry(name, last, looked, is_alone))
    }

    /// Whether a file is copied now; all are where none is waited for.
    fn is_finished(&self, name: &[u8], stat: &FileStat) -> bool {
        let settling = self.source.settling.as_ref();
        settling.is_none_or(|settling| settling.takes(name, stat))
    }

    fn entry(&mut self, name: Vec<u8>, last: &[u8], looked: Looked, is_alone: bool) -> Found {
        let kind = match (kind_of(&looked.stat), looked.link) {
            (SFlag::S_IFREG, _) => Kind::File(u64::try_from(looked.stat.st_size).unwrap_or(0)),
            (SFlag::S_IFLNK, Some(link)) => Kind::Link(link),
            (SFlag::S_IFDIR, _) if !self.source.spec.recursive && !is_alone => {
                return folder_left_out(&name, a_folder(&name));
            }
            (SFlag::S_IFDIR, _) => Kind::Folder,
            (other, _) => return left_out(&name, special(&name, other)),
        };
        let checked = match Name::new(name.clone()) {
            Ok(checked) => checked,
            Err(error) => return left_out(&name, problem(ProblemKind::Request, error.to_string())),
        };
        if checked.is_reserved() {
            let is_asked_for = self.folders.is_empty() || kind == Kind::Folder;
            return left_out(&name, temporary(&name, is_asked_for));
        }
        let opened = match kind {
            Kind::Folder if !is_alone => {
                match self.open_folder(last, &looked.stat, looked.is_followed) {
                    Ok(opened) => Some(opened),
                    Err(trouble) => return folder_left_out(&name, trouble),
                }
            }
            _ => None,
        };
        let Some(id) = self.remember(last, &looked.stat) else {
            let what = "more names than a copy can count";
            return left_out(&name, problem(ProblemKind::Request, what));
        };
        if !self.kept().hard_links {
            self.links.note(&looked.stat);
        }
        let inode = self.inode(id, &looked.stat, looked.attributes);
        if let Some((fd, left)) = opened {
            self.enter(id, name, device_and_inode(&looked.stat), fd, left);
        }
        let entry = Entry {
            name: checked,
            kind,
            mode: looked.stat.st_mode & 0o7777,
            modified_nanoseconds: nanoseconds(looked.stat.st_mtime, looked.stat.st_mtime_nsec),
            version: version(&looked.stat),
            is_sparse: is_sparse(&looked.stat),
            digest: None,
        };
        Found::Entry(entry, inode)
    }

    /// What else belongs to an entry; `None` where nothing is to be said.
    fn inode(
        &mut self,
        file: FileId,
        stat: &FileStat,
        attributes: Vec<Attribute>,
    ) -> Option<Box<Inode>> {
        let kept = self.kept();
        let shared = match kept.hard_links {
            true => self.links.shared(file, stat),
            false => None,
        };
        let owner = kept.owners.map(|by| self.owners.owner(stat, by));
        let accessed = kept
            .access_times
            .then(|| nanoseconds(stat.st_atime, stat.st_atime_nsec));
        let has_more = owner.is_some() || accessed.is_some() || !attributes.is_empty();
        let is_told = shared.is_some() || has_more;
        is_told.then(|| {
            Box::new(Inode {
                file,
                shared,
                owner,
                attributes,
                accessed_nanoseconds: accessed,
            })
        })
    }

    fn remember(&self, last: &[u8], stat: &FileStat) -> Option<u32> {
        let parent = self.folders.last().map(|folder| folder.id);
        let found = self.source.found.write();
        let mut found = found.unwrap_or_else(PoisonError::into_inner);
        let id = found.names.add(parent, last)?;
        found.seen.push(Seen::of(stat));
        Some(id)
    }

    fn open_folder(
        &mut self,
        last: &[u8],
        stat: &FileStat,
        is_followed: bool,
    ) -> Result<(OwnedFd, Listing), Problem> {
        let path = self.path_of(last);
        let here = device_and_inode(stat);
        if self
            .folders
            .iter()
            .any(|folder| folder.device_and_inode == here)
        {
            let what = format!("`{}` leads back to a folder that it is in", shown(&path));
            return Err(with_hint(
                problem(ProblemKind::Request, what),
                "copy links as links, or remove this one",
            ));
        }
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let keeps = self.kept().access_times;
        let opened = open_to_read(keeps, flags, |flags| match is_followed {
            true => self.source.root.open(&path, flags),
            false => self.standing_in().and_then(|folder| {
                let last = OsStr::from_bytes(last);
                Ok(openat(
                    folder,
                    last,
                    flags | OFlag::O_NOFOLLOW,
                    Mode::empty(),
                )?)
            }),
        });
        let listed = opened.and_then(|fd| Listing::of(&fd).map(|names| (fd, names)));
        listed.map_err(|error| failed("list", shown(&path), &error))
    }

    fn enter(
        &mut self,
        id: u32,
        name: Vec<u8>,
        device_and_inode: (u64, u64),
        fd: OwnedFd,
        left: Listing,
    ) {
        self.folders.push(Folder {
            id,
            fd: Some(fd),
            name,
            device_and_inode,
            left,
        });
        if let Some(above) = self.folders.len().checked_sub(OPEN_MAX + 1) {
            self.folders[above].fd = None;
        }
    }
}

/// The attributes of what was looked at; links have none.
fn attributes(kept: Kept, stat: &FileStat, place: &Place) -> io::Result<Vec<Attribute>> {
    let kind = kind_of(stat);
    let may_have = matches!(kind, SFlag::S_IFREG | SFlag::S_IFDIR);
    match may_have && (kept.user_attributes || kept.acls) {
        true => place.attributes(kept, kind == SFlag::S_IFDIR),
        false => Ok(Vec::new()),
    }
}
