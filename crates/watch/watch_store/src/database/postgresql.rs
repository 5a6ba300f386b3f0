//! A database of a PostgreSQL server, in a schema of its own: `trunkline_watch`.
//!
//! The crate `postgres` is synchronous, as all of trunkline is. Inside it runs tokio-postgres, the
//! most used client; no thread or runtime shows outside of it.

use std::collections::BTreeMap;
use std::error::Error;

use postgres::types::private::BytesMut;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, NoTls, Statement, error::SqlState};

use super::{Row, Value};
use crate::{DatabaseName, StoreError, schema};

/// Lock under which one process makes the tables: `trkw` in ASCII.
const LOCK: i64 = 0x7472_6b77;

/// Lock of the collector: `trkc` in ASCII.
const CLAIM: i64 = 0x7472_6b63;
/// Who has it.
const HOLDER: &str = "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND granted AND objid = 1953655651 AND classid = 0
    AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    LIMIT 1";

/// An open connection.
pub(crate) struct Postgres {
    name: String,
    url: String,
    client: Client,
    statements: BTreeMap<String, Statement>,
    in_transaction: bool,
    access: Access,
    /// Whether a new connection has the settings and the claim of the one before.
    is_ready: bool,
    /// The collector that this connection holds the database for.
    holder: Option<String>,
}

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Write,
    Read,
}

impl Postgres {
    /// Connects, and makes the tables where there are none.
    pub fn open(name: &DatabaseName, url: &str) -> Result<Self, StoreError> {
        Postgres::connected(name, url, Access::Write)
    }

    /// Connects to tables that are there, to read them.
    pub fn open_to_read(name: &DatabaseName, url: &str) -> Result<Self, StoreError> {
        Postgres::connected(name, url, Access::Read)
    }

    fn connected(name: &DatabaseName, url: &str, access: Access) -> Result<Self, StoreError> {
        let name = name.to_string();
        let mut database = Postgres {
            client: connect(&name, url)?,
            name,
            url: url.to_owned(),
            statements: BTreeMap::new(),
            in_transaction: false,
            access,
            is_ready: true,
            holder: None,
        };
        database.prepare()?;
        Ok(database)
    }

    fn prepare(&mut self) -> Result<(), StoreError> {
        match self.access {
            Access::Write => self.migrate(),
            Access::Read => self.look(),
        }
    }

    fn look(&mut self) -> Result<(), StoreError> {
        self.batch("SET search_path = trunkline_watch; SET default_transaction_read_only = on")?;
        let is_there = self
            .client
            .query("SELECT to_regclass('version') IS NOT NULL", &[]);
        let is_there = is_there.map_err(|error| said(&self.name, &error))?;
        let is_there = is_there.first().and_then(|row| row.try_get(0).ok());
        let found = match is_there.unwrap_or(false) {
            true => self.version()?,
            false => 0,
        };
        schema::current(self.name.clone(), found)
    }

    /// The version of the tables, 0 of none.
    fn version(&mut self) -> Result<i64, StoreError> {
        let found = self.client.query("SELECT max(number) FROM version", &[]);
        let found = found.map_err(|error| said(&self.name, &error))?;
        let found: Option<i64> = found.first().and_then(|row| row.try_get(0).ok().flatten());
        Ok(found.unwrap_or(0))
    }

    fn migrate(&mut self) -> Result<(), StoreError> {
        let first = format!(
            "BEGIN; SELECT pg_advisory_xact_lock({LOCK});
             CREATE SCHEMA IF NOT EXISTS trunkline_watch; SET search_path = trunkline_watch;
             CREATE TABLE IF NOT EXISTS version (number BIGINT NOT NULL);"
        );
        let migrated = self.batch(&first).and_then(|()| self.steps());
        if migrated.is_err() {
            let _ = self.batch("ROLLBACK");
        }
        migrated
    }

    fn steps(&mut self) -> Result<(), StoreError> {
        let found = self.version()?;
        let found = schema::known(self.name.clone(), found)?;
        for step in schema::steps_after(found) {
            self.batch(&schema::postgres(step))?;
        }
        if found < schema::VERSION {
            let mark = format!("INSERT INTO version VALUES ({})", schema::VERSION);
            self.batch(&mark)?;
        }
        self.batch("COMMIT")
    }

    fn batch(&mut self, statements: &str) -> Result<(), StoreError> {
        let done = self.client.batch_execute(statements);
        done.map_err(|error| said(&self.name, &error))
    }

    /// Begins a transaction, over a new connection where the server has ended this one.
    pub fn begin(&mut self) -> Result<u64, StoreError> {
        self.connect_again()?;
        self.batch("BEGIN")?;
        self.in_transaction = true;
        Ok(0)
    }

    /// Ends a transaction.
    pub fn end(&mut self, commit: bool) -> Result<(), StoreError> {
        self.in_transaction = false;
        self.batch(if commit { "COMMIT" } else { "ROLLBACK" })
    }

