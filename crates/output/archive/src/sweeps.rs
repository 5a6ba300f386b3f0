//! Sweeps in the archive: begun once, each visit kept as it is finished, put together again when
//! asked for.
//!
//! A visit that was measured is an ordinary measurement with a number of its own, and a row in
//! `visits` says whose it is. Both are written in one transaction.
//!
//! Reading order: [`Archive::begin_sweep`], [`Archive::keep_visit`], [`Archive::sweep`], then
//! `stored.rs` for the rows, `claim.rs` for who may write them, `listed.rs` for lists.

mod claim;
mod listed;
mod stored;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use sweep::{Ledger, VisitKey};
use units::Span;

use super::{Archive, ArchiveError, Essence, packed, rows};
pub use claim::SweepClaim;
pub use listed::{Listed, SweepEntry};
use record::sweep::{CellFigures, SweepPlan};
use record::{AnyDocument, Beside, Document, Measure, Origin, Sweep, Target};

/// A sweep that is in the archive, with what is needed to go on with it.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptSweep {
    /// Its number.
    pub id: i64,
    /// The target as the user wrote it.
    pub asked: String,
    /// What is measured.
    pub target: Target,
    /// What is visited.
    pub plan: sweep::SweepPlan,
    /// What was visited.
    pub ledger: Ledger,
}

/// A finished visit on its way into the archive.
#[derive(Debug)]
pub struct FinishedVisit<'a> {
    /// Its place in the order of visits, from 1.
    pub number: u32,
    /// Its cycle and setting.
    pub key: VisitKey,
    /// When it began, as [`record::now`] gives it.
    pub started: &'a str,
    /// How long it took.
    pub took: Span,
    /// What came of it.
    pub result: VisitResult<'a>,
}

