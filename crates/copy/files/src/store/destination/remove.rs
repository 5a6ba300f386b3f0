//! Looks through the folders of the destination for what the sources do not have: unfinished files
//! of copies that were broken off are told, and where that was asked for, all is removed.
//!
//! Only folders that a source has, and that were told with all that is in them, are looked through,
//! once everything else is done. What a rule leaves out stays, as do temporary files of copies that
//! go on or were broken off within a day, what another file system is mounted on, and the folders
//! that these are in. Links are removed, never followed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::Duration;

use copy_protocol::{FileProblem, Name, PART_ENDING, Problem, ProblemKind, Removed, is_reserved};
use nix::dir::Dir;
use nix::sys::stat::{FileStat, Mode, fstat};
use nix::unistd::{UnlinkatFlags, unlinkat};
use units::{Bytes, Span};

use super::super::temporary::Leftover;
use super::plan_entry::is_folder;
use super::{Destination, FOLDER, look};
use crate::problems::{failed, problem, shown, with_hint};
use crate::root::open_below;
use crate::source::rules::Rules;

/// Names that are looked at in one step: some milliseconds.
const STEP: usize = 256;
/// Folders within folders that are held open.
const DEPTH_MAX: usize = 256;

/// How long nothing went on with an unfinished file that is removed: the copy that began it may
/// still be given again.
const UNFINISHED_MIN: Duration = Duration::from_secs(24 * 60 * 60);

/// What became of a name.
#[derive(Debug)]
pub enum Gone {
    /// It is gone, or would be in a dry run.
    Removed(Removed),
    /// It stays: it could not be removed, or is an unfinished file.
    Stays(FileProblem),
}

/// Goes through the folders, some names at a time.
#[derive(Debug)]
pub struct Removal {
    rules: Rules,
    kept: BTreeSet<String>,
    is_dry: bool,
    /// Otherwise unfinished files are told, and nothing else.
    removes: bool,
    /// The sources have nothing: what was to be copied may not be mounted.
    has_no_source: bool,
    /// Hashes of all names that were told, in order. Two that share one keep a name that should go,
    /// which harms nothing.
    told: Vec<u64>,
    hasher: RandomState,
    /// Folders to look through; the next is the last.
    folders: Vec<Vec<u8>>,
    stack: Vec<Level>,
}

/// A folder that is being looked through.
#[derive(Debug)]
struct Level {
    fd: Arc<OwnedFd>,
    device: u64,
    name: Vec<u8>,
    left: Vec<Vec<u8>>,
    /// It goes itself once nothing is in it.
    is_doomed: bool,
    /// Something in it stays.
    has_kept: bool,
}

impl Destination {
    /// Tells unfinished files, and removes nothing.
    pub fn unfinished(&self) -> Removal {
        let state = self.state();
        let count = state.names.len();
        let folders = state.folders.iter().rev();
        let folders: BTreeSet<Vec<u8>> = folders.filter_map(|id| state.names.get(*id)).collect();
        let has_no_source = match folders.contains(&b""[..]) {
            true => count == 1,
            false => count == folders.len() && !folders.iter().any(|name| name.contains(&b'/')),
        };
        Removal {
            rules: Rules::default(),
            kept: BTreeSet::new(),
            is_dry: true,
            removes: false,
            has_no_source,
            told: Vec::new(),
            hasher: RandomState::new(),
            folders: folders.into_iter().rev().collect(),
            stack: Vec::new(),
        }
    }

    /// The same, and removes.
    pub fn removal(&self, rules: Rules, kept: BTreeSet<String>, is_dry: bool) -> Removal {
        let mut removal = Removal {
            rules,
            kept,
            is_dry,
            removes: true,
            ..self.unfinished()
        };
        let state = self.state();
        let ids = 0..u32::try_from(state.names.len()).unwrap_or(u32::MAX);
        let names = ids.filter_map(|id| state.names.get(id));
        removal.told = names.map(|name| removal.hasher.hash_one(&name)).collect();
        removal.told.sort_unstable();
        removal
    }