    /// Connects anew where the connection has ended outside of a transaction.
    fn connect_again(&mut self) -> Result<(), StoreError> {
        if self.in_transaction {
            return Ok(());
        }
        if self.client.is_closed() {
            self.client = connect(&self.name, &self.url)?;
            self.statements.clear();
            self.is_ready = false;
        }
        if !self.is_ready {
            self.prepare()?;
            if let Some(holder) = self.holder.clone() {
                self.claim(&holder)?;
            }
            self.is_ready = true;
        }
        Ok(())
    }

    /// See [`super::Database::claim`]: a lock that ends with the connection. The server looks every
    /// half minute whether this host is still there, so one that has lost its network keeps the
    /// database for a minute.
    pub fn claim(&mut self, holder: &str) -> Result<(), StoreError> {
        let settings = [
            ("application_name", holder),
            ("tcp_keepalives_idle", "30"),
            ("tcp_keepalives_interval", "10"),
            ("tcp_keepalives_count", "3"),
            ("tcp_user_timeout", "60000"),
        ];
        for setting in settings {
            let set = "SELECT set_config($1, $2, false)";
            let (name, value) = setting;
            let done = self.client.query(set, &[&name, &value]);
            done.map_err(|error| said(&self.name, &error))?;
        }
        let lock = format!("SELECT pg_try_advisory_lock({CLAIM})");
        let locked = self.client.query_one(&lock, &[]);
        let locked = locked.and_then(|row| row.try_get::<_, bool>(0));
        if locked.map_err(|error| said(&self.name, &error))? {
            self.holder = Some(holder.to_owned());
            return Ok(());
        }
        let by = self.client.query_opt(HOLDER, &[]);
        let by = by.map_err(|error| said(&self.name, &error))?;
        let by: Option<String> = by.and_then(|row| row.try_get(0).ok());
        Err(StoreError::Taken {
            name: self.name.clone(),
            by: by.unwrap_or_else(|| "a process that has just ended".to_owned()),
        })
    }

    fn statement(&mut self, text: &str) -> Result<Statement, StoreError> {
        if let Some(statement) = self.statements.get(text) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(text);
        let statement = statement.map_err(|error| said(&self.name, &error))?;
        self.statements.insert(text.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// See [`super::Database::execute`].
    pub fn execute(&mut self, text: &str, values: &[Value]) -> Result<u64, StoreError> {
        let statement = self.statement(text)?;
        let done = self.client.execute(&statement, &references(values));
        done.map_err(|error| said(&self.name, &error))
    }

    /// See [`super::Database::query`]. Asked within a transaction, a lost connection is an error;
    /// outside of one the question goes to a new connection.
    pub fn query(&mut self, text: &str, values: &[Value]) -> Result<Vec<Row>, StoreError> {
        self.connect_again()?;
        let statement = self.statement(text)?;
        let rows = self.client.query(&statement, &references(values));
        let rows = rows.map_err(|error| said(&self.name, &error))?;
        let name = &self.name;
        rows.iter()
            .map(|row| read(row).map_err(|error| said(name, &error)))
            .collect()
    }
}

fn connect(name: &str, url: &str) -> Result<Client, StoreError> {
    Client::connect(url, NoTls).map_err(|error| StoreError::Unreachable {
        name: name.to_owned(),
        what: words(&error),
    })
}

fn references(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values
        .iter()
        .map(|value| value as &(dyn ToSql + Sync))
        .collect()
}

fn read(row: &postgres::Row) -> Result<Row, postgres::Error> {
    let value = |column: usize| {
        Ok(match *row.columns()[column].type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(column)?.into(),
            Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(column)?.into(),
            _ => row.try_get::<_, Option<&str>>(column)?.into(),
        })
    };
    let values: Result<Vec<Value>, postgres::Error> = (0..row.len()).map(value).collect();
    values.map(Row::new)
}

impl ToSql for Value {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Int(number) => number.to_sql_checked(kind, out),
            Value::Text(text) => text.to_sql_checked(kind, out),
            Value::Bytes(bytes) => bytes.to_sql_checked(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// What the server said, with the name of the database.
fn said(name: &str, error: &postgres::Error) -> StoreError {
    let name = name.to_owned();
    let what = words(error);
    let code = error.code();
    let busy = [
        &SqlState::T_R_DEADLOCK_DETECTED,
        &SqlState::T_R_SERIALIZATION_FAILURE,
    ];
    match code {
        Some(code) if busy.contains(&code) => StoreError::Busy { name },
        Some(code) if *code == SqlState::DISK_FULL => StoreError::Full { name },
        // 57P: the server shuts down or starts.
        Some(code) if code.code().starts_with("57P") || code.code().starts_with("08") => {
            StoreError::Unreachable { name, what }
        }
        Some(_) => StoreError::Database { name, what },
        None => StoreError::Unreachable { name, what },
    }
}

/// The error and its causes: the first alone says little.
fn words(error: &postgres::Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        words = format!("{words}: {cause}");
        source = cause.source();
    }
    words
}
