//! What can go wrong with a campaign's files.

use std::io;
use std::path::{Path, PathBuf};

use errors::{Fault, Hint};
use thiserror::Error;

/// Why something of a campaign could not be read, written or done.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A file or folder.
    #[error("cannot {doing} {}", path.display())]
    File {
        /// What was tried: `read`, `write`.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file that is not what it should be.
    #[error("{}, line {line}: {why}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// A file whose content changed since it was written.
    #[error("{} is not what was planned: {why}", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// What differs.
        why: String,
    },
    /// Something that the campaign had and that is not there, or not whole.
    #[error("{what}")]
    Lost {
        /// What is missing, with what is known of it.
        what: String,
    },
    /// A file or folder that others may have put there, or may change.
    #[error("{} {why}", path.display())]
    Unsafe {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Another process does the same.
    #[error("{what}, by {by}")]
    Busy {
        /// What goes on.
        what: String,
        /// Who does it.
        by: String,
    },
    /// Nothing of that name.
    #[error("{what}")]
    Missing {
        /// What is not there.
        what: String,
        /// The next step.
        hint: String,
    },
    /// It was asked to end.
    #[error("ended before all was listed")]
    Cancelled,
}

impl Hint for StoreError {
    fn fault(&self) -> Fault {
        match self {
            StoreError::Cancelled => Fault::Cancelled,
            StoreError::Missing { .. } => Fault::Request,
            passing if passing.may_pass() => Fault::Later,
            _ => Fault::Run,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            StoreError::File { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                "make room and give the same command again: what was planned before is untouched"
                    .to_owned()
            }
            StoreError::File { .. } => {
                "check the name, and that you may read and write it".to_owned()
            }
            StoreError::Line { .. } | StoreError::Changed { .. } => {
                "make the shards again with `trunkline campaign plan`, in another folder".to_owned()
            }
            StoreError::Lost { .. } => {
                "if the folder was copied or is on a network, bring all of it here and give the \
                 same command again; otherwise `trunkline campaign plan` in another folder: files \
                 that are at the destination are not sent again"
                    .to_owned()
            }
            StoreError::Unsafe { .. } => {
                "remove it, or take the rights to it from others; who may write in this folder \
                 decides what is copied with your rights"
                    .to_owned()
            }
            StoreError::Busy { .. } => {
                "wait for its end, and give the same command again".to_owned()
            }
            StoreError::Missing { hint, .. } => hint.clone(),
            StoreError::Cancelled => "give the same command again".to_owned(),
        };
        Some(hint)
    }
}

impl StoreError {
    pub(crate) fn file(
        doing: &'static str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> StoreError + use<> {
        let path = path.to_owned();
        move |source| StoreError::File {
            doing,
            path,
            source,
        }
    }

    pub(crate) fn line(path: &Path, line: u64, why: impl Into<String>) -> StoreError {
        StoreError::Line {
            path: path.to_owned(),
            line,
            why: why.into(),
        }
    }

    /// Whether the same request succeeds once others have ended or there is room.
    pub fn may_pass(&self) -> bool {
        match self {
            StoreError::Busy { .. } => true,
            StoreError::File { source, .. } => source.kind() == io::ErrorKind::StorageFull,
            _ => false,
        }
    }
}
