//! What the archive holds, filtered, in order.

use rusqlite::params;
use schemars::JsonSchema;
use serde::Serialize;

use super::essence::{Entry, Tried};
use super::{Archive, ArchiveError, Listed, rows};
use record::{SCHEMA_VERSION, layout};

/// Which documents are wanted; without anything all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Part of the target's name.
    pub target: Option<String>,
    /// Made at this time or later, as [`super::since`] gives it.
    pub since: Option<String>,
    /// The newest so many.
    pub last: Option<u32>,
}

/// A list as a JSON document of its own.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listing<'a> {
    schema: &'static str,
    schema_version: u32,
    entries: &'a [Listed],
}

impl<'a> Listing<'a> {
    /// The document that lists `entries`.
    pub fn new(entries: &'a [Listed]) -> Self {
        Listing {
            schema: "trunkline/history",
            schema_version: SCHEMA_VERSION,
            entries,
        }
    }

    /// The document as text, laid out like all others.
    pub fn to_json(&self) -> String {
        layout::document(self)
    }
}

impl Archive {
    /// The documents that `filter` wants, the newest last; without the visits of sweeps.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Entry>, ArchiveError> {
        let statement = format!(
            "SELECT * FROM (SELECT {} FROM documents \
               WHERE target LIKE ?1 ESCAPE '\\' AND created >= ?2 \
               AND NOT EXISTS (SELECT 1 FROM visits WHERE document = documents.id) \
               ORDER BY created DESC, id DESC LIMIT ?3) AS newest \
             ORDER BY created, id",
            rows::entry_columns()
        );
        let target = containing(filter.target.as_deref().unwrap_or_default());
        let since = filter.since.as_deref().unwrap_or_default();
        let last = filter.last.map_or(i64::MAX, i64::from);
        self.ask(|connection| {
            let mut statement = connection.prepare(&statement)?;
            let found = statement.query_map(params![target, since, last], rows::entry)?;
            found.collect()
        })
    }

    /// The entry of one document.
    ///
    /// # Errors
    /// When there is none with this number, or the archive cannot be read.
    pub fn entry(&self, id: i64) -> Result<Entry, ArchiveError> {
        let columns = rows::entry_columns();
        let statement = format!("SELECT {columns} FROM documents WHERE id = ?1");
        let found = self.ask(|connection| {
            let mut statement = connection.prepare(&statement)?;
            let mut found = statement.query_map([id], rows::entry)?;
            found.next().transpose()
        })?;
        found.ok_or_else(|| self.unknown(id))
    }

    /// What was tried for the document with this number, in order; empty where there is none.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn samples(&self, id: i64) -> Result<Vec<Tried>, ArchiveError> {
        self.ask(|connection| rows::samples(connection, id))
    }
}

/// A pattern that fits every text with `part` in it.
pub(super) fn containing(part: &str) -> String {
    let mut pattern = String::from("%");
    for character in part.chars() {
        if ['%', '_', '\\'].contains(&character) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}
