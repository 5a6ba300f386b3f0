//! Where entries belong: the destination and the folders below it.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, readlinkat, renameat};
use nix::sys::stat::{
    FchmodatFlags, FileStat, Mode, SFlag, fchmod, fchmodat, fstat, fstatat, futimens, mkdirat,
};
use nix::sys::time::TimeSpec;
use nix::unistd::{UnlinkatFlags, fsync, symlinkat, unlinkat};
use wire::copying::{Attributes, Entry, FileId, Filter, Kind, Problem, ProblemKind};

use super::temporary::{At, LINK, beside};
use super::{Answer, StoreSpec};
use crate::names::Names;
use crate::root::{Root, open_below};
use crate::trouble::{failed, problem, shown, with_hint};

const FOLDER: OFlag = OFlag::O_RDONLY
    .union(OFlag::O_DIRECTORY)
    .union(OFlag::O_CLOEXEC);

/// The destination, and what was said to belong there.
#[derive(Debug)]
pub(super) struct Place {
    state: Mutex<State>,
    is_fresh: bool,
    shown: String,
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
}

/// What the destination is.
#[derive(Debug, Clone)]
enum Target {
    Folder(Arc<OwnedFd>),
    /// Not there yet; the first entry shows what it becomes.
    New {
        parent: Arc<OwnedFd>,
        last: Vec<u8>,
        is_folder: bool,
    },
    /// The name of the one file.
    File {
        parent: Arc<OwnedFd>,
        last: Vec<u8>,
        is_taken: bool,
    },
    /// A folder that a dry run does not make.
    Nowhere,
}

/// What is remembered of an entry.
#[derive(Debug, Clone, Copy)]
struct Record {
    size: u64,
    modified_nanoseconds: i64,
    mode: u32,
    /// The mode is set whatever the mask says.
    is_exact: bool,
}

impl Place {
    /// Looks at the destination.
    pub fn open(root: &Root, spec: &StoreSpec) -> Result<Self, Problem> {
        let path = &spec.destination;
        let name = shown(path);
        let target =
            find(root, path, spec.into_folder).map_err(|error| not_a_destination(&name, &error))?;
        let is_fresh = match &target {
            Target::Folder(fd) => is_empty(fd).map_err(|error| failed("list", &name, &error))?,
            Target::New { .. } | Target::Nowhere => true,
            Target::File { .. } => false,
        };
        if spec.into_folder && matches!(target, Target::File { .. }) {
            let what = format!("`{name}` is no folder, and more than one thing is copied to it");
            let refused = problem(ProblemKind::Request, what);
            return Err(with_hint(refused, "name a folder as destination"));
        }
        Ok(Place {
            state: Mutex::new(State {
                target,
                names: Names::default(),
                records: Vec::new(),
                chain: Vec::new(),
                last_folder: None,
                folders: Vec::new(),
            }),
            is_fresh,
            shown: name,
        })
    }