    fn open_told(&self, name: &[u8]) -> io::Result<Arc<OwnedFd>> {
        self.state().open_folder(name)
    }
}

impl Removal {
    /// Looks at some more names.
    pub(in crate::store) fn step(&mut self, destination: &Destination) -> Option<Vec<Gone>> {
        let mut gone = Vec::new();
        for _ in 0..STEP {
            if self.stack.is_empty() {
                let Some(folder) = self.folders.pop() else {
                    return (!gone.is_empty()).then_some(gone);
                };
                self.begin(destination, folder);
                continue;
            }
            match self.stack.last_mut().and_then(|level| level.left.pop()) {
                Some(last) => self.child(&last, &mut gone),
                None => self.leave(&mut gone),
            }
        }
        Some(gone)
    }

    /// One that a dry run did not make, or that is gone meanwhile, has nothing to remove.
    fn begin(&mut self, destination: &Destination, folder: Vec<u8>) {
        let opened = destination.open_told(&folder);
        if let Ok(level) = opened.and_then(|fd| Level::of(fd, folder, false)) {
            self.stack.push(level);
        }
    }

    fn child(&mut self, last: &[u8], gone: &mut Vec<Gone>) {
        let Some(level) = self.stack.last_mut() else {
            return;
        };
        if is_reserved(last) {
            return self.temporary(last, gone);
        }
        if !self.removes {
            return;
        }
        let name = below(&level.name, last);
        if !level.is_doomed
            && self
                .told
                .binary_search(&self.hasher.hash_one(&name))
                .is_ok()
        {
            return;
        }
        let stat = match look(&level.fd, last) {
            Ok(Some(stat)) => stat,
            Ok(None) => return,
            Err(error) => return level.keep(gone, &name, failed("remove", shown(&name), &error)),
        };
        let is_protected =
            self.rules.hide(&name, is_folder(&stat)) || self.kept.contains(&shown(&name));
        match (is_protected, is_folder(&stat)) {
            (true, _) => level.has_kept = true,
            (false, _) if self.has_no_source => {
                let folder = level.name.clone();
                level.keep(gone, &folder, emptied());
                self.folders.clear();
                self.stack.clear();
            }
            (false, true) => self.enter(last, name, &stat, gone),
            (false, false) => self.unlink(last, name, UnlinkatFlags::NoRemoveDir, gone),
        }
    }

    /// A temporary name. A journal is not told beside the file that it belongs to.
    fn temporary(&mut self, last: &[u8], gone: &mut Vec<Gone>) {
        let may_remove = self.removes && !self.has_no_source;
        let Some(level) = self.stack.last_mut() else {
            return;
        };
        let name = below(&level.name, last);
        match Leftover::find(&level.fd, last) {
            Some(leftover) if may_remove && leftover.age() >= UNFINISHED_MIN => {
                self.unlink(last, name, UnlinkatFlags::NoRemoveDir, gone);
            }
            Some(leftover) if last.ends_with(PART_ENDING) => {
                level.keep(gone, &name, unfinished(&name, &leftover));
            }
            _ => level.has_kept = true,
        }
    }

    /// A folder goes after what is in it.
    fn enter(&mut self, last: &[u8], name: Vec<u8>, stat: &FileStat, gone: &mut Vec<Gone>) {
        let is_too_deep = self.stack.len() >= DEPTH_MAX;
        let Some(level) = self.stack.last_mut() else {
            return;
        };
        if stat.st_dev != level.device || is_too_deep {
            return level.keep(gone, &name, not_entered(&name, is_too_deep));
        }
        let opened = open_below(level.fd.as_fd(), last, FOLDER, Mode::empty());
        match opened.and_then(|fd| Level::of(Arc::new(fd), name.clone(), true)) {
            Ok(below) => self.stack.push(below),
            Err(error) => level.keep(gone, &name, failed("remove", shown(&name), &error)),
        }
    }

