//! The visits of a pair.

use changes::{UnixTime, Visit};
use serde::Serialize;

use crate::database::Value;
use crate::rows::{self, second};
use crate::{
    Level, Name, Pair, RollUp, Store, StoreError, StoredVisit, VisitId, insert, packed, roll_up,
};

/// What a pair showed over time, in as many points as were asked for or fewer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum PairHistory {
    /// All visits, each with its identity. Their round trips are shortest, median, 95th percentile
    /// and longest; [`Store::load`] gives all.
    Visits(Vec<(VisitId, Visit)>),
    /// Roll-ups, the finest that are few enough.
    RollUps(Level, Vec<RollUp>),
}

/// Whether the raw values of a visit are still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Kept {
    /// They are, or it never had any.
    Whole,
    /// They are older than the retention: its round trips are shortest, median, 95th percentile and
    /// longest, and rates and document are gone.
    Figures,
}

/// A visit as it is stored now.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedVisit {
    /// The visit.
    pub stored: StoredVisit,
    /// Whether its raw values are there.
    pub kept: Kept,
}

impl Store {
    /// The visits of a pair and task from `from` on and before `to`, in at most `points` points.
    ///
    /// # Errors
    /// When the database cannot be read, or even the months are more than `points`.
    pub fn history(
        &mut self,
        pair: &Pair,
        task: &Name,
        (from, to): (UnixTime, UnixTime),
        points: usize,
    ) -> Result<PairHistory, StoreError> {
        let Some(series) = self.series_of(pair, task)? else {
            return Ok(PairHistory::Visits(Vec::new()));
        };
        let range = [series.into(), second(from).into(), second(to).into()];
        let limit = i64::try_from(points).unwrap_or(i64::MAX).saturating_add(1);
        if let Some(visits) = self.visits_within(&range, limit, points)? {
            return Ok(PairHistory::Visits(visits));
        }
        for level in [Level::Hour, Level::Day] {
            let roll_ups = self.roll_ups(level, &range, limit)?;
            if roll_ups.len() <= points {
                return Ok(PairHistory::RollUps(level, roll_ups));
            }
        }
        let months = self.roll_ups(Level::Month, &range, i64::MAX)?;
        match months.len() <= points {
            true => Ok(PairHistory::RollUps(Level::Month, months)),
            false => Err(StoreError::FewPoints {
                needed: months.len(),
                bound: points,
            }),
        }
    }

    /// `None` where they are more than `points`.
    fn visits_within(
        &mut self,
        range: &[Value; 3],
        limit: i64,
        points: usize,
    ) -> Result<Option<Vec<(VisitId, Visit)>>, StoreError> {
        let count = "SELECT count(*) FROM (SELECT at FROM visits WHERE series = $1 AND at >= $2 \
             AND at < $3 LIMIT $4) AS found";
        let mut values = range.to_vec();
        values.push(limit.into());
        let rows = self.database.query(count, &values)?;
        let found = rows
            .into_iter()
            .next()
            .and_then(|mut row| row.int())
            .unwrap_or_default();
        if found.unsigned_abs() > points as u64 {
            return Ok(None);
        }
        let select = format!(
            "SELECT v.id, {}, {} FROM visits AS v {} WHERE v.series = $1 AND v.at >= $2 \
             AND v.at < $3 ORDER BY v.at, v.id",
            rows::FIGURES,
            rows::TEXTS,
            rows::JOINS
        );
        let found = self.database.query(&select, range)?;
        let read = |mut row| Some((rows::id(&mut row)?, rows::visit(&mut row)?));
        let visits: Option<Vec<_>> = found.into_iter().map(read).collect();
        visits
            .map(Some)
            .ok_or_else(|| self.damaged("a visit is not one"))
    }

    fn roll_ups(
        &mut self,
        level: Level,
        range: &[Value; 3],
        limit: i64,
    ) -> Result<Vec<RollUp>, StoreError> {
        let select = format!(
            "SELECT {} FROM roll_ups WHERE level = $1 AND series = $2 AND start >= $3 \
             AND start < $4 ORDER BY start LIMIT $5",
            roll_up::COLUMNS
        );
        let mut values = vec![level.number().into()];
        values.extend(range.iter().cloned());
        values.push(limit.into());
        let rows = self.database.query(&select, &values)?;
        let roll_ups: Option<Vec<RollUp>> = rows
            .into_iter()
            .map(|mut row| roll_up::read(&mut row))
            .collect();
        roll_ups.ok_or_else(|| self.damaged("a roll-up is not one"))
    }

    /// One visit with its raw values; `None` where there is none with this identity.
    ///
    /// # Errors
    /// When the database cannot be read or is damaged.
    pub fn load(&mut self, id: VisitId) -> Result<Option<LoadedVisit>, StoreError> {
        let select = format!(
            "SELECT s.from_host, s.to_host, s.task, v.parts, raw.packed, d.zstd, {}, {} \
             FROM visits AS v JOIN series AS s ON s.id = v.series {} \
             LEFT JOIN raw ON raw.at = v.at AND raw.id = v.id \
             LEFT JOIN documents AS d ON d.at = v.at AND d.id = v.id WHERE v.id = $1",
            rows::FIGURES,
            rows::TEXTS,
            rows::JOINS
        );
        let rows = self.database.query(&select, &[id.bytes().into()])?;
        let Some(row) = rows.into_iter().next() else {
            return Ok(None);
        };
        let loaded = loaded(id, row);
        loaded
            .map(Some)
            .ok_or_else(|| self.damaged(format!("the visit {id}")))
    }
}

/// From the columns of pair, task, parts, raw values, document, figures and texts.
pub(crate) fn loaded(id: VisitId, mut row: crate::database::Row) -> Option<LoadedVisit> {
    let pair = crate::grid::pair(&mut row)?;
    let task = row.text()?.parse().ok()?;
    let parts = row.int()?;
    let (packed, document) = (row.bytes(), row.bytes());
    let mut visit = rows::visit(&mut row)?;
    let kept = match parts != insert::parts(&packed, &document) {
        true => Kept::Figures,
        false => Kept::Whole,
    };
    let raw = match packed {
        Some(bytes) => packed::unpack(&bytes)?,
        None => packed::Raw::default(),
    };
    if raw.trips.is_some() {
        visit.round_trips = raw.trips;
    }
    let document = match document {
        Some(bytes) => Some(packed::unpack_document(&bytes)?),
        None => None,
    };
    let stored = StoredVisit {
        id,
        pair,
        task,
        visit,
        rates: raw.rates,
        document,
    };
    Some(LoadedVisit { stored, kept })
}
