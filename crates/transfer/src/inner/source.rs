//! Entries below the sources, folders before what is in them.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use wire::copying::{Entry, Kind, Name, Problem, ProblemKind};

/// Walks sources in order.
pub(crate) struct Walk {
    todo: Vec<(PathBuf, Vec<u8>)>,
    recursive: bool,
}

impl Walk {
    /// `into_folder`: names begin with the last component of each source.
    pub(crate) fn new(sources: &[PathBuf], into_folder: bool, recursive: bool) -> Self {
        let named = |source: &PathBuf| {
            let last = source.file_name().map_or(&b""[..], |name| name.as_bytes());
            let last = if into_folder { last } else { b"" };
            (source.clone(), last.to_vec())
        };
        let todo = sources.iter().rev().map(named).collect();
        Walk { todo, recursive }
    }

    fn entry(&mut self, path: &Path, name: Vec<u8>) -> Result<Entry, Problem> {
        let about = |error: std::io::Error| trouble(path, &error);
        let meta = fs::symlink_metadata(path).map_err(about)?;
        let kind = if meta.is_dir() {
            self.push_folder(path, &name).map_err(about)?;
            Kind::Folder
        } else if meta.is_symlink() {
            let target = fs::read_link(path).map_err(about)?;
            Kind::Link(target.as_os_str().as_bytes().to_vec())
        } else {
            Kind::File(meta.len())
        };
        let nanoseconds = meta.mtime() * 1_000_000_000 + meta.mtime_nsec();
        let name = Name::new(name).map_err(|error| Problem {
            kind: ProblemKind::Request,
            file: None,
            what: error.to_string(),
            hint: None,
        })?;
        Ok(Entry {
            name,
            kind,
            mode: meta.mode() & 0o7777,
            modified_nanoseconds: nanoseconds,
        })
    }

    fn push_folder(&mut self, path: &Path, name: &[u8]) -> std::io::Result<()> {
        if !self.recursive {
            return Ok(());
        }
        let children: Result<Vec<_>, _> = fs::read_dir(path)?.collect();
        let mut children = children?;
        children.sort_by_key(|child| std::cmp::Reverse(child.file_name()));
        for child in children {
            let mut below = name.to_vec();
            if !below.is_empty() {
                below.push(b'/');
            }
            below.extend(child.file_name().as_bytes());
            self.todo.push((child.path(), below));
        }
        Ok(())
    }
}

impl Iterator for Walk {
    type Item = Result<(PathBuf, Entry), Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        let (path, name) = self.todo.pop()?;
        Some(self.entry(&path, name).map(|entry| (path, entry)))
    }
}

/// What a failed operation on a file is called.
pub(crate) fn trouble(path: &Path, error: &std::io::Error) -> Problem {
    let kind = match error.kind() {
        std::io::ErrorKind::NotFound => ProblemKind::NotFound,
        std::io::ErrorKind::PermissionDenied => ProblemKind::Permission,
        std::io::ErrorKind::StorageFull => ProblemKind::DiskFull,
        _ => ProblemKind::Disk,
    };
    Problem {
        kind,
        file: None,
        what: format!("{}: {error}", path.display()),
        hint: None,
    }
}
