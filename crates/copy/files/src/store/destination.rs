//! The destination and the folders below it: where each entry belongs.

mod compare;
mod folder_attributes;
mod inode;
mod plan_entry;
pub(super) mod remove;
pub(super) mod target;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use copy_protocol::{Entry, FileId, Inode, Kind, Problem, ProblemKind};
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag};
use nix::sys::stat::{FileStat, Mode, fstatat};

use super::StoreSpec;
use super::finalize::umask;
use super::temporary::{At, JOURNAL, beside};
use crate::inodes::OwnerNumbers;
use crate::names::Names;
use crate::problems::{failed, problem, shown, with_hint};
use crate::root::{Root, open_below};
use target::Target;

const FOLDER: OFlag = OFlag::O_RDONLY
    .union(OFlag::O_DIRECTORY)
    .union(OFlag::O_CLOEXEC);

/// The destination, and the entries that belong there.
#[derive(Debug)]
pub(super) struct Destination {
    state: Mutex<State>,
    is_fresh: bool,
    /// Owners are kept, and with them the bits that lend their rights.
    keeps_owners: bool,
    takes_links: bool,
    shown: String,
    root: Root,
}

#[derive(Debug)]
struct State {
    target: Target,
    names: Names,
    records: Vec<Record>,
    /// Folders that the last entry is in, with their names.
    chain: Vec<(FileId, Vec<u8>)>,
    /// The folder that was opened last, by its name.
    last_folder: Option<(Vec<u8>, Arc<OwnedFd>)>,
    folders: Vec<FileId>,
    /// The last folder that could not be had, by its name.
    refused: Option<Vec<u8>>,
    /// What else belongs to entries, until it is set.
    inodes: BTreeMap<FileId, Inode>,
    /// Bytes of it that wait for the end.
    folder_bytes: usize,
    owner_numbers: OwnerNumbers,
}

/// What is remembered of an entry.
#[derive(Debug, Clone, Copy)]
struct Record {
    size: u64,
    modified_nanoseconds: i64,
    version: u64,
    mode: u32,
    /// The mode is set whatever the mask says.
    is_exact: bool,
    is_sparse: bool,
}

/// Whether an earlier try left something of a file of this name.
fn is_begun(parent: &OwnedFd, last: &[u8]) -> bool {
    let journal = beside(last, JOURNAL);
    let name = OsStr::from_bytes(&journal);
    fstatat(parent, name, AtFlags::AT_SYMLINK_NOFOLLOW).is_ok()
}

impl Destination {
    /// Looks at the destination.
    pub fn open(root: &Root, spec: &StoreSpec) -> Result<Self, Problem> {
        let path = &spec.destination;
        let name = shown(path);
        let target = target::find(root, path, spec.into_folder)
            .map_err(|error| not_a_destination(&name, &error))?;
        let is_fresh = match &target {
            Target::Folder(fd) => {
                target::is_empty(fd).map_err(|error| failed("list", &name, &error))?
            }
            Target::New { parent, last, .. } => !is_begun(parent, last),
            Target::Nowhere => true,
            Target::File { .. } => false,
        };
        if spec.into_folder && matches!(target, Target::File { .. }) {
            let what = format!("`{name}` is no folder, and more than one thing is copied to it");
            let refused = problem(ProblemKind::Request, what);
            return Err(with_hint(refused, "name a folder as destination"));
        }
        Ok(Destination {
            state: Mutex::new(State {
                target,
                names: Names::default(),
                records: Vec::new(),
                chain: Vec::new(),
                last_folder: None,
                folders: Vec::new(),
                refused: None,
                inodes: BTreeMap::new(),
                folder_bytes: 0,
                owner_numbers: OwnerNumbers::default(),
            }),
            keeps_owners: spec.attributes.kept.owners.is_some(),
            is_fresh,
            takes_links: root.may_link(),
            shown: name,
            root: root.clone(),
        })
    }

    pub fn is_fresh(&self) -> bool {
        self.is_fresh
    }

    pub fn may_read(&self) -> bool {
        self.root.may_read()
    }

    /// Remembers an entry under the next id.
    pub fn add(&self, entry: &Entry) -> (FileId, Result<(), Problem>) {
        let mut state = self.state();
        let name = entry.name.as_bytes();
        while state
            .chain
            .last()
            .is_some_and(|(_, folder)| !is_below(name, folder))
        {
            state.chain.pop();
        }
        let (parent, last) = match state.chain.last() {
            Some((id, folder)) => (Some(*id), name[folder.len() + 1..].to_vec()),
            None => (None, name.to_vec()),
        };
        let Some(id) = state.names.add(parent, &last) else {
            let what = format!("more than {} entries", state.names.len());
            return (FileId::MAX, Err(problem(ProblemKind::Request, what)));
        };
        let size = match entry.kind {
            Kind::File(size) => size,
            Kind::Folder | Kind::Link(_) => 0,
        };
        state.records.push(Record {
            size,
            modified_nanoseconds: entry.modified_nanoseconds,
            version: entry.version,
            mode: self.allowed_mode(entry),
            is_exact: false,
            is_sparse: entry.is_sparse,
        });
        if entry.kind == Kind::Folder && !name.is_empty() {
            state.chain.push((id, name.to_vec()));
        }
        let above = state.refused.as_ref();
        match above.is_some_and(|folder| is_below(name, folder)) {
            true => (id, Err(follows(&self.shown_below(name)))),
            false => (id, Ok(())),
        }
    }

