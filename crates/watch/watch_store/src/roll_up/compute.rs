//! Computing roll-ups from the rows of visits.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::Level;
use crate::database::{Database, Row, Value};
use crate::{Store, StoreError, rows};

const HOUR: i64 = 3600;
const DAY: i64 = 86_400;
/// Days over which the grid looks for what a pair has been shown to carry.
const SHOWN_DAYS: i64 = 30;
/// Days in one transaction: each takes about a millisecond, and so does the end of a transaction.
const DAYS_TOGETHER: usize = 20;
const LOW: f64 = 0.05;
const HIGH: f64 = 0.95;

static WRITE: LazyLock<String> = LazyLock::new(|| {
    let columns = format!("level, series, {}", super::COLUMNS);
    let places = (1..=columns.split(',').count()).map(|place| format!("${place}"));
    let places: Vec<String> = places.collect();
    let places = places.join(", ");
    format!("INSERT INTO roll_ups ({columns}) VALUES ({places})")
});

/// What roll-ups need of a visit.
struct Brief {
    at: i64,
    goodput: Option<i64>,
    rtt_min: Option<i64>,
    rtt_median: Option<i64>,
    rtt_max: Option<i64>,
    sent: i64,
    lost: i64,
    failed: bool,
    duplicated: i64,
    reordered: i64,
    lost_followed: i64,
    lost_again: i64,
    rtt_mean: Option<i64>,
    ipdv: Option<i64>,
    slope_low: Option<i64>,
}

impl Brief {
    /// Whether its probes were answered; `None` where it sent none.
    fn is_answered(&self) -> Option<bool> {
        (self.sent > 0).then_some(self.lost < self.sent)
    }

    /// A count of its probes, where it has an answer.
    fn answered(&self, count: i64) -> i64 {
        match self.is_answered() {
            Some(true) => count,
            _ => 0,
        }
    }

    /// Success of its probes and seconds of a round trip, where it has an answer.
    fn success(&self) -> Option<(f64, f64)> {
        let trip = self.rtt_mean.or(self.rtt_median)? as f64 / 1e9;
        let success = 1.0 - self.lost as f64 / self.sent as f64;
        self.is_answered()?.then_some((success, trip))
    }
}

impl Store {
    /// Computes the roll-ups of at most `days` stale days of pairs; how many it computed. Call it
    /// until it gives zero. Some days at a time are one short transaction, so that visits can be
    /// stored in between.
    ///
    /// # Errors
    /// When the database cannot be used; days that were computed before stay so.
    pub fn roll_up(&mut self, days: u32) -> Result<u32, StoreError> {
        let select = "SELECT series, day FROM stale ORDER BY series, day LIMIT $1";
        let rows = self.database.query(select, &[i64::from(days).into()])?;
        let marks = rows.into_iter();
        let marks: Vec<_> = marks
            .filter_map(|mut row| row.int().zip(row.int()))
            .collect();
        for some in marks.chunks(DAYS_TOGETHER) {
            self.database.transaction(|database| {
                let mut days = some.iter();
                days.try_for_each(|(series, day)| roll_up_day(database, *series, *day))
            })?;
        }
        Ok(u32::try_from(marks.len()).unwrap_or(u32::MAX))
    }
}

fn roll_up_day(database: &mut Database, series: i64, day: i64) -> Result<(), StoreError> {
    // The mark goes first: it waits for those who are storing visits of this day, and a visit that
    // is stored after this makes a new mark.
    let unmark = "DELETE FROM stale WHERE series = $1 AND day = $2";
    if database.execute(unmark, &[series.into(), day.into()])? == 0 {
        return Ok(());
    }
    let visits = briefs(database, series, day * DAY, (day + 1) * DAY)?;
    let known = hours(database, series, day)?;
    let mut by_hour: BTreeMap<i64, Vec<&Brief>> = BTreeMap::new();
    for visit in &visits {
        by_hour.entry(visit.at / HOUR).or_default().push(visit);
    }
    let is_new_hour = by_hour.len() > known.len();
    for (hour, visits) in &by_hour {
        // Visits neither change nor go: as many are the same.
        if known.get(&(hour * HOUR)) != Some(&(visits.len() as i64)) {
            write(database, Level::Hour, series, hour * HOUR, visits)?;
        }
    }
    let all: Vec<&Brief> = visits.iter().collect();
    write(database, Level::Day, series, day * DAY, &all)?;
    let latest = latest_day(database, series)?;
    if is_new_hour || day < latest || month_lacks_pings(database, series, day)? {
        roll_up_month(database, series, day)?;
        find_shown(database, series, latest)?;
    }
    match known.is_empty() {
        true => finish_month(database, series, day),
        false => Ok(()),
    }
}

