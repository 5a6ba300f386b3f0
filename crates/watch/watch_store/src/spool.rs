//! Results of an agent that wait on its disk until they are stored.
//!
//! A SQLite file with one row for each visit. What [`Spool::push`] has returned is on the disk and
//! survives the end of the process, of the power and of the space. On a full disk pushing fails
//! once the file is full too, while sending and forgetting go on: a reserve of 1 MiB beside the
//! file is given up for that, and taken again as soon as there is room.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, TransactionBehavior, params};
use thiserror::Error;

use crate::{StoredVisit, VisitId};

/// Space that is held for forgetting results on a full disk.
const RESERVE: usize = 1 << 20;
/// Marks the file as ours in SQLite's header: `trks` in ASCII.
const APPLICATION: i64 = 0x7472_6b73;
const VERSION: i64 = 1;
const PATIENCE: Duration = Duration::from_secs(10);

const TABLE: &str = "CREATE TABLE spool (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL UNIQUE, json BLOB NOT NULL
) STRICT;";

/// Why a spool cannot be used. What was pushed before is still there.
#[derive(Debug, Error)]
pub enum SpoolError {
    /// The disk is full.
    #[error(
        "the disk of {} is full; free space on it. What waits there stays, and is sent as before",
        path.display()
    )]
    Full {
        /// The spool.
        path: PathBuf,
    },
    /// A later trunkline made it.
    #[error(
        "{} has version {found}, newer than {VERSION}; use the trunkline that wrote it until it \
         is empty",
        path.display()
    )]
    Newer {
        /// The spool.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// A file of another program.
    #[error("{} is a file of another program; name another one", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// What is in it is not what was written.
    #[error(
        "{} is damaged; move it away, and the agent begins a new one. Keep it: what waits there \
         may be recovered",
        path.display()
    )]
    Damaged {
        /// The spool.
        path: PathBuf,
    },
    /// Anything else.
    #[error("{} cannot be used; name a file that the agent may write to", path.display())]
    Database {
        /// The spool.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
}

/// An open spool.
#[derive(Debug)]
pub struct Spool {
    path: PathBuf,
    reserve: PathBuf,
    connection: Connection,
}

impl Spool {
    /// Opens the file; it is made where it does not exist, for its owner alone.
    ///
    /// # Errors
    /// When it cannot be used, is damaged, belongs to another program or a later trunkline.
    pub fn open(path: &Path) -> Result<Self, SpoolError> {
        let mut reserve = OsString::from(path);
        reserve.push(".reserve");
        let reserve = PathBuf::from(reserve);
        let connection = match open(path) {
            // The log beside the file needs room.
            Err(error) if is_full(&error) && give_up(&reserve).is_ok() => open(path),
            opened => opened,
        };
        let connection = connection.map_err(|error| said(path, error))?;
        prepare(path, &connection)?;
        let spool = Spool {
            path: path.to_owned(),
            reserve,
            connection,
        };
        spool.take_reserve();
        Ok(spool)
    }

    /// Stores visits, all or none. One that waits already is left as it is.
    ///
    /// # Errors
    /// When the disk is full or cannot be written.
    pub fn push(&mut self, visits: &[StoredVisit]) -> Result<(), SpoolError> {
        let path = self.path.clone();
        let written = match self.write(visits) {
            // The file has room, and only the journal beside it has none.
            Err(error) if is_full(&error) && self.has_room() => {
                let _ = give_up(&self.reserve);
                let again = self.write(visits);
                self.take_reserve();
                again
            }
            written => written,
        };
        written.map_err(|error| said(&path, error))
    }

    /// Whether as much as the reserve is free within the file, which does not shrink.
    fn has_room(&self) -> bool {
        let number = |pragma| {
            self.connection
                .pragma_query_value(None, pragma, |row| row.get(0))
        };
        let (free, size) = (number("freelist_count"), number("page_size"));
        let room = |(free, size): (i64, i64)| free.saturating_mul(size) >= RESERVE as i64;
        free.ok().zip(size.ok()).is_some_and(room)
    }