    /// Nothing is left to look at in the innermost folder.
    fn leave(&mut self, gone: &mut Vec<Gone>) {
        let (Some(done), Some(above)) = (self.stack.pop(), self.stack.last_mut()) else {
            return;
        };
        if done.has_kept {
            above.has_kept = true;
            return;
        }
        let last = done
            .name
            .rsplit(|byte| *byte == b'/')
            .next()
            .unwrap_or_default();
        self.unlink(last, done.name.clone(), UnlinkatFlags::RemoveDir, gone);
    }

    fn unlink(&mut self, last: &[u8], name: Vec<u8>, how: UnlinkatFlags, gone: &mut Vec<Gone>) {
        let Some(level) = self.stack.last_mut() else {
            return;
        };
        let is_folder = matches!(how, UnlinkatFlags::RemoveDir);
        let removed = match self.is_dry {
            true => Ok(()),
            false => unlinkat(&level.fd, OsStr::from_bytes(last), how),
        };
        let named = Name::new(name.clone()).map_err(io::Error::other);
        match removed.map_err(io::Error::from).and(named) {
            Ok(name) => gone.push(Gone::Removed(Removed { name, is_folder })),
            Err(error) => level.keep(gone, &name, failed("remove", shown(&name), &error)),
        }
    }
}

impl Level {
    fn of(fd: Arc<OwnedFd>, name: Vec<u8>, is_doomed: bool) -> io::Result<Self> {
        let mut left = Vec::new();
        for entry in Dir::from_fd(open_below(fd.as_fd(), b".", FOLDER, Mode::empty())?)?.iter() {
            let entry = entry?;
            let last = entry.file_name().to_bytes();
            if !matches!(last, b"." | b"..") {
                left.push(last.to_vec());
            }
        }
        left.sort_unstable_by(|one, other| other.cmp(one));
        Ok(Level {
            device: fstat(&fd)?.st_dev,
            fd,
            name,
            left,
            is_doomed,
            has_kept: false,
        })
    }

    /// Something in it stays.
    fn keep(&mut self, gone: &mut Vec<Gone>, name: &[u8], trouble: Problem) {
        self.has_kept = true;
        gone.push(Gone::Stays(FileProblem::new(shown(name), trouble)));
    }
}

fn below(folder: &[u8], last: &[u8]) -> Vec<u8> {
    match folder.is_empty() {
        true => last.to_vec(),
        false => [folder, b"/", last].concat(),
    }
}

fn unfinished(name: &[u8], leftover: &Leftover) -> Problem {
    let bytes = Bytes::new(u64::try_from(leftover.stat.st_size).unwrap_or(0));
    let age = Span::from(leftover.age());
    let what = format!(
        "`{}` ({}) is what a copy that was broken off left; nothing was written to it for {}",
        shown(name),
        bytes.human(),
        age.human()
    );
    with_hint(
        problem(ProblemKind::Unfinished, what),
        "give that copy again, or remove the file; a copy into its folder with `--delete` removes \
        those that are a day old",
    )
}

/// The source is empty, and nothing is removed for that.
pub fn emptied() -> Problem {
    let what = "the source is empty, and removing what it lacks would empty the destination";
    with_hint(
        problem(ProblemKind::Request, what),
        "look whether the source is mounted; to empty a folder on purpose, remove it at its host",
    )
}

/// A folder stays with all that is in it.
pub fn not_entered(name: &[u8], is_too_deep: bool) -> Problem {
    let why = match is_too_deep {
        true => format!("more than {DEPTH_MAX} folders lie within each other"),
        false => "another file system is mounted there".to_owned(),
    };
    let what = format!("`{}` is not removed: {why}", shown(name));
    with_hint(
        problem(ProblemKind::Request, what),
        "remove it by hand, or leave it out with `--exclude`",
    )
}
