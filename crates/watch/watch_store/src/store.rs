//! An open store.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use std::{fs, process, thread};

use crate::database::Database;
use crate::{DatabaseName, Name, StoreError, schema};

/// How long a claim waits for a collector that was just ended, and how often it looks.
const CLOSING: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(50);

/// An open store. Threads and processes each open their own; they may write at once.
pub struct Store {
    pub(crate) name: String,
    pub(crate) database: Database,
    /// Numbers of texts and series that are known to be committed.
    pub(crate) known: Known,
}

/// Numbers of texts by their JSON, and of series by task, from and to.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub texts: BTreeMap<String, i64>,
    pub series: BTreeMap<(Name, Name, Name), i64>,
}

impl Known {
    /// The number of a text that was asked for before.
    pub fn text(&self, json: Option<&String>) -> Option<i64> {
        self.texts.get(json?).copied()
    }
}

impl Store {
    /// Opens the database, and makes or updates its tables.
    ///
    /// # Errors
    /// When it cannot be reached or written, is damaged, belongs to another program or was written
    /// by a later trunkline. Nothing in it is changed then.
    pub fn open(name: &DatabaseName) -> Result<Self, StoreError> {
        Ok(Store {
            name: name.to_string(),
            database: Database::open(name)?,
            known: Known::default(),
        })
    }

    /// Opens a database that is there, to read it: nothing is made or updated, and a user who may
    /// only read it can do so.
    ///
    /// # Errors
    /// As [`Store::open`], and when there is none or an earlier trunkline made it.
    pub fn open_to_read(name: &DatabaseName) -> Result<Self, StoreError> {
        Ok(Store {
            name: name.to_string(),
            database: Database::open_to_read(name)?,
            known: Known::default(),
        })
    }

    /// Takes the database for one collector, whose detectors must see each visit once, until this
    /// store is closed or its process ends. Reading and writing by others goes on. Months that an
    /// older trunkline summed up wait to be computed anew then.
    ///
    /// # Errors
    /// When another collector has it, also after two seconds: one that was just ended may be
    /// closing. When it cannot be written.
    pub fn claim(&mut self) -> Result<(), StoreError> {
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let holder = format!("process {} on {}", process::id(), host.trim());
        let deadline = Instant::now() + CLOSING;
        loop {
            match self.database.claim(&holder) {
                Err(StoreError::Taken { .. }) if Instant::now() < deadline => thread::sleep(LOOK),
                claimed => {
                    claimed?;
                    break;
                }
            }
        }
        self.database
            .transaction(|database| database.execute(schema::MARK_MONTHS, &[]).map(|_| ()))
    }

    pub(crate) fn damaged(&self, what: impl Into<String>) -> StoreError {
        StoreError::Damaged {
            name: self.name.clone(),
            what: what.into(),
        }
    }
}