    fn write(&mut self, visits: &[StoredVisit]) -> rusqlite::Result<()> {
        let behaviour = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behaviour)?;
        let insert = "INSERT INTO spool (id, json) VALUES (?1, ?2) ON CONFLICT (id) DO NOTHING";
        for visit in visits {
            let json = visit.canonical();
            let json =
                json.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
            transaction
                .prepare_cached(insert)?
                .execute(params![visit.id.bytes(), json])?;
        }
        transaction.commit()
    }

    /// The oldest visits that wait, at most `limit`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn batch(&self, limit: u32) -> Result<Vec<StoredVisit>, SpoolError> {
        let read = |connection: &Connection| -> rusqlite::Result<Vec<Vec<u8>>> {
            let select = "SELECT json FROM spool ORDER BY number LIMIT ?1";
            let mut statement = connection.prepare_cached(select)?;
            statement.query_map([limit], |row| row.get(0))?.collect()
        };
        let rows = read(&self.connection).map_err(|error| said(&self.path, error))?;
        let visits: Result<Vec<StoredVisit>, _> = rows
            .iter()
            .map(|json| serde_json::from_slice(json))
            .collect();
        visits.map_err(|_| SpoolError::Damaged {
            path: self.path.clone(),
        })
    }

    /// How many visits wait.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn waiting(&self) -> Result<u64, SpoolError> {
        let count = "SELECT count(*) FROM spool";
        let count = self
            .connection
            .query_row(count, [], |row| row.get::<_, i64>(0));
        count
            .map(i64::unsigned_abs)
            .map_err(|error| said(&self.path, error))
    }

    /// Forgets visits that are stored, or that the store refused for good.
    ///
    /// # Errors
    /// When it cannot be written. They are sent again then, which the store takes as known.
    pub fn acknowledge(&mut self, ids: &[VisitId]) -> Result<(), SpoolError> {
        let path = self.path.clone();
        let forgotten = match self.forget(ids) {
            Err(error) if is_full(&error) && give_up(&self.reserve).is_ok() => self.forget(ids),
            forgotten => forgotten,
        };
        forgotten.map_err(|error| said(&path, error))?;
        self.take_reserve();
        Ok(())
    }

    fn forget(&mut self, ids: &[VisitId]) -> rusqlite::Result<()> {
        let behaviour = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behaviour)?;
        for id in ids {
            let delete = "DELETE FROM spool WHERE id = ?1";
            transaction.prepare_cached(delete)?.execute([id.bytes()])?;
        }
        transaction.commit()
    }

    /// Takes the reserve where it is not held; on a full disk later.
    fn take_reserve(&self) {
        let held = fs::metadata(&self.reserve).is_ok_and(|found| found.len() >= RESERVE as u64);
        if !held && fill(&self.reserve).is_err() {
            // A part of it is of no use, and takes the room of results.
            let _ = give_up(&self.reserve);
        }
    }
}

/// Frees the room of a reserve. It is cut to nothing first: a process that was just forked may
/// still hold the file open, and what is only removed keeps its room until that ends.
fn give_up(reserve: &Path) -> io::Result<()> {
    OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(reserve)?;
    fs::remove_file(reserve)
}

/// Bytes that no file system leaves out or compresses away are not needed: it is enough that they
/// are written.
fn fill(reserve: &Path) -> io::Result<()> {
    let mut file: File = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(reserve)?;
    file.write_all(&vec![0xa5; RESERVE])
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let mut new = OpenOptions::new();
    // What goes wrong here goes wrong again, with better words, where SQLite opens it.
    let _ = new.write(true).create_new(true).mode(0o600).open(path);
    let connection = Connection::open(path)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

fn prepare(path: &Path, connection: &Connection) -> Result<(), SpoolError> {
    let failed = |error| said(path, error);
    // Asked first: the next lines would write into a file of another program.
    let is_empty = is_new(path, connection)?;
    // A rollback journal instead of a write-ahead log: a log can grow while the disk fills.
    let settings = "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL;";
    connection.execute_batch(settings).map_err(failed)?;
    if !is_empty {
        return Ok(());
    }
    connection
        .execute_batch("BEGIN IMMEDIATE")
        .map_err(failed)?;
    // Another process may have been here while this one waited.
    let made = match is_new(path, connection) {
        Ok(true) => {
            let mark = format!(
                "{TABLE} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
            );
            connection.execute_batch(&mark).map_err(failed)
        }
        Ok(false) => Ok(()),
        Err(error) => Err(error),
    };
    let end = if made.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = connection.execute_batch(end).map_err(failed);
    made.and(ended)
}

/// Whether it is still empty.
fn is_new(path: &Path, connection: &Connection) -> Result<bool, SpoolError> {
    let failed = |error| said(path, error);
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let application = number("application_id").map_err(failed)?;
    let found = number("user_version").map_err(failed)?;
    let tables = connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0));
    let tables: i64 = tables.map_err(failed)?;
    let path = path.to_owned();
    match application {
        APPLICATION if found > VERSION => Err(SpoolError::Newer { path, found }),
        APPLICATION => Ok(false),
        0 if found == 0 && tables == 0 => Ok(true),
        _ => Err(SpoolError::Foreign { path }),
    }
}

fn is_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}

fn said(path: &Path, source: rusqlite::Error) -> SpoolError {
    let path = path.to_owned();
    match source.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => SpoolError::Full { path },
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => SpoolError::Damaged { path },
        _ => SpoolError::Database { path, source },
    }
}