/// What came of a visit.
#[derive(Debug)]
pub enum VisitResult<'a> {
    /// It was measured: all of it, and its figures.
    Measured(Box<Document<Measure>>, &'a CellFigures),
    /// It could not be, for this reason.
    Failed(&'a str),
}

impl Archive {
    /// Enters a new sweep and gives its number.
    ///
    /// * `asked`: the target in words that open it again.
    ///
    /// # Errors
    /// When the archive cannot be written to.
    pub fn begin_sweep(
        &mut self,
        origin: &Origin,
        asked: &str,
        target: &Target,
        plan: &sweep::SweepPlan,
    ) -> Result<i64, ArchiveError> {
        self.write(|transaction| {
            let id = next_number(transaction)?;
            stored::insert(transaction, id, origin, asked, target, plan)?;
            Ok(id)
        })
    }

    /// Keeps a finished visit; gives the number of its measurement where it was measured. A failure
    /// that was kept before makes room.
    ///
    /// # Errors
    /// When this visit is there already, measured, or the archive cannot be written to. Nothing is
    /// kept then.
    pub fn keep_visit(
        &mut self,
        sweep: i64,
        visit: &FinishedVisit<'_>,
    ) -> Result<Option<i64>, ArchiveError> {
        let document = match &visit.result {
            VisitResult::Measured(document, _) => Some(AnyDocument::Measure(document.clone())),
            VisitResult::Failed(_) => None,
        };
        let essence = document.as_ref().and_then(Essence::of);
        let packed = document.map(|document| packed::pack(&document.to_json()));
        let kept = self.write(|transaction| {
            if !stored::make_room(transaction, sweep, visit.key)? {
                return Ok(None);
            }
            let measured = essence.as_ref().zip(packed.as_deref());
            let document = measured
                .map(|(essence, packed)| whole_document(transaction, essence, packed))
                .transpose()?;
            stored::insert_visit(transaction, sweep, visit, document)?;
            Ok(Some(document))
        })?;
        kept.ok_or_else(|| ArchiveError::VisitTaken {
            path: self.path.clone(),
            sweep,
            number: visit.number,
        })
    }

    /// Notes why a sweep ended before its time, or that it goes on.
    ///
    /// # Errors
    /// When the archive cannot be written to.
    pub fn mark_sweep(
        &mut self,
        sweep: i64,
        cut_because: Option<&str>,
    ) -> Result<(), ArchiveError> {
        let statement = "UPDATE sweeps SET cut_because = ?2, beside_json = NULL WHERE id = ?1";
        self.write(|transaction| {
            transaction.execute(statement, params![sweep, cut_because])?;
            Ok(())
        })
    }

    /// Keeps what was simulated beside a sweep, until further visits are made.
    ///
    /// # Errors
    /// When the archive cannot be written to.
    pub fn keep_beside(&mut self, sweep: i64, beside: &[Beside]) -> Result<(), ArchiveError> {
        self.write(|transaction| stored::keep_beside(transaction, sweep, beside))
    }

    /// Removes a sweep that has no visits, because what it asked for cannot be had; any other
    /// stays.
    ///
    /// # Errors
    /// When the archive cannot be written to.
    pub fn discard_empty_sweep(&mut self, id: i64) -> Result<(), ArchiveError> {
        let statement = "DELETE FROM sweeps WHERE id = ?1 \
             AND NOT EXISTS (SELECT 1 FROM visits WHERE sweep = ?1)";
        self.write(|transaction| transaction.execute(statement, [id]).map(drop))
    }

    /// The sweep with this number, to go on with.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn sweep(&self, id: i64) -> Result<KeptSweep, ArchiveError> {
        let head = self.ask(|connection| stored::head(connection, id))?;
        let head = head.ok_or_else(|| self.no_sweep(id))?;
        let damaged = || self.damaged();
        let plan: SweepPlan = serde_json::from_str(&head.plan_json).map_err(|_| damaged())?;
        plan.check().map_err(|_| damaged())?;
        Ok(KeptSweep {
            id,
            target: serde_json::from_str(&head.target_json).map_err(|_| damaged())?,
            plan,
            asked: head.asked,
            ledger: self.ask(|connection| stored::ledger(connection, id))?,
        })
    }

    /// The document of a sweep, put together from its rows; `None` where no sweep has this number.
    pub(super) fn sweep_document(&self, id: i64) -> Result<Option<AnyDocument>, ArchiveError> {
        let Some(head) = self.ask(|connection| stored::head(connection, id))? else {
            return Ok(None);
        };
        let visits = self.ask(|connection| stored::visits(connection, id))?;
        let document = assembled(&head, visits).ok_or_else(|| self.damaged())?;
        Ok(Some(document.into()))
    }

    /// Enters a sweep that was made elsewhere: its figures, and no measurements behind them. One
    /// that is there already keeps its number.
    ///
    /// # Errors
    /// When a visit belongs to no setting of its plan, or the archive cannot be written to.
    pub(super) fn import_sweep(&mut self, document: &Document<Sweep>) -> Result<i64, ArchiveError> {
        let body = &document.body;
        let mismatch = || ArchiveError::NotItsPlan {
            target: body.target.name.clone(),
        };
        body.plan.check().map_err(|_| mismatch())?;
        let places = body.cells.iter().map(|cell| {
            let duration = Span::from_secs_f64(cell.duration_seconds);
            let asked = Some((&cell.setting, duration));
            let place = (0..body.plan.places()).find(|place| body.plan.at(*place) == asked);
            place.filter(|_| (1..=body.plan.cycles).contains(&cell.cycle))
        });
        let places: Vec<usize> = places.collect::<Option<_>>().ok_or_else(mismatch)?;
        self.write(|transaction| {
            if let Some(known) = stored::same(transaction, document)? {
                return Ok(known);
            }
            let id = next_number(transaction)?;
            let (target, plan) = (&body.target, &body.plan);
            stored::insert(
                transaction,
                id,
                &document.origin,
                &target.name,
                target,
                plan,
            )?;
            for (cell, place) in body.cells.iter().zip(places) {
                stored::insert_cell(transaction, id, place, cell)?;
            }
            let statement = "UPDATE sweeps SET cut_because = ?2 WHERE id = ?1";
            transaction.execute(statement, params![id, body.cut_because])?;
            stored::keep_beside(transaction, id, &body.beside)?;
            Ok(id)
        })
    }

    /// Writes in one transaction: all of it or nothing.
    fn write<T>(
        &mut self,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, ArchiveError> {
        let behaviour = TransactionBehavior::Immediate;
        let written = self
            .connection
            .transaction_with_behavior(behaviour)
            .and_then(|transaction| {
                let value = change(&transaction)?;
                transaction.commit()?;
                Ok(value)
            });
        written.map_err(|error| ArchiveError::of(&self.path, error))
    }

    fn no_sweep(&self, id: i64) -> ArchiveError {
        ArchiveError::NoSweep {
            path: self.path.clone(),
            id,
        }
    }
}

/// The next number of the sequence that documents draw theirs from; no document gets it. PostgreSQL
/// has `nextval` for this.
fn next_number(connection: &Connection) -> rusqlite::Result<i64> {
    let statement = "SELECT seq FROM sqlite_sequence WHERE name = 'documents'";
    let last: Option<i64> = connection
        .query_row(statement, [], |row| row.get(0))
        .optional()?;
    let next = last.unwrap_or(0) + 1;
    let change = match last {
        Some(_) => "UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'documents'",
        None => "INSERT INTO sqlite_sequence (name, seq) VALUES ('documents', ?1)",
    };
    connection.execute(change, [next])?;
    Ok(next)
}

fn whole_document(
    connection: &Connection,
    essence: &Essence,
    packed: &[u8],
) -> rusqlite::Result<i64> {
    let id = rows::insert_document(connection, essence, packed)?;
    for (number, sample) in (0..).zip(&essence.samples) {
        rows::insert_sample(connection, id, number, sample)?;
    }
    Ok(id)
}

fn assembled(head: &stored::Head, visits: Vec<stored::Row>) -> Option<Document<Sweep>> {
    let origin: Origin = serde_json::from_str(&head.origin_json).ok()?;
    let target: Target = serde_json::from_str(&head.target_json).ok()?;
    let plan: SweepPlan = serde_json::from_str(&head.plan_json).ok()?;
    let made = visits.len() as u64;
    let all = (plan.places() as u64).saturating_mul(plan.cycles.into());
    let unfinished = || format!("it was interrupted or still goes on: {made} of {all} visits");
    let cut_because = head.cut_because.clone();
    let cut_because = cut_because.or_else(|| (made < all).then(unfinished));
    let cells = visits.into_iter().map(|row| row.cell(&plan));
    let body = Sweep {
        target,
        cut_because,
        cells: cells.collect::<Option<_>>()?,
        beside: head.beside()?,
        plan,
        analysis: None,
    };
    Some(Document::new(origin, body.analysed()))
}

#[cfg(test)]
mod tests;
