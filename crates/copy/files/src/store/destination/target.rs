//! What the destination is, a file or a folder, before and after the first entry.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use copy_protocol::{Problem, ProblemKind, is_reserved};
use nix::dir::Dir;
use nix::errno::Errno;
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::fsync;

use super::super::StoreSpec;
use super::plan_entry::is_folder;
use super::{FOLDER, look};
use crate::problems::{failed, problem, with_hint};
use crate::root::{Root, open_below};

/// What the destination is.
#[derive(Debug, Clone)]
pub(in crate::store) enum Target {
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

/// Why an entry does not fit the destination.
pub(in crate::store) enum Refusal {
    /// It is one file, and that is taken.
    SecondFile,
    /// It cannot be made.
    Make(io::Error),
}

impl Refusal {
    /// For people.
    pub fn told(self, destination: &str) -> Problem {
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

impl Target {
    /// The first entry shows what a destination that is not there yet becomes.
    pub fn decide(&mut self, entry_is_folder: bool, spec: &StoreSpec) -> Result<(), Refusal> {
        match self.clone() {
            Target::Folder(_) | Target::Nowhere => Ok(()),
            Target::File { is_taken: true, .. } => Err(Refusal::SecondFile),
            Target::File { .. } if entry_is_folder => Err(Refusal::SecondFile),
            Target::File { parent, last, .. } => {
                let is_taken = true;
                *self = Target::File {
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
                *self = match spec.dry_run {
                    true => Target::Nowhere,
                    false => Target::Folder(make(&parent, &last).map_err(Refusal::Make)?),
                };
                Ok(())
            }
            Target::New { parent, last, .. } => {
                let is_taken = true;
                *self = Target::File {
                    parent,
                    last,
                    is_taken,
                };
                Ok(())
            }
        }
    }
}

/// What is at the place that the user named.
pub(in crate::store) fn find(root: &Root, path: &[u8], into_folder: bool) -> io::Result<Target> {
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
    if is_reserved(last) {
        return Err(io::Error::other(
            "a temporary file of a copy has such a name; choose another",
        ));
    }
    let parent = Arc::new(root.open(&path[..start], FOLDER)?);
    let last = last.to_vec();
    match look(&parent, &last)? {
        None => Ok(Target::New {
            parent,
            last,
            is_folder: into_folder || closed,
        }),
        // Another copy made it just now.
        Some(stat) if is_folder(&stat) => Ok(Target::Folder(Arc::new(root.open(path, FOLDER)?))),
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
    // The files in it are nowhere after a power failure unless it is there itself.
    fsync(parent)?;
    Ok(Arc::new(open_below(
        parent.as_fd(),
        last,
        FOLDER,
        Mode::empty(),
    )?))
}

/// Whether a folder has nothing in it.
pub(super) fn is_empty(folder: &OwnedFd) -> io::Result<bool> {
    let mut dir = Dir::from_fd(folder.try_clone()?)?;
    for entry in dir.iter() {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            return Ok(false);
        }
    }
    Ok(true)
}
