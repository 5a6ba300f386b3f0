//! The tables, their versions, and how an older archive becomes a newer one.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::ArchiveError;

/// Marks the file as ours in SQLite's header: `trnk` in ASCII.
const APPLICATION: i64 = 0x7472_6e6b;

/// One step for each version: the first makes the tables, each later one changes what is there.
/// A step that has been published is never edited.
const STEPS: [&str; 4] = [FIRST, SWEEPS, TRANSPORT, BESIDE];

/// The version that this trunkline writes.
const VERSION: i64 = STEPS.len() as i64;

/// * A window that is absent was left to the kernel; everything else that is absent was not known.
/// * `document_zlib`: the whole JSON document, compressed (RFC 1950).
/// * `goodput_degrees`: degrees of freedom of the interval.
const FIRST: &str = "
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    schema TEXT NOT NULL,
    created TEXT NOT NULL,
    trunkline_version TEXT NOT NULL,
    host TEXT,
    kernel TEXT,
    target TEXT NOT NULL,
    target_kind TEXT NOT NULL,
    path_digest TEXT,
    objective TEXT,
    cut_because TEXT,
    streams INTEGER NOT NULL,
    window_bytes INTEGER,
    direction TEXT NOT NULL,
    congestion TEXT,
    pacing_bits_per_second INTEGER,
    mss_bytes INTEGER,
    goodput_bits_per_second INTEGER NOT NULL,
    goodput_low_bits_per_second INTEGER,
    goodput_high_bits_per_second INTEGER,
    goodput_confidence REAL,
    goodput_degrees REAL,
    rtt_unloaded_seconds REAL,
    rtt_loaded_seconds REAL,
    retransmitted_ratio REAL,
    limited_by TEXT,
    document_zlib BLOB NOT NULL
) STRICT;
CREATE INDEX documents_by_date ON documents (created);
CREATE INDEX documents_by_target ON documents (target, created);
CREATE TABLE samples (
    document INTEGER NOT NULL REFERENCES documents (id),
    number INTEGER NOT NULL,
    purpose TEXT NOT NULL,
    streams INTEGER NOT NULL,
    window_bytes INTEGER,
    direction TEXT NOT NULL,
    congestion TEXT,
    pacing_bits_per_second INTEGER,
    mss_bytes INTEGER,
    goodput_bits_per_second INTEGER NOT NULL,
    goodput_low_bits_per_second INTEGER,
    goodput_high_bits_per_second INTEGER,
    goodput_confidence REAL,
    goodput_degrees REAL,
    rtt_unloaded_seconds REAL,
    rtt_loaded_seconds REAL,
    retransmitted_ratio REAL,
    limited_by TEXT,
    PRIMARY KEY (document, number)
) STRICT;
";

/// * Sweeps and documents draw their numbers from one sequence, so that a number means one thing.
/// * `asked`: the target as the user wrote it; `target` is its name.
/// * `setting`: its place in the plan, from 0. A visit is there once, whichever process makes it.
/// * `figures_json`: of a visit that was measured; its readings are in `document`, absent of an
///   imported one.
/// * `elapsed_seconds`: by the monotonic clock.
const SWEEPS: &str = "
CREATE TABLE sweeps (
    id INTEGER PRIMARY KEY,
    created TEXT NOT NULL,
    target TEXT NOT NULL,
    target_kind TEXT NOT NULL,
    path_digest TEXT,
    asked TEXT NOT NULL,
    settings INTEGER NOT NULL,
    cycles INTEGER NOT NULL,
    cut_because TEXT,
    origin_json TEXT NOT NULL,
    target_json TEXT NOT NULL,
    plan_json TEXT NOT NULL
) STRICT;
CREATE INDEX sweeps_by_date ON sweeps (created);
CREATE TABLE visits (
    sweep INTEGER NOT NULL REFERENCES sweeps (id),
    cycle INTEGER NOT NULL,
    setting INTEGER NOT NULL,
    number INTEGER NOT NULL,
    started TEXT NOT NULL,
    elapsed_seconds REAL NOT NULL,
    document INTEGER REFERENCES documents (id),
    failed_because TEXT,
    figures_json TEXT,
    PRIMARY KEY (sweep, cycle, setting)
) STRICT;
CREATE UNIQUE INDEX visits_by_document ON visits (document);
";

/// What carried the streams: before, that was TCP.
const TRANSPORT: &str = "
ALTER TABLE documents ADD COLUMN transport TEXT NOT NULL DEFAULT 'tcp';
ALTER TABLE samples ADD COLUMN transport TEXT NOT NULL DEFAULT 'tcp';
";

/// What was simulated on the path that explains a sweep.
const BESIDE: &str = "ALTER TABLE sweeps ADD COLUMN beside_json TEXT;";

/// Makes the tables where there are none, and brings those of earlier versions up to date.
///
/// # Errors
/// When the file is not an archive, is damaged, or is newer than this program. It stays as it is
/// then.
pub(super) fn prepare(path: &Path, connection: &mut Connection) -> Result<(), ArchiveError> {
    let failed = |error| ArchiveError::of(path, error);
    // Asked first: the next lines would write into a file of another program. In one transaction,
    // because another process may be making the tables between two questions.
    let snapshot = connection.transaction().map_err(failed)?;
    check(path, &snapshot)?;
    drop(snapshot);
    let log = "PRAGMA journal_mode = WAL";
    connection
        .query_row(log, [], |row| row.get::<_, String>(0))
        .map_err(failed)?;
    // A finished measurement is worth the milliseconds that it takes to reach the disk.
    connection
        .execute_batch("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;")
        .map_err(failed)?;
    if version(connection).map_err(failed)? == VERSION {
        return Ok(());
    }
    let behaviour = TransactionBehavior::Immediate;
    let transaction = connection
        .transaction_with_behavior(behaviour)
        .map_err(failed)?;
    // Another process may have been here while this one waited.
    check(path, &transaction)?;
    migrate(transaction).map_err(failed)
}

fn migrate(transaction: Transaction<'_>) -> rusqlite::Result<()> {
    let done = usize::try_from(version(&transaction)?).unwrap_or(STEPS.len());
    for step in STEPS.iter().skip(done) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}

/// Whether the file is ours or still empty, and not from the future.
fn check(path: &Path, connection: &Connection) -> Result<(), ArchiveError> {
    let failed = |error| ArchiveError::of(path, error);
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let application = number("application_id").map_err(failed)?;
    let found = number("user_version").map_err(failed)?;
    let tables = "SELECT count(*) FROM sqlite_master";
    let tables: i64 = connection
        .query_row(tables, [], |row| row.get(0))
        .map_err(failed)?;
    let path = path.to_owned();
    match application {
        APPLICATION if found > VERSION => Err(ArchiveError::Newer {
            path,
            found,
            known: VERSION,
        }),
        APPLICATION => Ok(()),
        0 if found == 0 && tables == 0 => Ok(()),
        _ => Err(ArchiveError::Foreign { path }),
    }
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Makes a file as trunkline left it when the tables had this version.
#[cfg(test)]
pub(super) fn make_version(path: &Path, version: usize) {
    let connection = Connection::open(path).unwrap();
    for step in &STEPS[..version] {
        connection.execute_batch(step).unwrap();
    }
    for (name, value) in [
        ("application_id", APPLICATION),
        ("user_version", version as i64),
    ] {
        connection.pragma_update(None, name, value).unwrap();
    }
}
