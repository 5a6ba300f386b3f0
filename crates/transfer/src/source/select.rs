//! Which sources the user's words stand for, and what they are called at the other end.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use globset::{GlobBuilder, GlobMatcher};
use nix::dir::Dir;
use nix::fcntl::OFlag;
use wire::copying::{Problem, ProblemKind};

use crate::root::Root;
use crate::trouble::{failed, problem, shown, with_hint};

/// The name at the other end: the last component, or nothing where the content of a folder is meant.
pub(super) fn target_name(path: &[u8]) -> &[u8] {
    let last = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    match last {
        b"." | b".." => b"",
        other => other,
    }
}

/// Two sources must not end up as one file.
pub(super) fn check_distinct(paths: &[Vec<u8>]) -> Result<(), Problem> {
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

/// Replaces each path with wildcards by what it stands for, in order; one that is there as it is written stays.
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

fn has_wildcard(component: &[u8]) -> bool {
    component.iter().any(|byte| b"*?[{".contains(byte))
}

fn matches(root: &Root, path: &[u8]) -> Result<Vec<Vec<u8>>, Problem> {
    let start = if path.starts_with(b"/") {
        &b"/"[..]
    } else {
        b""
    };
    let mut so_far = vec![start.to_vec()];
    let closed = path.ends_with(b"/");
    let components = path.split(|byte| *byte == b'/');
    for component in components.filter(|component| !component.is_empty()) {
        if !has_wildcard(component) {
            so_far = so_far
                .iter()
                .map(|folder| join(folder, component))
                .collect();
            let is_there =
                |path: &Vec<u8>| root.open(path, OFlag::O_PATH | OFlag::O_NOFOLLOW).is_ok();
            so_far.retain(is_there);
            continue;
        }
        let pattern = compile(component)?;
        let mut next = Vec::new();
        for folder in &so_far {
            next.extend(matching_names(root, folder, &pattern, component)?);
        }
        so_far = next;
    }
    if closed {
        so_far.iter_mut().for_each(|path| path.push(b'/'));
    }
    Ok(so_far)
}

fn compile(component: &[u8]) -> Result<GlobMatcher, Problem> {
    let wrong = |why: String| {
        let what = format!("pattern `{}`: {why}", shown(component));
        with_hint(
            problem(ProblemKind::Request, what),
            "close every bracket, or put `\\` before it",
        )
    };
    let text = std::str::from_utf8(component).map_err(|error| wrong(error.to_string()))?;
    let glob = GlobBuilder::new(text).literal_separator(true).build();
    Ok(glob
        .map_err(|error| wrong(error.kind().to_string()))?
        .compile_matcher())
}

fn matching_names(
    root: &Root,
    folder: &[u8],
    pattern: &GlobMatcher,
    component: &[u8],
) -> Result<Vec<Vec<u8>>, Problem> {
    let Ok(fd) = root.open(folder, OFlag::O_RDONLY | OFlag::O_DIRECTORY) else {
        return Ok(Vec::new());
    };
    let unreadable = |errno: nix::errno::Errno| failed("list", shown(folder), &errno.into());
    let mut dir = Dir::from_fd(fd).map_err(unreadable)?;
    let mut names = Vec::new();
    for entry in dir.iter() {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().to_bytes();
        // As in a shell, hidden names are only meant where the dot is written.
        let is_hidden = name.starts_with(b".") && !component.starts_with(b".");
        let is_meant = !is_hidden && !matches!(name, b"." | b"..");
        if is_meant && pattern.is_match(OsStr::from_bytes(name)) {
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