/// Whether an older trunkline summed up the month of a day.
fn month_lacks_pings(database: &mut Database, series: i64, day: i64) -> Result<bool, StoreError> {
    let Some((start, _)) = month_of(day * DAY) else {
        return Ok(false);
    };
    let select = "SELECT count(*) FROM roll_ups WHERE level = $1 AND series = $2 AND start = $3 \
         AND probed IS NULL";
    let month = Level::Month.number();
    let count = database.number(select, &[month.into(), series.into(), start.into()])?;
    Ok(count > 0)
}

/// Computes the month before the one in which `day` is the first, where there is one: it lags by
/// the last visits of its last hour.
fn finish_month(database: &mut Database, series: i64, day: i64) -> Result<(), StoreError> {
    let select = "SELECT max(start) FROM roll_ups WHERE level = $1 AND series = $2 AND start < $3";
    let values = [
        Level::Day.number().into(),
        series.into(),
        (day * DAY).into(),
    ];
    let rows = database.query(select, &values)?;
    let before = rows.into_iter().next().and_then(|mut row| row.int());
    match before {
        Some(before) if month_of(before) != month_of(day * DAY) => {
            roll_up_month(database, series, before / DAY)
        }
        _ => Ok(()),
    }
}

fn roll_up_month(database: &mut Database, series: i64, day: i64) -> Result<(), StoreError> {
    let Some((start, end)) = month_of(day * DAY) else {
        return Ok(());
    };
    let visits = briefs(database, series, start, end)?;
    let all: Vec<&Brief> = visits.iter().collect();
    write(database, Level::Month, series, start, &all)
}

/// Begin and end of the month of a time, in UTC.
fn month_of(at: i64) -> Option<(i64, i64)> {
    let date = Timestamp::from_second(at)
        .ok()?
        .to_zoned(TimeZone::UTC)
        .date();
    let second = |date: jiff::civil::Date| {
        let zoned = date.to_zoned(TimeZone::UTC).ok()?;
        Some(zoned.timestamp().as_second())
    };
    let start = second(date.first_of_month())?;
    // December 9999 ends after the last date: it lasts as long as there is a day.
    let after = date.last_of_month();
    Some((start, second(after)? + DAY))
}

/// The 95th percentile of goodput over the 30 whole days before the latest one, or of the latest
/// day where there is none.
fn find_shown(database: &mut Database, series: i64, latest: i64) -> Result<(), StoreError> {
    let (start, end) = ((latest - SHOWN_DAYS) * DAY, latest * DAY);
    let mut goodputs = goodputs(database, series, start, end)?;
    if goodputs.is_empty() {
        goodputs = self::goodputs(database, series, end, end + DAY)?;
    }
    let shown = stats::quantile(&goodputs, HIGH).map(|shown| shown.round() as i64);
    let update = "UPDATE series SET shown = $1 WHERE id = $2";
    database
        .execute(update, &[shown.into(), series.into()])
        .map(|_| ())
}

fn goodputs(
    database: &mut Database,
    series: i64,
    start: i64,
    end: i64,
) -> Result<Vec<f64>, StoreError> {
    let select = "SELECT goodput FROM visits WHERE series = $1 AND at >= $2 AND at < $3 \
         AND goodput IS NOT NULL";
    let rows = database.query(select, &[series.into(), start.into(), end.into()])?;
    Ok(rows
        .into_iter()
        .filter_map(|mut row| row.int())
        .map(|goodput| goodput as f64)
        .collect())
}

fn latest_day(database: &mut Database, series: i64) -> Result<i64, StoreError> {
    let rows = database.query(
        "SELECT latest_at FROM series WHERE id = $1",
        &[series.into()],
    )?;
    let at = rows.into_iter().next().and_then(|mut row| row.int());
    Ok(at.unwrap_or_default() / DAY)
}

/// The visits in each hour of a day that has a roll-up.
fn hours(database: &mut Database, series: i64, day: i64) -> Result<BTreeMap<i64, i64>, StoreError> {
    let select = "SELECT start, visits FROM roll_ups WHERE level = $1 AND series = $2 \
         AND start >= $3 AND start < $4";
    let hour = Level::Hour.number();
    let (start, end) = (day * DAY, (day + 1) * DAY);
    let rows = database.query(
        select,
        &[hour.into(), series.into(), start.into(), end.into()],
    )?;
    let counted = rows.into_iter();
    Ok(counted
        .filter_map(|mut row| row.int().zip(row.int()))
        .collect())
}