    /// A folder cannot be had, and so nothing that is in it.
    pub fn refuse(&self, entry: &Entry) {
        let name = entry.name.as_bytes();
        let mut state = self.state();
        let above = state.refused.as_ref();
        let is_told = above.is_some_and(|folder| is_below(name, folder));
        if entry.kind == Kind::Folder && !name.is_empty() && !is_told {
            state.refused = Some(name.to_vec());
        }
    }

    /// The destination could not be made, so nothing can be had.
    pub fn is_nowhere(&self) -> bool {
        matches!(self.state().target, Target::New { .. })
    }

    /// Permission bits that an entry may have here. A server's mask holds for what others put
    /// there. Set-id bits never arrive, and a folder's sticky bit does.
    fn allowed_mode(&self, entry: &Entry) -> u32 {
        let bits = match entry.kind {
            _ if self.keeps_owners => entry.mode & 0o7777,
            Kind::Folder => entry.mode & 0o1777,
            Kind::File(_) | Kind::Link(_) => entry.mode & 0o777,
        };
        match self.root.is_own() {
            true => bits,
            false => bits & !umask(),
        }
    }

    /// Where a file belongs.
    pub fn at(&self, file: FileId) -> Result<At, Problem> {
        let mut state = self.state();
        let unknown = || {
            problem(
                ProblemKind::Protocol,
                format!("file {file} was never told of"),
            )
        };
        let record = *state.records.get(file as usize).ok_or_else(unknown)?;
        let name = state.names.get(file).ok_or_else(unknown)?;
        let destination = state.folder_of(&name);
        let (folder, last) = destination.map_err(|error| failed("write", shown(&name), &error))?;
        Ok(At {
            folder,
            shown: match &state.target {
                Target::File { .. } => self.shown.clone(),
                _ => self.shown_below(&name),
            },
            last,
            size: record.size,
            mode: record.mode,
            is_exact: record.is_exact,
            modified_nanoseconds: record.modified_nanoseconds,
            version: record.version,
            is_sparse: record.is_sparse,
            part: None,
        })
    }

    /// What an entry was called.
    pub fn name(&self, file: FileId) -> Option<Vec<u8>> {
        self.state().names.get(file)
    }

    fn shown_below(&self, name: &[u8]) -> String {
        match name.is_empty() {
            true => self.shown.clone(),
            false if self.shown.is_empty() => shown(name),
            false => format!("{}/{}", self.shown.trim_end_matches('/'), shown(name)),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The folder that everything is in.
    fn base(&self) -> Option<Arc<OwnedFd>> {
        match &self.target {
            Target::Folder(fd) => Some(Arc::clone(fd)),
            Target::File { parent, .. } => Some(Arc::clone(parent)),
            Target::New { .. } | Target::Nowhere => None,
        }
    }

    fn folder_of_file(&mut self, file: FileId) -> io::Result<(Arc<OwnedFd>, Vec<u8>)> {
        let name = self.names.get(file).ok_or(io::ErrorKind::NotFound)?;
        self.folder_of(&name)
    }

    /// The folder that a name is in, and its last component.
    fn folder_of(&mut self, name: &[u8]) -> io::Result<(Arc<OwnedFd>, Vec<u8>)> {
        if let Target::File { parent, last, .. } = &self.target {
            return Ok((Arc::clone(parent), last.clone()));
        }
        let (folder, last) = match name.iter().rposition(|byte| *byte == b'/') {
            Some(at) => (&name[..at], &name[at + 1..]),
            None => (&name[..0], name),
        };
        if last.is_empty() {
            return Err(Errno::EISDIR.into());
        }
        Ok((self.open_folder(folder)?, last.to_vec()))
    }

    fn open_folder(&mut self, name: &[u8]) -> io::Result<Arc<OwnedFd>> {
        let Target::Folder(base) = &self.target else {
            return Err(Errno::ENOENT.into());
        };
        if name.is_empty() {
            return Ok(Arc::clone(base));
        }
        if let Some((last, fd)) = &self.last_folder
            && last == name
        {
            return Ok(Arc::clone(fd));
        }
        let fd = Arc::new(open_below(base.as_fd(), name, FOLDER, Mode::empty())?);
        self.last_folder = Some((name.to_vec(), Arc::clone(&fd)));
        Ok(fd)
    }
}

fn look(folder: &OwnedFd, last: &[u8]) -> io::Result<Option<FileStat>> {
    match fstatat(
        folder,
        OsStr::from_bytes(last),
        AtFlags::AT_SYMLINK_NOFOLLOW,
    ) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::ENOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

fn is_below(name: &[u8], folder: &[u8]) -> bool {
    name.starts_with(folder) && name.get(folder.len()) == Some(&b'/')
}

fn follows(name: &str) -> Problem {
    let what = format!("`{name}`: the folder that it is in could not be copied");
    problem(ProblemKind::Follows, what)
}

fn not_a_destination(name: &str, error: &io::Error) -> Problem {
    let trouble = failed("copy to", name, error);
    match trouble.kind {
        ProblemKind::NotFound => with_hint(trouble, "make the folder that it is in first"),
        _ => trouble,
    }
}
