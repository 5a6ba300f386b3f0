//! The series of visits, and what their detectors know, so that a collector need not read all
//! visits again when it starts.

use changes::{Detector, UnixTime};

use crate::rows::{second, time};
use crate::{Name, Pair, Store, StoreError, grid, packed};

/// Visits to one pair for one task.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Series {
    /// The pair.
    pub pair: Pair,
    /// The task.
    pub task: Name,
}

/// A detector as it was saved.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedDetector {
    /// The time of the last visit that it has seen.
    pub through: UnixTime,
    /// What it knows.
    pub detector: Detector,
}

/// What the database has of a detector.
#[derive(Debug, Clone, PartialEq)]
pub enum SavedState {
    /// It was never saved.
    Absent,
    /// It was damaged, or saved by a version that knew other things.
    Unusable,
    /// It was saved so.
    Saved(Box<SavedDetector>),
}

const UPSERT: &str = "INSERT INTO detectors (series, through, zstd) VALUES ($1, $2, $3) \
     ON CONFLICT (series) DO UPDATE SET through = excluded.through, zstd = excluded.zstd";

impl Store {
    /// All series that have visits or events, in order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn all_series(&mut self) -> Result<Vec<Series>, StoreError> {
        let select = "SELECT from_host, to_host, task FROM series";
        let rows = self.database.query(select, &[])?;
        let series: Option<Vec<Series>> = rows
            .into_iter()
            .map(|mut row| {
                Some(Series {
                    pair: grid::pair(&mut row)?,
                    task: row.text()?.parse().ok()?,
                })
            })
            .collect();
        let mut series = series.ok_or_else(|| self.damaged("a series is not one"))?;
        series.sort();
        Ok(series)
    }

    /// The pairs of all series, each once, in order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn visited_pairs(&mut self) -> Result<Vec<Pair>, StoreError> {
        let series = self.all_series()?;
        let mut pairs: Vec<Pair> = series.into_iter().map(|one| one.pair).collect();
        pairs.dedup();
        Ok(pairs)
    }

    /// When the latest visit of a series began; `None` where it has none.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn latest(&mut self, series: &Series) -> Result<Option<UnixTime>, StoreError> {
        let Some(number) = self.series_of(&series.pair, &series.task)? else {
            return Ok(None);
        };
        let select = "SELECT latest_at FROM series WHERE id = $1";
        let rows = self.database.query(select, &[number.into()])?;
        Ok(rows
            .into_iter()
            .next()
            .and_then(|mut row| row.int())
            .map(time))
    }

    /// Saves what a detector knows, in place of what was saved before.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn save_detector(
        &mut self,
        series: &Series,
        saved: &SavedDetector,
    ) -> Result<(), StoreError> {
        let unwritable = |what: String| StoreError::Database {
            name: self.name.clone(),
            what,
        };
        let json = serde_json::to_string(&saved.detector);
        let json = json.map_err(|error| unwritable(error.to_string()))?;
        let zstd = packed::pack_document(&json);
        let zstd = zstd.map_err(|error| unwritable(error.to_string()))?;
        let number = self.series(&series.pair, &series.task)?;
        let values = [number.into(), second(saved.through).into(), zstd.into()];
        self.database
            .transaction(|database| database.execute(UPSERT, &values))?;
        Ok(())
    }

    /// What a detector knew when it was saved last.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn saved_detector(&mut self, series: &Series) -> Result<SavedState, StoreError> {
        let Some(number) = self.series_of(&series.pair, &series.task)? else {
            return Ok(SavedState::Absent);
        };
        let select = "SELECT through, zstd FROM detectors WHERE series = $1";
        let rows = self.database.query(select, &[number.into()])?;
        let Some(mut row) = rows.into_iter().next() else {
            return Ok(SavedState::Absent);
        };
        let mut saved = || {
            let through = time(row.int()?);
            let json = packed::unpack_document(&row.bytes()?)?;
            let detector = serde_json::from_str(&json).ok()?;
            Some(Box::new(SavedDetector { through, detector }))
        };
        Ok(saved().map_or(SavedState::Unusable, SavedState::Saved))
    }
}
