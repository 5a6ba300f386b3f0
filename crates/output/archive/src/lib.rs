//! Finished documents in one SQLite file: kept, listed, found again, remembered.
//!
//! Every document lies there whole, and beside it the figures by which it is found and compared, so
//! that no question needs the JSON. Each sample of a search and each seed of a simulation is a row
//! of its own. Several processes may write at once: SQLite locks the file, writers wait for each
//! other, and a process that dies in the middle of a write leaves the archive as it was
//! (write-ahead log, one transaction for each document).
//!
//! A sweep is kept visit by visit as it goes on, and its document is put together from the rows,
//! see `sweeps.rs`.
//!
//! What is left out: campaigns, whose runs `trunkline simulate` keeps in a folder of their own;
//! removing documents; a place on a file system that several hosts share, where SQLite's log is not
//! safe; and any other database. The statements keep to what PostgreSQL takes as well, so that it
//! could stand behind the same functions.
//!
//! Reading order: [`essence`] and `digest.rs` for what a document comes down to, `schema.rs` for
//! the tables, `rows.rs` for the way there and back, `sweeps.rs`, `listing.rs`, `memory.rs` and
//! `copied.rs` for the questions, [`compare`], `error.rs`.

pub mod compare;
mod copied;
mod digest;
mod error;
pub mod essence;
mod examined;
mod listing;
mod memory;
mod packed;
mod privacy;
mod rows;
mod schema;
mod since;
mod sweeps;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior, params};

pub use compare::Comparison;
pub use error::ArchiveError;
pub use essence::{Entry, Essence, Outcome, Point};
pub use listing::{Filter, Listing};
pub use memory::FoundControl;
use record::{AnyDocument, parse};
pub use since::{SinceError, since};
pub use sweeps::{FinishedVisit, KeptSweep, Listed, SweepClaim, SweepEntry, VisitResult};

/// How long a process waits for others that write. One write takes milliseconds; more than this
/// means that a process hangs.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often a new archive that another process is just making is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// An open archive.
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    connection: Connection,
}

impl Archive {
    /// Opens the archive at `path`; it and its folder are made where they do not exist, for their
    /// owner alone.
    ///
    /// # Errors
    /// When the folder or the file cannot be used, is damaged, belongs to another program or was
    /// written by a later trunkline. Nothing in it is changed then.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        if let Some(folder) = path.parent() {
            privacy::make_folder(folder).map_err(|source| ArchiveError::Folder {
                folder: folder.to_owned(),
                source,
            })?;
        }
        privacy::make_file(path);
        Self::open_with(path, OpenFlags::SQLITE_OPEN_CREATE)
    }

    /// Opens the archive at `path`, which has to be there.
    ///
    /// # Errors
    /// As [`Archive::open`], and when there is none.
    pub fn open_existing(path: &Path) -> Result<Self, ArchiveError> {
        match path.exists() {
            true => Self::open_with(path, OpenFlags::empty()),
            false => Err(ArchiveError::Missing {
                path: path.to_owned(),
            }),
        }
    }

    fn open_with(path: &Path, create: OpenFlags) -> Result<Self, ArchiveError> {
        let flags = create | OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let failed = |error| ArchiveError::of(path, error);
        privacy::mend_file(path);
        let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match schema::prepare(path, &mut connection) {
                // Switching to the log does not wait by itself.
                Err(ArchiveError::Busy { .. }) if Instant::now() < deadline => thread::sleep(LOOK),
                prepared => break prepared?,
            }
        }
        Ok(Archive {
            path: path.to_owned(),
            connection,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps a document and gives the number under which it is found again. One that is there
    /// already keeps its number. Of a sweep this keeps the figures; see [`Archive::keep_visit`] for
    /// one that goes on.
    ///
    /// # Errors
    /// When it is of a kind that is not kept, or the archive cannot be written to.
    pub fn keep(&mut self, document: &AnyDocument) -> Result<i64, ArchiveError> {
        if let AnyDocument::Sweep(sweep) = document {
            return self.import_sweep(sweep);
        }
        let Some(essence) = Essence::of(document) else {
            return Err(ArchiveError::NotKept {
                schema: document.schema(),
            });
        };
        let packed = packed::pack(&document.to_json());
        self.insert(&essence, &packed)
            .map_err(|error| ArchiveError::of(&self.path, error))
    }

    fn insert(&mut self, essence: &Essence, packed: &[u8]) -> rusqlite::Result<i64> {
        let behaviour = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behaviour)?;
        let same = "SELECT id FROM documents WHERE created = ?1 AND document_zlib = ?2";
        let known = transaction
            .query_row(same, params![essence.created, packed], |row| row.get(0))
            .optional()?;
        if let Some(id) = known {
            return Ok(id);
        }
        let id = rows::insert_document(&transaction, essence, packed)?;
        for (number, sample) in (0..).zip(&essence.samples) {
            rows::insert_sample(&transaction, id, number, sample)?;
        }
        transaction.commit()?;
        Ok(id)
    }

    /// The whole document with this number.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn load(&self, id: i64) -> Result<AnyDocument, ArchiveError> {
        let statement = "SELECT document_zlib FROM documents WHERE id = ?1";
        let packed: Option<Vec<u8>> = self.ask(|connection| {
            let found = connection.query_row(statement, [id], |row| row.get(0));
            found.optional()
        })?;
        let Some(packed) = packed else {
            return self.sweep_document(id)?.ok_or_else(|| self.unknown(id));
        };
        let text = packed::unpack(&packed).map_err(|_| self.damaged())?;
        let name = format!("{}, run {id}", self.path.display());
        parse(Path::new(&name), &text).map_err(ArchiveError::Document)
    }

    /// Asks the database, and names it where it does not answer.
    fn ask<T>(
        &self,
        question: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, ArchiveError> {
        question(&self.connection).map_err(|error| ArchiveError::of(&self.path, error))
    }

    fn unknown(&self, id: i64) -> ArchiveError {
        ArchiveError::Unknown {
            path: self.path.clone(),
            id,
        }
    }

    fn damaged(&self) -> ArchiveError {
        ArchiveError::Damaged {
            path: self.path.clone(),
        }
    }

    /// Reads every page of the file.
    ///
    /// # Errors
    /// When one of them is damaged.
    pub fn check(&self) -> Result<(), ArchiveError> {
        let said: String = self.ask(|connection| {
            connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        })?;
        match said.as_str() {
            "ok" => Ok(()),
            _ => Err(self.damaged()),
        }
    }
}

/// Moves a damaged archive out of the way, together with its log, and gives its new name.
///
/// # Errors
/// When it is missing or whole, or cannot be renamed.
pub fn set_aside(path: &Path) -> Result<PathBuf, ArchiveError> {
    match Archive::open_existing(path).and_then(|archive| archive.check()) {
        Err(ArchiveError::Damaged { .. }) => {}
        Err(other) => return Err(other),
        Ok(()) => {
            return Err(ArchiveError::Whole {
                path: path.to_owned(),
            });
        }
    }
    let stamp = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
    let aside = with_ending(path, &format!(".damaged-{stamp}"));
    let moved = fs::rename(path, &aside).map_err(|source| ArchiveError::Folder {
        folder: path.to_owned(),
        source,
    });
    for log in ["-wal", "-shm"] {
        // Mostly not there. A log without its database is ignored by SQLite.
        let _ = fs::rename(with_ending(path, log), with_ending(&aside, log));
    }
    moved.map(|()| aside)
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests;
