//! Roll-ups of hours, days and months, computed from the rows of visits.
//!
//! Storing a visit marks its day as stale. [`Store::roll_up`] computes the roll-ups of stale days
//! anew, so visits that arrive late or in any order give the same. Months and the 30 days behind
//! the grid follow at most once in an hour of visits: they lag by that. The first visit of a later
//! month completes the one before.

mod compute;

use changes::{Pings, UnixTime};
use serde::Serialize;
use units::{Rate, Span};

use crate::database::Row;
use crate::rows::{rate, share, span, time};

/// How long a roll-up lasts, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// An hour.
    Hour,
    /// A day.
    Day,
    /// A month of the calendar.
    Month,
}

impl Level {
    pub(crate) fn number(self) -> i64 {
        match self {
            Level::Hour => 0,
            Level::Day => 1,
            Level::Month => 2,
        }
    }
}

/// Visits of some time, summed up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RollUp {
    /// When it begins.
    pub start: UnixTime,
    /// Visits.
    pub visits: u64,
    /// Visits that failed.
    pub failed: u64,
    /// Visits none of whose probes was answered.
    pub unreachable: u64,
    /// Probes sent.
    pub sent: u64,
    /// Probes lost.
    pub lost: u64,
    /// Goodput of the visits that have one.
    pub goodput: Option<Figures<Rate>>,
    /// Round trips of the visits that have some; low, median and high are those of their medians.
    pub round_trip: Option<Figures<Span>>,
    /// What the probes showed; `None` where an older trunkline computed it.
    pub pings: Option<Pings>,
}

impl RollUp {
    /// Share of the probes that was lost; `None` where none was sent.
    pub fn loss(&self) -> Option<f64> {
        (self.sent > 0).then(|| self.lost as f64 / self.sent as f64)
    }
}

/// Quantiles of a quantity; 5 % of the visits are below `low`, 5 % above `high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Figures<T> {
    /// Visits that have it.
    pub count: u64,
    /// Least.
    pub min: T,
    /// 5th percentile.
    pub low: T,
    /// Median.
    pub median: T,
    /// 95th percentile.
    pub high: T,
    /// Greatest.
    pub max: T,
}

/// Columns of a roll-up, in the order of [`read`].
pub(crate) const COLUMNS: &str = "start, visits, failed, unreachable, sent, lost, goodputs, \
     goodput_min, goodput_low, goodput_median, goodput_high, goodput_max, trips, rtt_min, \
     rtt_low, rtt_median, rtt_high, rtt_max, probed, lossless, unanswered, duplicated, reordered, \
     lost_followed, lost_again, rtt_mean, ipdv, unpredictable, slope";

/// A roll-up from the columns [`COLUMNS`].
pub(crate) fn read(row: &mut Row) -> Option<RollUp> {
    let start = time(row.int()?);
    let counts = [row.int()?, row.int()?, row.int()?, row.int()?, row.int()?];
    let [visits, failed, unreachable, sent, lost] = counts.map(i64::unsigned_abs);
    let (goodput, round_trip) = (figures(row, rate), figures(row, span));
    let pings = pings(row).map(|pings| Pings {
        unreachable,
        sent: sent.saturating_sub(pings.sent),
        lost: lost.saturating_sub(pings.sent),
        min: round_trip.map(|trips| trips.min),
        median: round_trip.map(|trips| trips.median),
        ..pings
    });
    Some(RollUp {
        start,
        visits,
        failed,
        unreachable,
        sent,
        lost,
        goodput,
        round_trip,
        pings,
    })
}

/// From their own columns; `sent` are the probes of visits without an answer.
fn pings(row: &mut Row) -> Option<Pings> {
    let mut next = || row.int().map(i64::unsigned_abs);
    let counts = [next(), next(), next(), next(), next(), next(), next()];
    let (mean, variation, unpredictable) = (row.int(), row.int(), row.int());
    let slope = row.int();
    Some(Pings {
        visits: counts[0]?,
        lossless: counts[1]?,
        sent: counts[2]?,
        duplicated: counts[3]?,
        reordered: counts[4]?,
        lost_followed: counts[5]?,
        lost_again: counts[6]?,
        mean: mean.map(span),
        variation: variation.map(span),
        unpredictability: unpredictable.and_then(share),
        slowest_link: slope.map(rate),
        ..Pings::default()
    })
}

fn figures<T>(row: &mut Row, typed: fn(i64) -> T) -> Option<Figures<T>> {
    let count = row.int().map(i64::unsigned_abs);
    let columns = [row.int(), row.int(), row.int(), row.int(), row.int()];
    let column = |place: usize| columns[place].map(typed);
    Some(Figures {
        count: count?,
        min: column(0)?,
        low: column(1)?,
        median: column(2)?,
        high: column(3)?,
        max: column(4)?,
    })
}
