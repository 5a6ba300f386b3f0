//! The monthly table by pair, as PingER prints it.

use changes::UnixTime;
use serde::Serialize;

use crate::rows::second;
use crate::{Level, Name, Pair, RollUp, Store, StoreError, grid, roll_up};

/// A month of a pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Month {
    /// The pair.
    pub pair: Pair,
    /// The month.
    pub figures: RollUp,
}

impl Store {
    /// The months of all pairs of a task that begin from `from` on and before `to`, by name of the
    /// pair, then by time. The current month lags by up to an hour of visits.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn months(
        &mut self,
        task: &Name,
        from: UnixTime,
        to: UnixTime,
    ) -> Result<Vec<Month>, StoreError> {
        let select = format!(
            "SELECT s.from_host, s.to_host, {} FROM series AS s JOIN roll_ups AS r \
             ON r.series = s.id WHERE s.task = $1 AND r.level = $2 AND r.start >= $3 \
             AND r.start < $4",
            qualified()
        );
        let values = [
            task.as_str().into(),
            Level::Month.number().into(),
            second(from).into(),
            second(to).into(),
        ];
        let rows = self.database.query(&select, &values)?;
        let months: Option<Vec<Month>> = rows
            .into_iter()
            .map(|mut row| {
                Some(Month {
                    pair: grid::pair(&mut row)?,
                    figures: roll_up::read(&mut row)?,
                })
            })
            .collect();
        let mut months = months.ok_or_else(|| self.damaged("a month is not one"))?;
        months.sort_by(|a, b| (&a.pair, a.figures.start).cmp(&(&b.pair, b.figures.start)));
        Ok(months)
    }
}

/// Columns of a roll-up, with their table: `series` has some of the names too.
fn qualified() -> String {
    let columns = roll_up::COLUMNS
        .split(", ")
        .map(|column| format!("r.{column}"));
    columns.collect::<Vec<_>>().join(", ")
}