fn briefs(
    database: &mut Database,
    series: i64,
    start: i64,
    end: i64,
) -> Result<Vec<Brief>, StoreError> {
    let select = "SELECT at, goodput, rtt_min, rtt_median, rtt_max, sent, lost, failure, \
         duplicated, reordered, lost_followed, lost_again, rtt_mean, ipdv, slope_low \
         FROM visits \
         WHERE series = $1 AND at >= $2 AND at < $3";
    let rows = database.query(select, &[series.into(), start.into(), end.into()])?;
    Ok(rows.into_iter().filter_map(brief).collect())
}

fn brief(mut row: Row) -> Option<Brief> {
    Some(Brief {
        at: row.int()?,
        goodput: row.int(),
        rtt_min: row.int(),
        rtt_median: row.int(),
        rtt_max: row.int(),
        sent: row.int().unwrap_or_default(),
        lost: row.int().unwrap_or_default(),
        failed: row.int().is_some(),
        duplicated: row.int().unwrap_or_default(),
        reordered: row.int().unwrap_or_default(),
        lost_followed: row.int().unwrap_or_default(),
        lost_again: row.int().unwrap_or_default(),
        rtt_mean: row.int(),
        ipdv: row.int(),
        slope_low: row.int(),
    })
}

fn write(
    database: &mut Database,
    level: Level,
    series: i64,
    start: i64,
    visits: &[&Brief],
) -> Result<(), StoreError> {
    let key: [Value; 3] = [level.number().into(), series.into(), start.into()];
    let clear = "DELETE FROM roll_ups WHERE level = $1 AND series = $2 AND start = $3";
    database.execute(clear, &key)?;
    let sum = |count: fn(&Brief) -> i64| sum(visits, count);
    let mut values = key.to_vec();
    values.push((visits.len() as i64).into());
    values.push(sum(|visit| i64::from(visit.failed)).into());
    values.push(sum(|visit| i64::from(visit.is_answered() == Some(false))).into());
    values.push(sum(|visit| visit.sent).into());
    values.push(sum(|visit| visit.lost).into());
    let of = |value: fn(&Brief) -> Option<i64>| visits.iter().filter_map(|v| value(v)).collect();
    let goodputs: Vec<i64> = of(|visit| visit.goodput);
    values.extend(quantiles(&goodputs, &goodputs, &goodputs));
    let medians: Vec<i64> = of(|visit| visit.rtt_median);
    let (mins, maxs): (Vec<i64>, Vec<i64>) = (of(|v| v.rtt_min), of(|v| v.rtt_max));
    values.extend(quantiles(&mins, &medians, &maxs));
    values.extend(pings(visits));
    database.execute(&WRITE, &values).map(|_| ())
}

fn sum(visits: &[&Brief], count: fn(&Brief) -> i64) -> i64 {
    let counts = visits.iter().map(|visit| count(visit));
    counts.fold(0, i64::saturating_add)
}

/// In the order of the last columns of [`super::COLUMNS`].
fn pings(visits: &[&Brief]) -> [Value; 11] {
    let sum = |count: fn(&Brief) -> i64| Value::from(sum(visits, count));
    let all = |value: fn(&Brief) -> Option<i64>| {
        let values = visits.iter().filter_map(|visit| value(visit));
        values.map(|value| value as f64).collect::<Vec<f64>>()
    };
    let rounded = |value: Option<f64>| Value::from(value.map(|value| value.round() as i64));
    let successes: Vec<_> = visits.iter().filter_map(|visit| visit.success()).collect();
    let unpredictable = changes::unpredictability(&successes);
    [
        sum(|visit| i64::from(visit.sent > 0)),
        sum(|visit| i64::from(visit.sent > 0 && visit.lost == 0)),
        sum(|visit| match visit.is_answered() {
            Some(false) => visit.sent,
            _ => 0,
        }),
        sum(|visit| visit.duplicated),
        sum(|visit| visit.reordered),
        sum(|visit| visit.answered(visit.lost_followed)),
        sum(|visit| visit.answered(visit.lost_again)),
        rounded(stats::mean(&all(|visit| visit.rtt_mean))),
        rounded(stats::median(&all(|visit| visit.ipdv))),
        unpredictable.map(rows::billionths).into(),
        rounded(stats::median(&all(|visit| visit.slope_low))),
    ]
}

/// Count, min, low, median, high, max.
fn quantiles(mins: &[i64], middles: &[i64], maxs: &[i64]) -> [Value; 6] {
    let numbers: Vec<f64> = middles.iter().map(|value| *value as f64).collect();
    let at = |p: f64| {
        stats::quantile(&numbers, p)
            .map(|value| value.round() as i64)
            .into()
    };
    [
        (middles.len() as i64).into(),
        mins.iter().min().copied().into(),
        at(LOW),
        at(0.5),
        at(HIGH),
        maxs.iter().max().copied().into(),
    ]
}
