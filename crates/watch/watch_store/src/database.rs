//! One connection to either database, with the same statements.
//!
//! Statements number their parameters `$1`, `$2`, ... in the order of their first use: PostgreSQL
//! takes the numbers, and SQLite counts parameters by first use, which gives the same. Columns have
//! three types, the variants of [`Value`].

mod postgresql;
mod sqlite;

use crate::{DatabaseName, StoreError};

/// A value of a column or a parameter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Int(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Value::Bytes(bytes)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

/// A row of an answer, read from left to right.
pub(crate) struct Row {
    values: std::vec::IntoIter<Value>,
}

impl Row {
    fn new(values: Vec<Value>) -> Self {
        Row {
            values: values.into_iter(),
        }
    }

    fn next(&mut self) -> Value {
        self.values.next().unwrap_or(Value::Null)
    }

    /// The next column, where it is a number.
    pub fn int(&mut self) -> Option<i64> {
        match self.next() {
            Value::Int(number) => Some(number),
            _ => None,
        }
    }

    /// The next column, where it is text.
    pub fn text(&mut self) -> Option<String> {
        match self.next() {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The next column, where it is bytes.
    pub fn bytes(&mut self) -> Option<Vec<u8>> {
        match self.next() {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

/// An open connection.
pub(crate) enum Database {
    Sqlite(sqlite::Sqlite),
    Postgres(Box<postgresql::Postgres>),
}

impl Database {
    /// Connects, and brings the tables up to date.
    pub fn open(name: &DatabaseName) -> Result<Self, StoreError> {
        Ok(match name {
            DatabaseName::Sqlite(path) => Database::Sqlite(sqlite::Sqlite::open(path)?),
            DatabaseName::Postgres(url) => {
                Database::Postgres(Box::new(postgresql::Postgres::open(name, url)?))
            }
        })
    }

    /// Connects to a database that is there, to read it.
    pub fn open_to_read(name: &DatabaseName) -> Result<Self, StoreError> {
        Ok(match name {
            DatabaseName::Sqlite(path) => Database::Sqlite(sqlite::Sqlite::open_to_read(path)?),
            DatabaseName::Postgres(url) => {
                let database = postgresql::Postgres::open_to_read(name, url)?;
                Database::Postgres(Box::new(database))
            }
        })
    }

    /// Takes it for the collector that `holder` names, or says who has it.
    pub fn claim(&mut self, holder: &str) -> Result<(), StoreError> {
        match self {
            Database::Sqlite(database) => database.claim(holder),
            Database::Postgres(database) => database.claim(holder),
        }
    }

    /// Runs a statement; the number of rows that it changed.
    pub fn execute(&mut self, statement: &str, values: &[Value]) -> Result<u64, StoreError> {
        match self {
            Database::Sqlite(database) => database.execute(statement, values),
            Database::Postgres(database) => database.execute(statement, values),
        }
    }

    /// The rows that a statement gives.
    pub fn query(&mut self, statement: &str, values: &[Value]) -> Result<Vec<Row>, StoreError> {
        match self {
            Database::Sqlite(database) => database.query(statement, values),
            Database::Postgres(database) => database.query(statement, values),
        }
    }

    /// The number in the only row that a statement gives.
    pub fn number(&mut self, statement: &str, values: &[Value]) -> Result<i64, StoreError> {
        let rows = self.query(statement, values)?;
        let number = rows.into_iter().next().and_then(|mut row| row.int());
        number.ok_or_else(|| StoreError::Damaged {
            name: match self {
                Database::Sqlite(database) => database.name().to_owned(),
                Database::Postgres(database) => database.name().to_owned(),
            },
            what: format!("no number for {statement}"),
        })
    }

    /// Runs `work` in one transaction: everything of it is done, or nothing. It is begun anew where
    /// PostgreSQL ended it because of a deadlock, so it must not change anything but the database.
    pub fn transaction<T>(
        &mut self,
        mut work: impl FnMut(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        const TRIES: u32 = 5;
        let mut tried = 0;
        loop {
            tried += 1;
            self.begin()?;
            let done = work(self).and_then(|result| self.end(true).map(|()| result));
            match done {
                Err(StoreError::Busy { .. }) if self.retries() && tried < TRIES => self.roll_back(),
                Err(error) => {
                    self.roll_back();
                    return Err(error);
                }
                Ok(result) => return Ok(result),
            }
        }
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        match self {
            // The lock is taken at once: one that is taken later cannot wait for others.
            Database::Sqlite(database) => database.execute("BEGIN IMMEDIATE", &[])?,
            Database::Postgres(database) => database.begin()?,
        };
        Ok(())
    }

    /// Whether a busy database may answer at once: a deadlock is over when one of both has ended.
    /// SQLite has waited by itself.
    fn retries(&self) -> bool {
        matches!(self, Database::Postgres(_))
    }

    fn roll_back(&mut self) {
        // A broken connection has rolled back by itself.
        let _ = self.end(false);
    }

    fn end(&mut self, commit: bool) -> Result<(), StoreError> {
        match self {
            Database::Sqlite(database) => {
                let statement = if commit { "COMMIT" } else { "ROLLBACK" };
                database.execute(statement, &[]).map(|_| ())
            }
            Database::Postgres(database) => database.end(commit),
        }
    }
}
