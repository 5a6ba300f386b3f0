//! Traffic in its tables.

use changes::UnixTime;

use super::{Border, Crossing, RouterHour, Traffic, Volume};
use crate::database::{Database, Row, Value};
use crate::rows::{second, time};
use crate::{Store, StoreError};

const HOUR: u64 = 3600;
/// Longest step of a [`Border`].
const STEP_MAX: u64 = 86_400;
/// The most that is stored of a second: sums of days and routers stay below what a column holds.
const BYTES_MAX: u64 = 1 << 38;
/// What names a row of traffic, and all of its columns.
const KEY: &str = "at, seconds, router, way, application";
const COLUMNS: &str = "at, seconds, router, way, application, bytes, packets, records";

impl Store {
    /// Adds traffic and counts of routers to what is stored of their intervals and hours, all in
    /// one transaction.
    ///
    /// # Errors
    /// When the database cannot be written; then nothing is added.
    pub fn insert_flows(
        &mut self,
        traffic: &[Traffic],
        routers: &[RouterHour],
    ) -> Result<(), StoreError> {
        self.database.transaction(|database| {
            for one in traffic {
                add_traffic(database, "flows", one, (one.at, one.seconds))?;
                add_traffic(database, "flow_hours", one, (hour_of(one.at), HOUR))?;
            }
            routers
                .iter()
                .try_for_each(|hour| add_router(database, hour))
        })
    }

    /// Traffic from one time on and before another, in steps of about so many seconds: hours where
    /// shorter intervals are no longer kept.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn border(
        &mut self,
        (from, to): (UnixTime, UnixTime),
        step: u64,
    ) -> Result<Border, StoreError> {
        let step = step.clamp(1, STEP_MAX);
        let is_whole = step >= HOUR || self.has_hours_alone(from, to)?;
        let (table, step) = match is_whole {
            true => ("flow_hours", step.max(HOUR)),
            false => ("flows", step),
        };
        let ends = [second(from), second(to)].map(Value::from);
        let hours = [second(hour_of(from)), second(to)].map(Value::from);
        let place = format!("at / {step} * {step}");
        let range = "WHERE at >= $1 AND at < $2";
        let covered = match is_whole {
            true => format!(
                "SELECT {place}, CAST(sum(covered) AS BIGINT) FROM (SELECT at, max(covered) AS \
                 covered FROM flow_routers {range} GROUP BY at) AS hours GROUP BY {place}"
            ),
            false => format!(
                "SELECT {place}, CAST(sum(seconds) AS BIGINT) FROM (SELECT DISTINCT at, seconds \
                 FROM flows {range}) AS parts GROUP BY {place}"
            ),
        };
        let sums = format!(
            "SELECT {place}, way, application, CAST(sum(bytes) AS BIGINT), \
             CAST(sum(packets) AS BIGINT), CAST(sum(records) AS BIGINT) FROM {table} {range} \
             GROUP BY {place}, way, application"
        );
        let covered = self.database.query(&covered, &ends)?;
        let sums = self.database.query(&sums, &ends)?;
        let mut border = read_border(step, covered, sums)
            .ok_or_else(|| self.damaged("a sum of traffic is not one"))?;
        border.routers = self.routers(&hours)?;
        Ok(border)
    }

    /// From this second on there are intervals, and hours alone before: an interval is kept until
    /// the whole hour is old enough.
    pub(crate) fn intervals_from(&mut self) -> Result<i64, StoreError> {
        let first = self.first_flow("flows", (0, i64::MAX))?;
        Ok(first.map_or(i64::MAX, |first| first / HOUR as i64 * HOUR as i64))
    }

    /// Whether there are hours in a range of which no shorter intervals are kept.
    fn has_hours_alone(&mut self, from: UnixTime, to: UnixTime) -> Result<bool, StoreError> {
        let ends = (second(from), second(to).min(self.intervals_from()?));
        Ok(self.first_flow("flow_hours", ends)?.is_some())
    }

    fn routers(&mut self, range: &[Value]) -> Result<Vec<RouterHour>, StoreError> {
        let names = COUNTS.map(|name| format!("CAST(sum({name}) AS BIGINT)"));
        let select = format!(
            "SELECT min(at), router, {} FROM flow_routers WHERE at >= $1 AND at < $2 \
             GROUP BY router ORDER BY router",
            names.join(", ")
        );
        let rows = self.database.query(&select, range)?;
        let read: Option<Vec<RouterHour>> = rows.into_iter().map(router).collect();
        read.ok_or_else(|| self.damaged("counts of a router are none"))
    }

    /// The first interval of a table of traffic within a range.
    pub(crate) fn first_flow(
        &mut self,
        table: &str,
        (from, to): (i64, i64),
    ) -> Result<Option<i64>, StoreError> {
        let select = format!("SELECT min(at) FROM {table} WHERE at >= $1 AND at < $2");
        let rows = self.database.query(&select, &[from.into(), to.into()])?;
        Ok(rows.into_iter().next().and_then(|mut row| row.int()))
    }

    /// The rows of a table of traffic within a range, in their order.
    pub(crate) fn flows(
        &mut self,
        table: &str,
        (from, to): (i64, i64),
    ) -> Result<Vec<Traffic>, StoreError> {
        let select = format!("SELECT {COLUMNS} FROM {table} WHERE at >= $1 AND at < $2");
        let rows = self.database.query(&select, &[from.into(), to.into()])?;
        let read: Option<Vec<Traffic>> = rows.into_iter().map(traffic).collect();
        let mut read = read.ok_or_else(|| self.damaged("traffic is none"))?;
        // Sorted here: databases differ in the order of texts.
        read.sort();
        Ok(read)
    }
}

