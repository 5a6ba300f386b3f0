//! Questions of pages: which tasks there are, what happened to a pair, visits with raw values.

use changes::UnixTime;

use crate::database::{Row, Value};
use crate::rows::{self, second};
use crate::{LoadedVisit, Name, Pair, Store, StoreError, StoredEvent, VisitId, events, grid, pair};

impl Store {
    /// The tasks that have series, by name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tasks(&mut self) -> Result<Vec<Name>, StoreError> {
        self.names("SELECT DISTINCT task FROM series", &[])
    }

    /// The tasks that have a series of this pair, by name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tasks_of(&mut self, pair: &Pair) -> Result<Vec<Name>, StoreError> {
        let select = "SELECT task FROM series WHERE from_host = $1 AND to_host = $2";
        self.names(select, &ends(pair))
    }

    /// The pairs that have a series of this task, by name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn pairs_of(&mut self, task: &Name) -> Result<Vec<Pair>, StoreError> {
        let select = "SELECT from_host, to_host FROM series WHERE task = $1";
        let rows = self.database.query(select, &[task.as_str().into()])?;
        let pairs = rows.into_iter().map(|mut row| grid::pair(&mut row));
        let pairs: Option<Vec<Pair>> = pairs.collect();
        let mut pairs = pairs.ok_or_else(|| self.damaged("a pair is not one"))?;
        pairs.sort();
        Ok(pairs)
    }

    fn names(&mut self, select: &str, values: &[Value]) -> Result<Vec<Name>, StoreError> {
        let rows = self.database.query(select, values)?;
        let name = |mut row: Row| row.text()?.parse().ok();
        let names: Option<Vec<Name>> = rows.into_iter().map(name).collect();
        let mut names = names.ok_or_else(|| self.damaged("a name is not one"))?;
        names.sort();
        Ok(names)
    }

    /// When the first visit of a pair began, of any task; `None` before there is one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn first_visit(&mut self, pair: &Pair) -> Result<Option<UnixTime>, StoreError> {
        let select = "SELECT min(own.first) FROM (SELECT (SELECT min(at) FROM visits \
             WHERE series = series.id) AS first FROM series \
             WHERE from_host = $1 AND to_host = $2) AS own";
        let rows = self.database.query(select, &ends(pair))?;
        let first = rows.into_iter().next().and_then(|mut row| row.int());
        Ok(first.map(rows::time))
    }

    /// Events of a pair, of all tasks, whose first visit began from `from` on and before `to`, the
    /// newest first, at most `limit`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn events_of(
        &mut self,
        pair: &Pair,
        (from, to): (UnixTime, UnixTime),
        limit: u32,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let select = format!(
            "{} WHERE s.from_host = $1 AND s.to_host = $2 AND e.first_visit >= $3 \
             AND e.first_visit < $4 ORDER BY e.first_visit DESC, e.series, e.id LIMIT $5",
            events::SELECT
        );
        let mut values = ends(pair).to_vec();
        values.extend([second(from), second(to), i64::from(limit)].map(Value::from));
        self.read_events(&select, &values)
    }

    /// One event by its number; `None` where there is none.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn event(
        &mut self,
        pair: &Pair,
        task: &Name,
        id: u64,
    ) -> Result<Option<StoredEvent>, StoreError> {
        let select = format!(
            "{} WHERE s.from_host = $1 AND s.to_host = $2 AND s.task = $3 AND e.id = $4",
            events::SELECT
        );
        let mut values = ends(pair).to_vec();
        values.extend([task.as_str().into(), id.cast_signed().into()]);
        Ok(self.read_events(&select, &values)?.into_iter().next())
    }

    /// Visits of a pair and task that began from `from` on and before `to`, with their raw values
    /// and without documents, in the order of time, at most `limit`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn visits(
        &mut self,
        pair: &Pair,
        task: &Name,
        (from, to): (UnixTime, UnixTime),
        limit: u32,
    ) -> Result<Vec<LoadedVisit>, StoreError> {
        let Some(series) = self.series_of(pair, task)? else {
            return Ok(Vec::new());
        };
        let found = "SELECT series, at, id FROM visits WHERE at >= $1 AND at < $2 AND series = $3 \
             ORDER BY at, id LIMIT $4";
        // SQLite counts parameters as they appear.
        let values = [second(from), second(to), series, i64::from(limit)].map(Value::from);
        self.read_visits(found, &values)
    }

    /// The same of all pairs and tasks.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn all_visits(
        &mut self,
        (from, to): (UnixTime, UnixTime),
        limit: u32,
    ) -> Result<Vec<LoadedVisit>, StoreError> {
        // Series first: visits lie in the order of series, then of time.
        let found = "SELECT f.series, f.at, f.id FROM series AS own CROSS JOIN visits AS f \
             WHERE f.series = own.id AND f.at >= $1 AND f.at < $2 ORDER BY f.at, f.id LIMIT $3";
        let values = [second(from), second(to), i64::from(limit)].map(Value::from);
        self.read_visits(found, &values)
    }

    fn read_visits(
        &mut self,
        found: &str,
        values: &[Value],
    ) -> Result<Vec<LoadedVisit>, StoreError> {
        let select = format!(
            "SELECT v.id, s.from_host, s.to_host, s.task, v.parts % 2, raw.packed, NULL, {}, {} \
             FROM ({found}) AS found JOIN visits AS v ON v.series = found.series \
             AND v.at = found.at AND v.id = found.id JOIN series AS s ON s.id = v.series {} \
             LEFT JOIN raw ON raw.at = v.at AND raw.id = v.id ORDER BY v.at, v.id",
            rows::FIGURES,
            rows::TEXTS,
            rows::JOINS
        );
        let rows = self.database.query(&select, values)?;
        let read = |mut row: Row| {
            let id: VisitId = rows::id(&mut row)?;
            pair::loaded(id, row)
        };
        let visits: Option<Vec<LoadedVisit>> = rows.into_iter().map(read).collect();
        visits.ok_or_else(|| self.damaged("a visit is not one"))
    }
}

fn ends(pair: &Pair) -> [Value; 2] {
    [pair.from.as_str().into(), pair.to.as_str().into()]
}
