//! Events of the detectors.

use std::fmt;

use changes::{Event, UnixTime};
use serde::{Deserialize, Serialize};

use crate::database::Value;
use crate::rows::second;
use crate::{Name, Pair, Store, StoreError, grid};

/// An event with where it happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredEvent {
    /// The pair.
    pub pair: Pair,
    /// The task.
    pub task: Name,
    /// Its highest revision.
    pub event: Event,
}

/// Which event.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EventKey {
    /// The pair.
    pub pair: Pair,
    /// The task.
    pub task: Name,
    /// Its number among those of the pair and task.
    pub id: u64,
}

impl StoredEvent {
    /// Which event it is.
    pub fn key(&self) -> EventKey {
        EventKey {
            pair: self.pair.clone(),
            task: self.task.clone(),
            id: self.event.id,
        }
    }

    /// Whether it is this event.
    pub fn is(&self, key: &EventKey) -> bool {
        self.event.id == key.id && self.pair == key.pair && self.task == key.task
    }
}

impl fmt::Display for EventKey {
    /// `task/from/to/id`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EventKey { pair, task, id } = self;
        write!(f, "{task}/{}/{}/{id}", pair.from, pair.to)
    }
}

pub(crate) const SELECT: &str = "SELECT s.from_host, s.to_host, s.task, e.json FROM events AS e \
     JOIN series AS s ON s.id = e.series";

const UPSERT: &str = "INSERT INTO events (series, id, revision, first_visit, json, is_over) \
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (series, id) DO UPDATE SET \
     revision = excluded.revision, first_visit = excluded.first_visit, json = excluded.json, \
     is_over = excluded.is_over WHERE excluded.revision > events.revision";

impl Store {
    /// Stores an event of a pair and task. Of all revisions with its number the highest stays,
    /// whatever the order in which they come.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn insert_event(
        &mut self,
        pair: &Pair,
        task: &Name,
        event: &Event,
    ) -> Result<(), StoreError> {
        let json = serde_json::to_string(event).map_err(|error| StoreError::Database {
            name: self.name.clone(),
            what: error.to_string(),
        })?;
        let series = self.series(pair, task)?;
        let values = [
            series.into(),
            event.id.cast_signed().into(),
            i64::from(event.revision).into(),
            second(event.first_visit).into(),
            json.as_str().into(),
            i64::from(!event.is_open()).into(),
        ];
        self.database
            .transaction(|database| database.execute(UPSERT, &values))?;
        Ok(())
    }

    /// Events whose first visit began from `from` on and before `to`, the newest first, at most
    /// `limit`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn events(
        &mut self,
        (from, to): (UnixTime, UnixTime),
        limit: u32,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let select = format!(
            "{SELECT} WHERE e.first_visit >= $1 AND e.first_visit < $2 \
             ORDER BY e.first_visit DESC, e.series, e.id LIMIT $3"
        );
        let values = [
            second(from).into(),
            second(to).into(),
            i64::from(limit).into(),
        ];
        self.read_events(&select, &values)
    }

    /// Events that are not over, whenever they began, the newest first, at most `limit`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn open_events(&mut self, limit: u32) -> Result<Vec<StoredEvent>, StoreError> {
        let select = format!(
            "{SELECT} WHERE e.is_over = 0 ORDER BY e.first_visit DESC, e.series, e.id LIMIT $1"
        );
        let mut events = self.read_events(&select, &[i64::from(limit).into()])?;
        events.retain(|stored| stored.event.is_open());
        Ok(events)
    }

    pub(crate) fn read_events(
        &mut self,
        select: &str,
        values: &[Value],
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let rows = self.database.query(select, values)?;
        let events: Option<Vec<StoredEvent>> = rows
            .into_iter()
            .map(|mut row| {
                Some(StoredEvent {
                    pair: grid::pair(&mut row)?,
                    task: row.text()?.parse().ok()?,
                    event: serde_json::from_str(&row.text()?).ok()?,
                })
            })
            .collect();
        events.ok_or_else(|| self.damaged("an event is not one"))
    }
}
