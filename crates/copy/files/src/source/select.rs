//! Which sources the user's words stand for, and what they are called at the other end.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use copy_protocol::{Problem, ProblemKind};
use globset::{GlobBuilder, GlobMatcher};
use nix::dir::Dir;
use nix::fcntl::OFlag;

use crate::problems::{failed, problem, shown, with_hint};
use crate::root::Root;

/// Most names that a wildcard may stand for: what is more is a folder.
const MATCHES_MAX: usize = 1_000_000;
/// Most names that are looked at for one path: some seconds of a processor.
const LOOKED_MAX: usize = 20_000_000;

/// The name at the other end: the last component, or nothing where the content of a folder is
/// meant.
pub fn target_name(path: &[u8]) -> &[u8] {
    let last = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    match last {
        b"." | b".." => b"",
        other => other,
    }
}

/// Two sources must not end up as one file.
///
/// # Errors
/// When two of them would.
pub fn check_distinct(paths: &[Vec<u8>]) -> Result<(), Problem> {
    let mut names = BTreeSet::new();
    for path in paths {
        let name = target_name(path);
        if !name.is_empty() && !names.insert(name) {
            let what = format!("two sources would both become `{}`", shown(name));
            return Err(with_hint(
                problem(ProblemKind::Request, what),
                "copy them one after the other to different destinations",
            ));
        }
    }
    Ok(())
}

/// Replaces each path with wildcards by what it stands for, in order; one that is there as it is
/// written stays.
pub(super) fn expand(root: &Root, paths: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Problem> {
    let mut all = Vec::new();
    for path in paths {
        let is_there = || root.open(path, OFlag::O_PATH | OFlag::O_NOFOLLOW).is_ok();
        if !has_wildcard(path) || is_there() {
            all.push(path.clone());
            continue;
        }
        let matching = matches(root, path)?;
        if matching.is_empty() {
            let what = format!("`{}` stands for nothing", shown(path));
            return Err(with_hint(
                problem(ProblemKind::NotFound, what),
                "see what is there with a wider pattern and `--dry-run`",
            ));
        }
        all.extend(matching);
    }
    Ok(all)
}

/// Whether a name, or a component of it, stands for others.
pub fn has_wildcard(component: &[u8]) -> bool {
    component.iter().any(|byte| b"*?[{".contains(byte))
}

fn matches(root: &Root, path: &[u8]) -> Result<Vec<Vec<u8>>, Problem> {
    let components = path.split(|byte| *byte == b'/');
    let mut components = components.filter(|component| !component.is_empty());
    let mut from_wildcard = components.clone().skip_while(|one| !has_wildcard(one));
    if from_wildcard.any(|one| matches!(one, b"." | b"..")) {
        return Err(up_and_down(path));
    }
    let start = if path.starts_with(b"/") {
        &b"/"[..]
    } else {
        b""
    };
    let mut looked = Looked::default();
    let found = components.try_fold(vec![start.to_vec()], |so_far, component| {
        below(root, &so_far, component, &mut looked)
    });
    let mut found = found.map_err(|trouble| match trouble.kind {
        ProblemKind::Busy => too_many(path),
        _ => trouble,
    })?;
    if path.ends_with(b"/") {
        found.iter_mut().for_each(|path| path.push(b'/'));
    }
    Ok(found)
}

/// What the component stands for in each of the folders.
fn below(
    root: &Root,
    folders: &[Vec<u8>],
    component: &[u8],
    looked: &mut Looked,
) -> Result<Vec<Vec<u8>>, Problem> {
    if !has_wildcard(component) {
        let joined = folders.iter().map(|folder| join(folder, component));
        let is_there = |path: &Vec<u8>| root.open(path, OFlag::O_PATH | OFlag::O_NOFOLLOW).is_ok();
        return Ok(joined.filter(is_there).collect());
    }
    let pattern = Pattern::new(component)?;
    let mut found = Vec::new();
    for folder in folders {
        found.extend(matching_names(root, folder, &pattern, looked)?);
        if found.len() > MATCHES_MAX {
            return Err(looked.too_many());
        }
    }
    Ok(found)
}

/// Going up and down again and again would list the same folders without end.
fn up_and_down(path: &[u8]) -> Problem {
    let what = format!("`{}` has `.` or `..` behind a wildcard", shown(path));
    with_hint(
        problem(ProblemKind::Request, what),
        "name the folder first, and then the wildcard",
    )
}

fn too_many(path: &[u8]) -> Problem {
    let what = format!(
        "`{}` stands for more than {MATCHES_MAX} names, or {LOOKED_MAX} names have to be looked at \
        for it",
        shown(path)
    );
    with_hint(
        problem(ProblemKind::Request, what),
        "copy the folder that they are in with `-r`, or use a narrower pattern",
    )
}

/// How many names were looked at.
#[derive(Debug, Default)]
struct Looked(usize);

impl Looked {
    fn add_one(&mut self) -> Result<(), Problem> {
        self.0 += 1;
        match self.0 > LOOKED_MAX {
            true => Err(self.too_many()),
            false => Ok(()),
        }
    }

    /// The caller adds the whole path.
    fn too_many(&self) -> Problem {
        problem(ProblemKind::Busy, "too many names")
    }
}

/// A component of a name with wildcards, as both ends understand it.
#[derive(Debug)]
pub struct Pattern {
    matcher: GlobMatcher,
    is_hidden: bool,
}

impl Pattern {
    /// # Errors
    /// When it cannot be read.
    pub fn new(component: &[u8]) -> Result<Self, Problem> {
        let wrong = |why: String| {
            let what = format!("pattern `{}`: {why}", shown(component));
            with_hint(
                problem(ProblemKind::Request, what),
                "close every bracket, or put `\\` before it",
            )
        };
        let text = std::str::from_utf8(component).map_err(|error| wrong(error.to_string()))?;
        let glob = GlobBuilder::new(text).literal_separator(true).build();
        let glob = glob.map_err(|error| wrong(error.kind().to_string()))?;
        Ok(Pattern {
            matcher: glob.compile_matcher(),
            is_hidden: component.starts_with(b"."),
        })
    }

    /// Whether it stands for this name. As in a shell, hidden names are only meant where the dot is
    /// written.
    pub fn is_match(&self, name: &[u8]) -> bool {
        let is_meant = self.is_hidden || !name.starts_with(b".");
        is_meant && !matches!(name, b"." | b"..") && self.matcher.is_match(OsStr::from_bytes(name))
    }
}

fn matching_names(
    root: &Root,
    folder: &[u8],
    pattern: &Pattern,
    looked: &mut Looked,
) -> Result<Vec<Vec<u8>>, Problem> {
    let Ok(fd) = root.open(folder, OFlag::O_RDONLY | OFlag::O_DIRECTORY) else {
        return Ok(Vec::new());
    };
    let unreadable = |errno: nix::errno::Errno| failed("list", shown(folder), &errno.into());
    let mut dir = Dir::from_fd(fd).map_err(unreadable)?;
    let mut names = Vec::new();
    for entry in dir.iter() {
        let entry = entry.map_err(unreadable)?;
        looked.add_one()?;
        let name = entry.file_name().to_bytes();
        if pattern.is_match(name) {
            names.push(join(folder, name));
        }
    }
    names.sort();
    Ok(names)
}

fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let mut joined = folder.to_vec();
    if !joined.is_empty() && !joined.ends_with(b"/") {
        joined.push(b'/');
    }
    joined.extend_from_slice(name);
    joined
}