/// Columns of counts of a router, in the order of [`counts`].
const COUNTS: [&str; 7] = [
    "covered",
    "datagrams",
    "repeated",
    "unreadable",
    "waiting",
    "received",
    "lost",
];

fn counts(hour: &RouterHour) -> [i64; 7] {
    let fitting = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    [
        fitting(hour.covered),
        fitting(hour.datagrams),
        fitting(hour.repeated),
        fitting(hour.unreadable),
        fitting(hour.waiting),
        fitting(hour.received),
        hour.lost,
    ]
}

fn hour_of(at: UnixTime) -> UnixTime {
    UnixTime::from_seconds(at.seconds() / HOUR * HOUR)
}

fn add_traffic(
    database: &mut Database,
    table: &str,
    one: &Traffic,
    (at, seconds): (UnixTime, u64),
) -> Result<(), StoreError> {
    let insert = format!(
        "INSERT INTO {table} ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
         ON CONFLICT ({KEY}) DO UPDATE SET bytes = {}, packets = {}, records = {}",
        bounded_sum(table, "bytes", 9),
        bounded_sum(table, "packets", 11),
        bounded_sum(table, "records", 13),
    );
    let bound = BYTES_MAX.saturating_mul(seconds).cast_signed();
    let fitting = |count: u64| i64::try_from(count).unwrap_or(i64::MAX).min(bound);
    let values: [Value; 8] = [
        second(at).into(),
        seconds.cast_signed().into(),
        one.router.as_str().into(),
        (one.way as i64).into(),
        one.application.as_str().into(),
        fitting(one.volume.bytes).into(),
        fitting(one.volume.packets).into(),
        fitting(one.volume.records).into(),
    ];
    let bounds = std::iter::repeat_n(Value::from(bound), 6);
    let values: Vec<Value> = values.into_iter().chain(bounds).collect();
    database.execute(&insert, &values).map(|_| ())
}

/// What is stored and what is added, up to a bound that two parameters have.
fn bounded_sum(table: &str, column: &str, parameter: usize) -> String {
    let sum = format!("{table}.{column} + excluded.{column}");
    let next = parameter + 1;
    format!("CASE WHEN {sum} > ${parameter} THEN ${next} ELSE {sum} END")
}

fn add_router(database: &mut Database, hour: &RouterHour) -> Result<(), StoreError> {
    let sums = COUNTS.map(|name| match name {
        // A collector that is started again within an interval counts it twice.
        "covered" => format!(
            "covered = CASE WHEN flow_routers.covered + excluded.covered > {HOUR} THEN {HOUR} \
             ELSE flow_routers.covered + excluded.covered END"
        ),
        name => format!("{name} = flow_routers.{name} + excluded.{name}"),
    });
    let insert = format!(
        "INSERT INTO flow_routers (at, router, {}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
         ON CONFLICT (at, router) DO UPDATE SET {}",
        COUNTS.join(", "),
        sums.join(", ")
    );
    let key: [Value; 2] = [second(hour_of(hour.at)).into(), hour.router.as_str().into()];
    let values = key.into_iter().chain(counts(hour).map(Value::from));
    let values: Vec<Value> = values.collect();
    database.execute(&insert, &values).map(|_| ())
}

fn read_border(step: u64, covered: Vec<Row>, sums: Vec<Row>) -> Option<Border> {
    let mut border = Border {
        step,
        ..Border::default()
    };
    for mut row in covered {
        let at = time(row.int()?);
        border.covered.insert(at, row.int()?.unsigned_abs());
    }
    for mut row in sums {
        let at = time(row.int()?);
        let key = (way(&mut row)?, row.text()?);
        let volumes = border.volumes.entry(key).or_default();
        volumes.insert(at, volume(&mut row)?);
    }
    Some(border)
}

fn way(row: &mut Row) -> Option<Crossing> {
    let number = usize::try_from(row.int()?).ok()?;
    Crossing::ALL.get(number).copied()
}

fn volume(row: &mut Row) -> Option<Volume> {
    Some(Volume {
        bytes: row.int()?.unsigned_abs(),
        packets: row.int()?.unsigned_abs(),
        records: row.int()?.unsigned_abs(),
    })
}

fn traffic(mut row: Row) -> Option<Traffic> {
    Some(Traffic {
        at: time(row.int()?),
        seconds: row.int()?.unsigned_abs(),
        router: row.text()?,
        way: way(&mut row)?,
        application: row.text()?,
        volume: volume(&mut row)?,
    })
}

fn router(mut row: Row) -> Option<RouterHour> {
    Some(RouterHour {
        at: time(row.int()?),
        router: row.text()?,
        covered: row.int()?.unsigned_abs(),
        datagrams: row.int()?.unsigned_abs(),
        repeated: row.int()?.unsigned_abs(),
        unreadable: row.int()?.unsigned_abs(),
        waiting: row.int()?.unsigned_abs(),
        received: row.int()?.unsigned_abs(),
        lost: row.int()?,
    })
}
