//! Why an archive cannot be used.

use std::io;
use std::path::{Path, PathBuf};

use errors::{Fault, Hint};
use rusqlite::ErrorCode;
use thiserror::Error;

use record::{LoadError, Schema};

/// Why an archive cannot be used.
#[derive(Debug, Error)]
pub enum ArchiveError {
    /// Its folder cannot be made or written into.
    #[error("cannot use {} for the archive of results", folder.display())]
    Folder {
        /// Which folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no file.
    #[error("there is no archive of results at {}", path.display())]
    Missing {
        /// Where.
        path: PathBuf,
    },
    /// It cannot be opened, read or written.
    #[error("cannot use the archive of results {}", path.display())]
    Database {
        /// Which one.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// What is in it is not what was written.
    #[error("the archive of results {} is damaged", path.display())]
    Damaged {
        /// Which one.
        path: PathBuf,
    },
    /// It was to be set aside as damaged, but it is not.
    #[error("the archive of results {} is not damaged", path.display())]
    Whole {
        /// Which one.
        path: PathBuf,
    },
    /// A database of another program.
    #[error("{} is a database of another program", path.display())]
    Foreign {
        /// Which one.
        path: PathBuf,
    },
    /// A later trunkline made it.
    #[error("the archive of results {} has version {found}, newer than {known}", path.display())]
    Newer {
        /// Which one.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version that this trunkline knows.
        known: i64,
    },
    /// Others write all the time.
    #[error("the archive of results {} was locked by another process for too long", path.display())]
    Busy {
        /// Which one.
        path: PathBuf,
    },
    /// Nothing has this number.
    #[error("there is no run {id} in {}", path.display())]
    Unknown {
        /// In which archive.
        path: PathBuf,
        /// The number.
        id: i64,
    },
    /// Nothing with this number is a sweep.
    #[error("there is no sweep {id} in {}", path.display())]
    NoSweep {
        /// In which archive.
        path: PathBuf,
        /// The number.
        id: i64,
    },
    /// Another process makes its visits.
    #[error("sweep {id} in {} is being made by another process", path.display())]
    SweepTaken {
        /// In which archive.
        path: PathBuf,
        /// Its number.
        id: i64,
    },
    /// Another process made the same visit meanwhile.
    #[error("visit {number} of sweep {sweep} in {} was made by another process \
        meanwhile", path.display())]
    VisitTaken {
        /// In which archive.
        path: PathBuf,
        /// The sweep.
        sweep: i64,
        /// The visit.
        number: u32,
    },
    /// A saved sweep that contradicts itself.
    #[error(
        "the sweep of {target} has a visit that its plan does not have, or a plan that cannot be \
            followed"
    )]
    NotItsPlan {
        /// Its target.
        target: String,
    },
    /// A kind of document without one operating point.
    #[error("{} documents are not kept", schema.name())]
    NotKept {
        /// Which kind.
        schema: Schema,
    },
    /// What was kept cannot be read as a document.
    #[error(transparent)]
    Document(#[from] LoadError),
}

impl Hint for ArchiveError {
    fn fault(&self) -> Fault {
        match self {
            ArchiveError::Folder { .. }
            | ArchiveError::Database { .. }
            | ArchiveError::Damaged { .. }
            | ArchiveError::Busy { .. }
            | ArchiveError::SweepTaken { .. }
            | ArchiveError::VisitTaken { .. } => Fault::Run,
            _ => Fault::Request,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            ArchiveError::Folder { .. } | ArchiveError::Database { .. } => {
                "name a file that you may write to and that has room with `--history FILE`, or \
                    keep nothing with `--no-history`"
            }
            ArchiveError::Missing { .. } => {
                "`trunkline tune` and `trunkline measure` make one; check the name behind \
                    `--history`"
            }
            ArchiveError::Damaged { .. } => {
                "`trunkline history --set-aside` moves it out of the way under another name, and \
                    the next result begins a new one"
            }
            ArchiveError::Whole { .. } => "leave out `--set-aside`",
            ArchiveError::Foreign { .. } => {
                "name a file that does not exist yet, or an archive that trunkline made"
            }
            ArchiveError::Newer { .. } => {
                "use the trunkline that wrote it, or name another file with `--history FILE`"
            }
            ArchiveError::Busy { .. } => "end the process that holds it, and try again",
            ArchiveError::Unknown { .. } => "`trunkline history` lists the numbers that there are",
            ArchiveError::NoSweep { .. } => {
                "`trunkline history` lists the numbers that there are, sweeps among them"
            }
            ArchiveError::SweepTaken { .. } => {
                "let it go on, or end it; what it finished is kept either way"
            }
            ArchiveError::VisitTaken { .. } => {
                "let the other process go on; what both finished is kept"
            }
            ArchiveError::NotItsPlan { .. } => {
                "the file was changed by hand or by another program; take it over from where it \
                    was made"
            }
            ArchiveError::NotKept { .. } => {
                "only `copy`, `measure`, `tune`, `demo`, `path`, `responsiveness` and one setting \
                    of `simulate` are kept; save others with `--save`"
            }
            ArchiveError::Document(error) => return error.hint(),
        };
        Some(hint.to_owned())
    }
}

impl ArchiveError {
    pub(super) fn of(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                ArchiveError::Damaged { path }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                ArchiveError::Busy { path }
            }
            _ => ArchiveError::Database { path, source },
        }
    }

    /// Whether the same may succeed later without anybody changing the request: another process
    /// writes, or a disk is full.
    pub fn may_pass(&self) -> bool {
        let code = match self {
            ArchiveError::Busy { .. } => return true,
            ArchiveError::Database { source, .. } => source.sqlite_error_code(),
            _ => None,
        };
        matches!(
            code,
            Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure | ErrorCode::CannotOpen)
        )
    }
}
