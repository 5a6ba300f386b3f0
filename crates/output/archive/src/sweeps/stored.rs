//! The rows of sweeps and of their visits: the one place that knows their columns.

use rusqlite::{Connection, OptionalExtension, Row as SqlRow, params};
use sweep::{Done, Ledger, VisitKey};
use units::Span;

use super::{FinishedVisit, VisitResult};
use crate::rows::word;
use record::sweep::{CellFigures, SweepCell, SweepPlan};
use record::{Beside, Document, Origin, Sweep, Target};

/// One of our own shapes as JSON.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("string keys and finite or null numbers always serialise")
}

/// Enters a sweep under the number `id`.
pub(super) fn insert(
    connection: &Connection,
    id: i64,
    origin: &Origin,
    asked: &str,
    target: &Target,
    plan: &SweepPlan,
) -> rusqlite::Result<()> {
    let statement = "INSERT INTO sweeps (id, created, target, target_kind, path_digest, asked, \
         settings, cycles, origin_json, target_json, plan_json) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let columns = params![
        id,
        origin.created,
        target.name,
        word(&target.kind),
        target.path_digest,
        asked,
        number(plan.places()),
        plan.cycles,
        json(origin),
        json(target),
        json(plan),
    ];
    connection.execute(statement, columns).map(drop)
}

/// The number of a sweep made at the same time on the same target with the same plan.
pub(super) fn same(
    connection: &Connection,
    document: &Document<Sweep>,
) -> rusqlite::Result<Option<i64>> {
    let statement = "SELECT id FROM sweeps WHERE created = ?1 AND target = ?2 AND plan_json = ?3";
    let (origin, body) = (&document.origin, &document.body);
    let columns = params![origin.created, body.target.name, json(&body.plan)];
    let found = connection.query_row(statement, columns, |row| row.get(0));
    found.optional()
}

/// Whether the visit `key` may be entered: a failure that is there is removed, a measurement stays.
pub(super) fn make_room(
    connection: &Connection,
    sweep: i64,
    key: VisitKey,
) -> rusqlite::Result<bool> {
    let visit = "FROM visits WHERE sweep = ?1 AND cycle = ?2 AND setting = ?3";
    let columns = params![sweep, key.cycle, number(key.index)];
    let failed = format!("DELETE {visit} AND failed_because IS NOT NULL");
    connection.execute(&failed, columns)?;
    let there = format!("SELECT count(*) {visit}");
    let there: i64 = connection.query_row(&there, columns, |row| row.get(0))?;
    Ok(there == 0)
}

const INSERT_VISIT: &str = "INSERT INTO visits (sweep, cycle, setting, number, started, \
     elapsed_seconds, document, failed_because, figures_json) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

/// Enters a visit; `document` is the number of its measurement.
pub(super) fn insert_visit(
    connection: &Connection,
    sweep: i64,
    visit: &FinishedVisit<'_>,
    document: Option<i64>,
) -> rusqlite::Result<()> {
    let (failed, figures) = match &visit.result {
        VisitResult::Measured(_, figures) => (None, Some(json(figures))),
        VisitResult::Failed(why) => (Some(*why), None),
    };
    let columns = params![
        sweep,
        visit.key.cycle,
        number(visit.key.index),
        visit.number,
        visit.started,
        visit.took.as_secs_f64(),
        document,
        failed,
        figures,
    ];
    connection.execute(INSERT_VISIT, columns).map(drop)
}

/// Enters a visit that was made elsewhere: `place` is that of its setting in the plan.
pub(super) fn insert_cell(
    connection: &Connection,
    sweep: i64,
    place: usize,
    cell: &SweepCell,
) -> rusqlite::Result<()> {
    let duration = cell
        .figures
        .as_ref()
        .map(|figures| figures.duration_seconds);
    let columns = params![
        sweep,
        cell.cycle,
        number(place),
        cell.number,
        cell.started,
        duration.unwrap_or(0.0),
        None::<i64>,
        cell.failed_because,
        cell.figures.as_ref().map(json),
    ];
    connection.execute(INSERT_VISIT, columns).map(drop)
}

