//! The latest of each pair and of each host.

use changes::{Failure, UnixTime};
use serde::Serialize;
use units::{Rate, Span};

use crate::database::Row;
use crate::rows::{rate, second, span, time};
use crate::{Name, Pair, Store, StoreError};

/// The latest visit to a pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GridCell {
    /// The pair.
    pub pair: Pair,
    /// When the visit began.
    pub at: UnixTime,
    /// Its goodput.
    pub goodput: Option<Rate>,
    /// 95th percentile of goodput over the 30 days before: what the pair has been shown to carry.
    pub shown: Option<Rate>,
    /// Its shortest round trip.
    pub rtt_min: Option<Span>,
    /// Its median round trip.
    pub rtt_median: Option<Span>,
    /// Share of its probes that was lost.
    pub loss: Option<f64>,
    /// Why it has no result.
    pub failure: Option<Failure>,
}

impl GridCell {
    /// Goodput as a share of what the pair has been shown to carry; above 1 where it is more.
    pub fn share_of_shown(&self) -> Option<f64> {
        let shown = self
            .shown
            .filter(|shown| *shown > Rate::from_bits_per_second(0))?;
        Some(self.goodput?.as_f64() / shown.as_f64())
    }
}

/// What the store has of the visits that a host made as the sending end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostSeen {
    /// The host.
    pub host: Name,
    /// When the latest visit from it began.
    pub latest: UnixTime,
}

const CELL: &str = "SELECT s.from_host, s.to_host, s.latest_at, s.goodput, s.shown, s.rtt_min, \
     s.rtt_median, s.sent, s.lost, failure.json FROM series AS s \
     LEFT JOIN texts AS failure ON failure.id = s.failure \
     WHERE s.task = $1 AND s.latest_at IS NOT NULL";

impl Store {
    /// The latest visit of each pair of a task, by name of the pair.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn grid(&mut self, task: &Name) -> Result<Vec<GridCell>, StoreError> {
        let mut cells = self.cells(CELL, &[task.as_str().into()])?;
        cells.sort_by(|one, other| one.pair.cmp(&other.pair));
        Ok(cells)
    }

    /// Pairs of a task whose latest visit failed or began before `since`, by name of the pair.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn without_data(
        &mut self,
        task: &Name,
        since: UnixTime,
    ) -> Result<Vec<GridCell>, StoreError> {
        let select = format!("{CELL} AND (s.failure IS NOT NULL OR s.latest_at < $2)");
        let mut cells = self.cells(&select, &[task.as_str().into(), second(since).into()])?;
        cells.sort_by(|one, other| one.pair.cmp(&other.pair));
        Ok(cells)
    }

    fn cells(
        &mut self,
        select: &str,
        values: &[crate::database::Value],
    ) -> Result<Vec<GridCell>, StoreError> {
        let rows = self.database.query(select, values)?;
        let cells: Option<Vec<GridCell>> = rows.into_iter().map(cell).collect();
        cells.ok_or_else(|| self.damaged("a series is not one"))
    }

    /// The latest visit from each host, of all tasks, by name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn hosts(&mut self) -> Result<Vec<HostSeen>, StoreError> {
        let select = "SELECT from_host, max(latest_at) FROM series \
             WHERE latest_at IS NOT NULL GROUP BY from_host";
        let rows = self.database.query(select, &[])?;
        let seen = |mut row: Row| {
            Some(HostSeen {
                host: row.text()?.parse().ok()?,
                latest: time(row.int()?),
            })
        };
        let hosts: Option<Vec<HostSeen>> = rows.into_iter().map(seen).collect();
        let mut hosts = hosts.ok_or_else(|| self.damaged("a host is not one"))?;
        hosts.sort_by(|one, other| one.host.cmp(&other.host));
        Ok(hosts)
    }
}

fn cell(mut row: Row) -> Option<GridCell> {
    let pair = pair(&mut row)?;
    let at = time(row.int()?);
    let goodput = row.int().map(rate);
    let shown = row.int().map(rate);
    let rtt_min = row.int().map(span);
    let rtt_median = row.int().map(span);
    let loss = row.int().zip(row.int());
    let loss = loss.filter(|(sent, _)| *sent > 0);
    let failure = match row.text() {
        Some(json) => Some(serde_json::from_str(&json).ok()?),
        None => None,
    };
    Some(GridCell {
        pair,
        at,
        goodput,
        shown,
        rtt_min,
        rtt_median,
        loss: loss.map(|(sent, lost)| lost.min(sent) as f64 / sent as f64),
        failure,
    })
}

/// The pair in the next two columns.
pub(crate) fn pair(row: &mut Row) -> Option<Pair> {
    Some(Pair {
        from: row.text()?.parse().ok()?,
        to: row.text()?.parse().ok()?,
    })
}
