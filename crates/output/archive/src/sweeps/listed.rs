//! Sweeps in lists: each is one entry, and its visits are listed only when asked for.

use rusqlite::{Row, params};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::listing::containing;
use super::super::{Archive, ArchiveError, Entry, Filter, rows};
use record::{Origin, Schema, Target};

/// An entry of a list.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Listed {
    /// A kept document.
    Run(Box<Entry>),
    /// A sweep.
    Sweep(Box<SweepEntry>),
}

/// A kept sweep with its number, without its visits.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SweepEntry {
    /// The number under which it is found.
    pub id: i64,
    /// What kind of document it is.
    pub schema: Schema,
    /// When it was begun: RFC 3339, UTC.
    pub created: String,
    /// The version of trunkline that began it.
    pub trunkline_version: String,
    /// The machine that it was begun on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// What is measured; without the limits on buffers.
    pub target: Target,
    /// Settings of its grid.
    pub settings: u64,
    /// How often each is visited.
    pub cycles: u32,
    /// Visits that were measured.
    pub measured: u64,
    /// Visits that failed.
    pub failed: u64,
    /// Why it ended before its time, as far as it could say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_because: Option<String>,
}

impl SweepEntry {
    /// How many visits there are in all.
    pub fn visits(&self) -> u64 {
        self.settings.saturating_mul(self.cycles.into())
    }

    /// Whether some visit was neither measured nor given up.
    pub fn is_unfinished(&self) -> bool {
        self.measured + self.failed < self.visits()
    }
}

impl Listed {
    /// Its number.
    pub fn id(&self) -> i64 {
        match self {
            Listed::Run(entry) => entry.id,
            Listed::Sweep(sweep) => sweep.id,
        }
    }

    fn created(&self) -> &str {
        match self {
            Listed::Run(entry) => &entry.essence.created,
            Listed::Sweep(sweep) => &sweep.created,
        }
    }
}

impl Archive {
    /// Documents and sweeps that `filter` wants, the newest last; a sweep in one entry.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn listed(&self, filter: &Filter) -> Result<Vec<Listed>, ArchiveError> {
        let runs = self.list(filter)?.into_iter().map(Box::new);
        let sweeps = self.sweeps(filter)?.into_iter().map(Box::new);
        let mut all: Vec<Listed> = runs
            .map(Listed::Run)
            .chain(sweeps.map(Listed::Sweep))
            .collect();
        all.sort_by(|a, b| (a.created(), a.id()).cmp(&(b.created(), b.id())));
        let last = filter.last.and_then(|last| usize::try_from(last).ok());
        let surplus = last.map_or(0, |last| all.len().saturating_sub(last));
        Ok(all.split_off(surplus))
    }

    /// The sweeps that `filter` wants, the newest last.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn sweeps(&self, filter: &Filter) -> Result<Vec<SweepEntry>, ArchiveError> {
        let statement = "SELECT id, target_json, origin_json, settings, cycles, cut_because, \
               (SELECT count(*) FROM visits WHERE sweep = id AND failed_because IS NULL), \
               (SELECT count(*) FROM visits WHERE sweep = id AND failed_because IS NOT NULL) \
             FROM sweeps WHERE target LIKE ?1 ESCAPE '\\' AND created >= ?2 \
             ORDER BY created DESC, id DESC LIMIT ?3";
        let target = containing(filter.target.as_deref().unwrap_or_default());
        let since = filter.since.as_deref().unwrap_or_default();
        let last = filter.last.map_or(i64::MAX, i64::from);
        let found: Vec<Option<SweepEntry>> = self.ask(|connection| {
            let mut statement = connection.prepare(statement)?;
            let found = statement.query_map(params![target, since, last], entry)?;
            found.collect()
        })?;
        let found: Option<Vec<SweepEntry>> = found.into_iter().rev().collect();
        found.ok_or_else(|| self.damaged())
    }

    /// The measured visits of the sweep `id` as the runs that they are, in the order of its plan.
    ///
    /// # Errors
    /// When there is no such sweep, or the archive cannot be read.
    pub fn runs_of_sweep(&self, id: i64) -> Result<Vec<Entry>, ArchiveError> {
        if self
            .ask(|connection| super::stored::head(connection, id))?
            .is_none()
        {
            return Err(self.no_sweep(id));
        }
        // Both tables have columns of the same names.
        let statement = format!(
            "SELECT {} FROM documents \
             INNER JOIN (SELECT document, number FROM visits WHERE sweep = ?1) AS made \
             ON made.document = id ORDER BY made.number",
            rows::entry_columns()
        );
        self.ask(|connection| {
            let mut statement = connection.prepare(&statement)?;
            statement.query_map([id], rows::entry)?.collect()
        })
    }
}

/// `None` where the row holds something else than was written.
fn entry(row: &Row<'_>) -> rusqlite::Result<Option<SweepEntry>> {
    let (target, origin): (String, String) = (row.get(1)?, row.get(2)?);
    let target = serde_json::from_str::<Target>(&target).ok();
    let origin = serde_json::from_str::<Origin>(&origin).ok();
    let Some((target, origin)) = target.zip(origin) else {
        return Ok(None);
    };
    let count = |index| {
        row.get::<_, i64>(index)
            .map(|n| u64::try_from(n).unwrap_or(0))
    };
    Ok(Some(SweepEntry {
        id: row.get(0)?,
        schema: Schema::Sweep,
        created: origin.created,
        trunkline_version: origin.trunkline_version,
        host: origin.host.name,
        target: Target {
            limits: None,
            ..target
        },
        settings: count(3)?,
        cycles: row.get(4)?,
        measured: count(6)?,
        failed: count(7)?,
        cut_because: row.get(5)?,
    }))
}