    pub fn is_fresh(&self) -> bool {
        self.is_fresh
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
            mode: entry.mode & 0o777,
            is_exact: false,
        });
        if entry.kind == Kind::Folder && !name.is_empty() {
            state.chain.push((id, name.to_vec()));
        }
        (id, Ok(()))
    }

    /// What the entry needs; folders and links are made.
    pub fn answer(&self, file: FileId, entry: &Entry, spec: &StoreSpec) -> Result<Answer, Problem> {
        let is_folder = entry.kind == Kind::Folder;
        self.state()
            .decide(is_folder, spec)
            .map_err(|refusal| refusal.told(&self.shown))?;
        match &entry.kind {
            Kind::Folder => {
                self.state().folders.push(file);
                self.make_folder(entry, spec)
            }
            Kind::Link(text) => self.make_link(file, entry, text, spec),
            Kind::File(size) => self.answer_file(file, entry, *size, spec),
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
        let place = state.folder_of(&name);
        let (folder, last) = place.map_err(|error| failed("write", shown(&name), &error))?;
        Ok(At {
            folder,
            shown: self.shown_below(&name),
            last,
            size: record.size,
            mode: record.mode,
            is_exact: record.is_exact,
            modified_nanoseconds: record.modified_nanoseconds,
        })
    }

    /// Modes and times of folders, the innermost first; each is flushed.
    pub fn dress_folders(&self, attributes: &Attributes) -> Vec<Problem> {
        let folders = std::mem::take(&mut self.state().folders);
        let dress = |file: &FileId| self.dress_folder(*file, attributes).err();
        folders.iter().rev().filter_map(dress).collect()
    }

    fn dress_folder(&self, file: FileId, attributes: &Attributes) -> Result<(), Problem> {
        let mut state = self.state();
        let (Some(name), Some(record)) = (
            state.names.get(file),
            state.records.get(file as usize).copied(),
        ) else {
            return Ok(());
        };
        let dressed = state.open_folder(&name).and_then(|fd| {
            if attributes.permissions {
                let special = fstat(&fd)?.st_mode & 0o7000;
                fchmod(&fd, Mode::from_bits_truncate(record.mode | special))?;
            }
            if attributes.times {
                let modified = super::settle::time_of(record.modified_nanoseconds);
                futimens(&fd, &TimeSpec::UTIME_OMIT, &modified)?;
            }
            Ok(fsync(&fd)?)
        });
        dressed.map_err(|error| {
            let mut trouble = failed("set mode and time of", self.shown_below(&name), &error);
            trouble.file = Some(file);
            trouble
        })
    }

    fn make_folder(&self, entry: &Entry, spec: &StoreSpec) -> Result<Answer, Problem> {
        let name = entry.name.as_bytes();
        if name.is_empty() {
            return Ok(Answer::Present);
        }
        let mut state = self.state();
        let (folder, last) = match state.folder_of(name) {
            Ok(place) => place,
            Err(_) if spec.dry_run => return Ok(Answer::Made),
            Err(error) => return Err(failed("make", self.shown_below(name), &error)),
        };
        match look(&folder, &last) {
            Ok(Some(stat)) if kind_of(&stat) == SFlag::S_IFDIR => Ok(Answer::Present),
            Ok(Some(stat)) => Err(in_the_way(&self.shown_below(name), &stat, "a folder")),
            Ok(None) if spec.dry_run => Ok(Answer::Made),
            Ok(None) => {
                let mode = Mode::from_bits_truncate(entry.mode & 0o777 | 0o700);
                let made = mkdirat(&folder, OsStr::from_bytes(&last), mode);
                made.map_err(|errno| failed("make", self.shown_below(name), &errno.into()))?;
                Ok(Answer::Made)
            }
            Err(error) => Err(failed("make", self.shown_below(name), &error)),
        }
    }

    fn make_link(
        &self,
        file: FileId,
        entry: &Entry,
        text: &[u8],
        spec: &StoreSpec,
    ) -> Result<Answer, Problem> {
        let name = self.shown_below(entry.name.as_bytes());
        let (folder, last) = match self.state().folder_of_file(file) {
            Ok(place) => place,
            Err(_) if spec.dry_run => return Ok(Answer::Made),
            Err(error) => return Err(failed("make", name, &error)),
        };
        match look(&folder, &last).map_err(|error| failed("make", &name, &error))? {
            None => {}
            Some(stat) => match kind_of(&stat) {
                SFlag::S_IFREG | SFlag::S_IFLNK if spec.filter == Filter::Missing => {
                    return Ok(Answer::Present);
                }
                SFlag::S_IFLNK => {
                    let there = readlinkat(&folder, OsStr::from_bytes(&last));
                    let is_same = there.is_ok_and(|there| there.as_bytes() == text);
                    if is_same && spec.filter == Filter::Changed {
                        return Ok(Answer::Present);
                    }
                }
                SFlag::S_IFREG => {}
                _ => return Err(in_the_way(&name, &stat, "a link")),
            },
        }
        if spec.dry_run {
            return Ok(Answer::Made);
        }
        let made = link(&folder, &last, text);
        made.map_err(|error| failed("make", name, &error))?;
        Ok(Answer::Made)
    }

    fn answer_file(
        &self,
        file: FileId,
        entry: &Entry,
        size: u64,
        spec: &StoreSpec,
    ) -> Result<Answer, Problem> {
        let name = self.shown_below(entry.name.as_bytes());
        let mut state = self.state();
        let (folder, last) = match state.folder_of_file(file) {
            Ok(place) => place,
            Err(_) if spec.dry_run => return Ok(Answer::Whole),
            Err(error) => return Err(failed("write", name, &error)),
        };
        let there = look(&folder, &last).map_err(|error| failed("write", &name, &error))?;
        let record = &mut state.records[file as usize];
        record.is_exact = spec.attributes.permissions;
        let Some(stat) = there else {
            return Ok(Answer::Whole);
        };
        match (kind_of(&stat), spec.filter) {
            (SFlag::S_IFREG | SFlag::S_IFLNK, Filter::Missing) => return Ok(Answer::Present),
            (SFlag::S_IFREG, Filter::Changed) if is_same(&stat, size, entry) => {
                return self.keep(&folder, &last, &stat, record, spec);
            }
            (SFlag::S_IFREG, _) => {}
            (SFlag::S_IFLNK, _) => return Ok(Answer::Whole),
            _ => return Err(in_the_way(&name, &stat, "a file")),
        }
        if !spec.attributes.permissions {
            // As with any program that writes to a file that is there.
            record.mode = stat.st_mode & 0o777;
            record.is_exact = true;
        }
        Ok(Answer::Whole)
    }

    /// The content is there already; the mode may not be right.
    fn keep(
        &self,
        folder: &OwnedFd,
        last: &[u8],
        stat: &FileStat,
        record: &Record,
        spec: &StoreSpec,
    ) -> Result<Answer, Problem> {
        let is_wrong = record.is_exact && stat.st_mode & 0o777 != record.mode;
        if is_wrong && !spec.dry_run {
            let mode = Mode::from_bits_truncate(record.mode);
            let last = OsStr::from_bytes(last);
            let set = fchmodat(folder, last, mode, FchmodatFlags::NoFollowSymlink);
            set.map_err(|errno| failed("set the mode of", shown(last.as_bytes()), &errno.into()))?;
        }
        Ok(Answer::Present)
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

/// Why an entry does not fit the destination.
enum Refusal {
    SecondFile,
    Make(io::Error),
}

impl Refusal {
    fn told(self, destination: &str) -> Problem {
        match self {
            Refusal::SecondFile => {
                let what =
                    format!("`{destination}` is one file, and several things are copied to it");
                with_hint(
                    problem(ProblemKind::Request, what),
                    "name a folder as destination",
                )
            }
            Refusal::Make(error) => failed("make", destination, &error),
        }
    }
}

impl State {
    /// The first entry shows what a destination that is not there yet becomes.
    fn decide(&mut self, entry_is_folder: bool, spec: &StoreSpec) -> Result<(), Refusal> {
        match self.target.clone() {
            Target::Folder(_) | Target::Nowhere => Ok(()),
            Target::File { is_taken: true, .. } => Err(Refusal::SecondFile),
            Target::File { .. } if entry_is_folder => Err(Refusal::SecondFile),
            Target::File { parent, last, .. } => {
                let is_taken = true;
                self.target = Target::File {
                    parent,
                    last,
                    is_taken,
                };
                Ok(())
            }
            Target::New {
                parent,
                last,
                is_folder,
            } if is_folder || entry_is_folder => {
                self.target = match spec.dry_run {
                    true => Target::Nowhere,
                    false => Target::Folder(make(&parent, &last).map_err(Refusal::Make)?),
                };
                Ok(())
            }
            Target::New { parent, last, .. } => {
                let is_taken = true;
                self.target = Target::File {
                    parent,
                    last,
                    is_taken,
                };
                Ok(())
            }
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

/// What is at the place that the user named.
fn find(root: &Root, path: &[u8], into_folder: bool) -> io::Result<Target> {
    match root.open(path, FOLDER) {
        Ok(fd) => return Ok(Target::Folder(Arc::new(fd))),
        Err(error) => match Errno::from_raw(error.raw_os_error().unwrap_or(0)) {
            Errno::ENOENT | Errno::ENOTDIR => {}
            _ => return Err(error),
        },
    }
    let closed = path.ends_with(b"/");
    let end = path
        .iter()
        .rposition(|byte| *byte != b'/')
        .map_or(0, |at| at + 1);
    let start = path[..end]
        .iter()
        .rposition(|byte| *byte == b'/')
        .map_or(0, |at| at + 1);
    let last = &path[start..end];
    if matches!(last, b"" | b"." | b"..") {
        return Err(Errno::ENOENT.into());
    }
    let parent = Arc::new(root.open(&path[..start], FOLDER)?);
    let last = last.to_vec();
    match look(&parent, &last)? {
        None => Ok(Target::New {
            parent,
            last,
            is_folder: into_folder || closed,
        }),
        Some(_) if closed => Err(Errno::ENOTDIR.into()),
        Some(_) => Ok(Target::File {
            parent,
            last,
            is_taken: false,
        }),
    }
}

fn make(parent: &OwnedFd, last: &[u8]) -> io::Result<Arc<OwnedFd>> {
    match mkdirat(
        parent,
        OsStr::from_bytes(last),
        Mode::from_bits_truncate(0o777),
    ) {
        Ok(()) | Err(Errno::EEXIST) => {}
        Err(errno) => return Err(errno.into()),
    }
    Ok(Arc::new(open_below(
        parent.as_fd(),
        last,
        FOLDER,
        Mode::empty(),
    )?))
}

fn link(folder: &OwnedFd, last: &[u8], text: &[u8]) -> io::Result<()> {
    let beside = beside(last, LINK);
    let (beside, last) = (OsStr::from_bytes(&beside), OsStr::from_bytes(last));
    let text = OsStr::from_bytes(text);
    if let Err(Errno::EEXIST) = symlinkat(text, folder, beside) {
        unlinkat(folder, beside, UnlinkatFlags::NoRemoveDir)?;
        symlinkat(text, folder, beside)?;
    }
    Ok(renameat(folder, beside, folder, last)?)
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

fn is_empty(folder: &OwnedFd) -> io::Result<bool> {
    let mut dir = Dir::from_fd(folder.try_clone()?)?;
    for entry in dir.iter() {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_below(name: &[u8], folder: &[u8]) -> bool {
    name.starts_with(folder) && name.get(folder.len()) == Some(&b'/')
}

/// Same size and time; a file system that keeps whole seconds has lost the rest.
fn is_same(stat: &FileStat, size: u64, entry: &Entry) -> bool {
    const SECOND: i64 = 1_000_000_000;
    let (seconds, rest) = (stat.st_mtime, stat.st_mtime_nsec);
    let wanted = entry.modified_nanoseconds;
    let is_same_second = seconds == wanted.div_euclid(SECOND);
    let is_same_rest = rest == wanted.rem_euclid(SECOND) || rest == 0;
    u64::try_from(stat.st_size) == Ok(size) && is_same_second && is_same_rest
}

fn kind_of(stat: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT
}

fn in_the_way(name: &str, stat: &FileStat, wanted: &str) -> Problem {
    let there = match kind_of(stat) {
        SFlag::S_IFDIR => "a folder",
        SFlag::S_IFLNK => "a link",
        SFlag::S_IFIFO => "a pipe",
        SFlag::S_IFSOCK => "a socket",
        SFlag::S_IFREG => "a file",
        _ => "a device",
    };
    let what = format!("`{name}` is {there}, and {wanted} should take its place");
    with_hint(
        problem(ProblemKind::Request, what),
        "move it away or choose another destination",
    )
}

fn not_a_destination(name: &str, error: &io::Error) -> Problem {
    let trouble = failed("copy to", name, error);
    match trouble.kind {
        ProblemKind::NotFound => with_hint(trouble, "make the folder that it is in first"),
        _ => trouble,
    }
}