/// What is kept of a sweep itself.
#[derive(Debug)]
pub(super) struct Head {
    pub asked: String,
    pub cut_because: Option<String>,
    pub origin_json: String,
    pub target_json: String,
    pub plan_json: String,
    beside_json: Option<String>,
}

impl Head {
    /// What was simulated beside it; `None` where it cannot be read.
    pub(super) fn beside(&self) -> Option<Vec<Beside>> {
        match &self.beside_json {
            Some(json) => serde_json::from_str(json).ok(),
            None => Some(Vec::new()),
        }
    }
}

/// Enters what was simulated beside the sweep `id`.
pub(super) fn keep_beside(
    connection: &Connection,
    id: i64,
    beside: &[Beside],
) -> rusqlite::Result<()> {
    let json = (!beside.is_empty()).then(|| json(&beside));
    let statement = "UPDATE sweeps SET beside_json = ?2 WHERE id = ?1";
    connection.execute(statement, params![id, json]).map(drop)
}

/// The sweep `id`; `None` where there is none.
pub(super) fn head(connection: &Connection, id: i64) -> rusqlite::Result<Option<Head>> {
    let statement = "SELECT asked, cut_because, origin_json, target_json, plan_json, beside_json \
         FROM sweeps WHERE id = ?1";
    let read = |row: &SqlRow<'_>| {
        Ok(Head {
            asked: row.get(0)?,
            cut_because: row.get(1)?,
            origin_json: row.get(2)?,
            target_json: row.get(3)?,
            plan_json: row.get(4)?,
            beside_json: row.get(5)?,
        })
    };
    connection.query_row(statement, [id], read).optional()
}

/// One visit.
#[derive(Debug)]
pub(super) struct Row {
    number: u32,
    cycle: u32,
    setting: usize,
    started: String,
    document: Option<i64>,
    failed_because: Option<String>,
    figures_json: Option<String>,
}

impl Row {
    /// As it stands in the document; `None` where it does not fit the plan.
    pub(super) fn cell(self, plan: &SweepPlan) -> Option<SweepCell> {
        let figures = self.figures_json.as_deref();
        let figures: Option<CellFigures> = figures.map(serde_json::from_str).transpose().ok()?;
        let (setting, duration) = plan.at(self.setting)?;
        Some(SweepCell {
            number: self.number,
            cycle: self.cycle,
            setting: setting.clone(),
            duration_seconds: duration.as_secs_f64(),
            started: self.started,
            run: self.document,
            failed_because: self.failed_because,
            figures,
        })
    }
}

/// The visits of a sweep in the order of its plan.
pub(super) fn visits(connection: &Connection, sweep: i64) -> rusqlite::Result<Vec<Row>> {
    let statement = "SELECT number, cycle, setting, started, document, failed_because, \
         figures_json FROM visits WHERE sweep = ?1 ORDER BY number";
    let mut statement = connection.prepare(statement)?;
    let read = |row: &SqlRow<'_>| {
        Ok(Row {
            number: row.get(0)?,
            cycle: row.get(1)?,
            setting: place(row.get(2)?),
            started: row.get(3)?,
            document: row.get(4)?,
            failed_because: row.get(5)?,
            figures_json: row.get(6)?,
        })
    };
    statement.query_map([sweep], read)?.collect()
}

/// What was visited so far.
pub(super) fn ledger(connection: &Connection, sweep: i64) -> rusqlite::Result<Ledger> {
    let statement = "SELECT cycle, setting, elapsed_seconds, failed_because IS NOT NULL \
         FROM visits WHERE sweep = ?1";
    let mut statement = connection.prepare(statement)?;
    let mut rows = statement.query([sweep])?;
    let mut ledger = Ledger::default();
    while let Some(row) = rows.next()? {
        let key = VisitKey {
            cycle: row.get(0)?,
            index: place(row.get(1)?),
        };
        let done = match row.get(3)? {
            true => Done::Failed,
            false => Done::Measured(Span::from_secs_f64(row.get(2)?)),
        };
        ledger.enter(key, done);
    }
    Ok(ledger)
}

/// SQLite's numbers have a sign.
fn number(place: usize) -> i64 {
    i64::try_from(place).unwrap_or(i64::MAX)
}

/// A place in the plan; one that no plan has where the number is below zero.
fn place(number: i64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
