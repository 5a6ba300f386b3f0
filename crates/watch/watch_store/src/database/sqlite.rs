//! A SQLite file.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql, params_from_iter};

use super::{Row, Value};
use crate::{StoreError, schema};

/// How long a process waits for others that write.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a new file that another process is just making is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// Marks the file as ours in SQLite's header: `trkw` in ASCII.
const APPLICATION: i64 = 0x7472_6b77;

/// An open file.
pub(crate) struct Sqlite {
    name: String,
    connection: Connection,
    /// Locked by the collector that has the database.
    claim: Option<File>,
}

impl Sqlite {
    /// Opens the file, for its owner alone where it is new.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        // What goes wrong here goes wrong again, with better words, where SQLite opens it.
        let mut new = OpenOptions::new();
        let _ = new.write(true).create_new(true).mode(0o600).open(path);
        let name = path.display().to_string();
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .map_err(|error| said(&name, &error))?;
        let mut database = Sqlite {
            name,
            connection,
            claim: None,
        };
        let deadline = Instant::now() + PATIENCE;
        loop {
            match database.prepare() {
                // Switching to the log does not wait by itself.
                Err(StoreError::Busy { .. }) if Instant::now() < deadline => thread::sleep(LOOK),
                prepared => return prepared.map(|()| database),
            }
        }
    }

    /// Opens a file that is there, to read it. Nothing is written, so a file that may not be
    /// written can be read as well.
    pub fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        let name = path.display().to_string();
        match path.try_exists() {
            Ok(true) => {}
            Ok(false) => return Err(StoreError::Missing { name }),
            Err(error) => {
                let what = error.to_string();
                return Err(StoreError::Database { name, what });
            }
        }
        match Sqlite::read(path, &name, "") {
            // Its log needs a file beside it, which a folder that may not be written cannot have.
            // Where no log is there either, no other process writes.
            Err(StoreError::Database { .. }) if !has_log(path) => {
                Sqlite::read(path, &name, "?immutable=1")
            }
            read => read,
        }
    }

    fn read(path: &Path, name: &str, options: &str) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = match options {
            "" => Connection::open_with_flags(path, flags),
            options => {
                let address = format!("file:{}{options}", escaped(path));
                Connection::open_with_flags(address, flags | OpenFlags::SQLITE_OPEN_URI)
            }
        };
        let connection = opened.map_err(|error| said(name, &error))?;
        let name = name.to_owned();
        let claim = None;
        let database = Sqlite {
            name,
            connection,
            claim,
        };
        let waits = database.connection.busy_timeout(PATIENCE);
        waits.map_err(|error| said(&database.name, &error))?;
        schema::current(database.name.clone(), database.version()?)?;
        Ok(database)
    }

    /// See [`super::Database::claim`]: a lock on a file beside the database, which SQLite has locks
    /// of its own on.
    pub fn claim(&mut self, holder: &str) -> Result<(), StoreError> {
        let name = self.name.clone();
        let mut claim = OsString::from(self.connection.path().unwrap_or(&name));
        claim.push(".collector");
        let taken = lock(Path::new(&claim), holder).map_err(|error| StoreError::Database {
            name: name.clone(),
            what: format!("{}: {error}", claim.display()),
        })?;
        self.claim = Some(taken.map_err(|by| StoreError::Taken { name, by })?);
        Ok(())
    }

    fn prepare(&mut self) -> Result<(), StoreError> {
        let failed = |name: &str, error: rusqlite::Error| said(name, &error);
        let name = self.name.clone();
        let prepare = |connection: &Connection| {
            connection.busy_timeout(PATIENCE)?;
            connection.set_prepared_statement_cache_capacity(64);
            Ok(())
        };
        prepare(&self.connection).map_err(|error| failed(&name, error))?;
        // Asked first: the next lines would write into a file of another program.
        self.version()?;
        let settings = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = ON; PRAGMA cache_size = -32768;";
        self.batch(settings)?;
        if self.version()? == schema::VERSION {
            return Ok(());
        }
        self.batch("BEGIN IMMEDIATE")?;
        let migrated = self.migrate();
        if migrated.is_err() {
            let _ = self.batch("ROLLBACK");
        }
        migrated
    }

    fn migrate(&mut self) -> Result<(), StoreError> {
        // Another process may have been here while this one waited.
        let found = self.version()?;
        for step in schema::steps_after(found) {
            self.batch(&schema::sqlite(step))?;
        }
        let mark = format!(
            "PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {}; COMMIT",
            schema::VERSION
        );
        self.batch(&mark)
    }

    /// The version of the tables, 0 of an empty file.
    fn version(&self) -> Result<i64, StoreError> {
        let asked = |connection: &Connection| -> rusqlite::Result<(i64, i64, i64)> {
            let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get(0));
            let tables = "SELECT count(*) FROM sqlite_master";
            let tables = connection.query_row(tables, [], |row| row.get(0))?;
            Ok((number("application_id")?, number("user_version")?, tables))
        };
        let found = asked(&self.connection).map_err(|error| said(&self.name, &error))?;
        let name = self.name.clone();
        match found {
            (APPLICATION, version, _) => schema::known(name, version),
            (0, 0, 0) => Ok(0),
            _ => Err(StoreError::Foreign { name }),
        }
    }

    fn batch(&self, statements: &str) -> Result<(), StoreError> {
        let done = self.connection.execute_batch(statements);
        done.map_err(|error| said(&self.name, &error))
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// See [`super::Database::execute`].
    pub fn execute(&mut self, statement: &str, values: &[Value]) -> Result<u64, StoreError> {
        let run = |connection: &Connection| {
            let mut statement = connection.prepare_cached(statement)?;
            statement.execute(params_from_iter(values))
        };
        let changed = run(&self.connection).map_err(|error| said(&self.name, &error))?;
        Ok(changed as u64)
    }

    /// See [`super::Database::query`].
    pub fn query(&mut self, statement: &str, values: &[Value]) -> Result<Vec<Row>, StoreError> {
        let run = |connection: &Connection| -> rusqlite::Result<Vec<Row>> {
            let mut statement = connection.prepare_cached(statement)?;
            let columns = statement.column_count();
            let rows = statement.query_map(params_from_iter(values), |row| {
                let values: rusqlite::Result<Vec<Value>> = (0..columns)
                    .map(|column| Ok(value(row.get_ref(column)?)))
                    .collect();
                values.map(Row::new)
            })?;
            rows.collect()
        };
        run(&self.connection).map_err(|error| said(&self.name, &error))
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self {
            Value::Null => ValueRef::Null,
            Value::Int(number) => ValueRef::Integer(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
        };
        Ok(ToSqlOutput::Borrowed(value))
    }
}

/// A file that is locked, with its holder in it; or who holds it.
fn lock(file: &Path, holder: &str) -> io::Result<Result<File, String>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let mut claim = options.mode(0o600).open(file)?;
    match claim.try_lock() {
        Ok(()) => {
            claim.set_len(0)?;
            claim.write_all(holder.as_bytes())?;
            Ok(Ok(claim))
        }
        Err(TryLockError::WouldBlock) => {
            let mut by = String::new();
            claim.take(200).read_to_string(&mut by)?;
            Ok(Err(by))
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether a log with unread changes may lie beside the file.
fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    Path::new(&log).exists()
}

/// A path within an address, RFC 3986 section 2.1.
fn escaped(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes().iter();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte);
    bytes
        .map(|byte| match plain(*byte) {
            true => char::from(*byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        // No table has such a column.
        ValueRef::Real(_) => Value::Null,
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    }
}

/// What SQLite said, with the name of its file.
pub(crate) fn said(name: &str, error: &rusqlite::Error) -> StoreError {
    let name = name.to_owned();
    let what = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            StoreError::Damaged { name, what }
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { name },
        Some(ErrorCode::DiskFull) => StoreError::Full { name },
        _ => StoreError::Database { name, what },
    }
}
