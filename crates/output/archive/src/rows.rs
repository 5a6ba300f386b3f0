//! Between figures and rows: the one place that knows the order of the columns.

use rusqlite::types::{FromSql, Type};
use rusqlite::{Connection, Row, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use units::{Bytes, Rate};

use super::essence::Tried;
use super::{Entry, Essence, Outcome, Point};
use record::{Interval, Target, Window};

/// What describes a document, before the columns that it shares with samples.
const DESCRIPTION: &str = "schema, created, trunkline_version, host, kernel, target, target_kind, \
     path_digest, objective, cut_because";

/// What documents and samples share.
const OUTCOME: &str = "transport, streams, window_bytes, direction, congestion, \
     pacing_bits_per_second, \
     mss_bytes, goodput_bits_per_second, goodput_low_bits_per_second, \
     goodput_high_bits_per_second, goodput_confidence, goodput_degrees, rtt_unloaded_seconds, \
     rtt_loaded_seconds, retransmitted_ratio, limited_by";

/// The columns that [`entry`] reads.
pub(super) fn entry_columns() -> String {
    format!("id, {DESCRIPTION}, {OUTCOME}")
}

/// Writes a document and gives its number.
pub(super) fn insert_document(
    connection: &Connection,
    essence: &Essence,
    packed: &[u8],
) -> rusqlite::Result<i64> {
    let statement = format!(
        "INSERT INTO documents ({OUTCOME}, {DESCRIPTION}, document_zlib) VALUES \
         (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, \
          ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27)"
    );
    let mut statement = connection.prepare(&statement)?;
    bind_outcome(&mut statement, 1, &essence.outcome)?;
    statement.raw_bind_parameter(17, word(&essence.schema))?;
    statement.raw_bind_parameter(18, &essence.created)?;
    statement.raw_bind_parameter(19, &essence.trunkline_version)?;
    statement.raw_bind_parameter(20, &essence.host)?;
    statement.raw_bind_parameter(21, &essence.kernel)?;
    statement.raw_bind_parameter(22, &essence.target.name)?;
    statement.raw_bind_parameter(23, word(&essence.target.kind))?;
    statement.raw_bind_parameter(24, &essence.target.path_digest)?;
    statement.raw_bind_parameter(25, &essence.objective)?;
    statement.raw_bind_parameter(26, &essence.cut_because)?;
    statement.raw_bind_parameter(27, packed)?;
    statement.raw_execute()?;
    Ok(connection.last_insert_rowid())
}

/// Writes one row of what was tried.
pub(super) fn insert_sample(
    connection: &Connection,
    document: i64,
    number: i64,
    sample: &Tried,
) -> rusqlite::Result<()> {
    let statement = format!(
        "INSERT INTO samples (document, number, purpose, {OUTCOME}) VALUES \
         (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)"
    );
    let mut statement = connection.prepare(&statement)?;
    statement.raw_bind_parameter(1, document)?;
    statement.raw_bind_parameter(2, number)?;
    statement.raw_bind_parameter(3, &sample.purpose)?;
    bind_outcome(&mut statement, 4, &sample.outcome)?;
    statement.raw_execute().map(drop)
}

/// Binds the columns of [`OUTCOME`] to parameters from `first` on.
fn bind_outcome(
    statement: &mut rusqlite::Statement<'_>,
    first: usize,
    outcome: &Outcome,
) -> rusqlite::Result<()> {
    let point = &outcome.setting;
    let interval = outcome.interval;
    let numbers = params![
        word(&point.transport),
        point.streams,
        window(point.window),
        word(&point.direction),
        point.congestion,
        point.pacing.map(|rate| whole(rate.bits_per_second())),
        point.mss,
        whole(outcome.goodput_bits_per_second),
        interval.map(|interval| whole(interval.low.bits_per_second())),
        interval.map(|interval| whole(interval.high.bits_per_second())),
        interval.map(|interval| interval.confidence),
        outcome.degrees_of_freedom,
        outcome.rtt_unloaded_seconds,
        outcome.rtt_loaded_seconds,
        outcome.retransmitted_ratio,
        outcome.limit,
    ];
    let mut numbered = (first..).zip(numbers);
    numbered.try_for_each(|(index, value)| statement.raw_bind_parameter(index, value))
}

/// SQLite's numbers have a sign; no count of bytes or bits comes near the bound.
fn whole(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn window(window: Window) -> Option<i64> {
    window.fixed().map(|bytes| whole(bytes.get()))
}

/// A value that is one word in JSON, as that word.
pub(super) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        other => unreachable!("only words come here, not {other:?}"),
    }
}

/// Columns one after another.
struct Columns<'a> {
    row: &'a Row<'a>,
    next: usize,
}

impl Columns<'_> {
    fn take<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        let index = self.next;
        self.next += 1;
        self.row.get(index)
    }

    fn count(&mut self) -> rusqlite::Result<Option<u64>> {
        let value: Option<i64> = self.take()?;
        Ok(value.and_then(|value| u64::try_from(value).ok()))
    }

    /// A word of one of our enumerations.
    fn word<T: DeserializeOwned>(&mut self) -> rusqlite::Result<T> {
        let index = self.next;
        let text: String = self.take()?;
        serde_json::from_value(Value::String(text)).map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(error))
        })
    }
}

/// Reads a row of [`entry_columns`].
pub(super) fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let mut columns = Columns { row, next: 0 };
    Ok(Entry {
        id: columns.take()?,
        essence: Essence {
            schema: columns.word()?,
            created: columns.take()?,
            trunkline_version: columns.take()?,
            host: columns.take()?,
            kernel: columns.take()?,
            target: Target {
                name: columns.take()?,
                kind: columns.word()?,
                limits: None,
                path_digest: columns.take()?,
                punctuality: None,
            },
            objective: columns.take()?,
            cut_because: columns.take()?,
            outcome: outcome(&mut columns)?,
            samples: Vec::new(),
        },
    })
}

fn outcome(columns: &mut Columns<'_>) -> rusqlite::Result<Outcome> {
    Ok(Outcome {
        setting: Point {
            transport: columns.word()?,
            streams: columns.take()?,
            window: columns.count()?.map(Bytes::new).into(),
            direction: columns.word()?,
            congestion: columns.take()?,
            pacing: columns.count()?.map(Rate::from_bits_per_second),
            mss: columns.take()?,
        },
        goodput_bits_per_second: columns.count()?.unwrap_or(0),
        interval: interval(columns)?,
        degrees_of_freedom: columns.take()?,
        rtt_unloaded_seconds: columns.take()?,
        rtt_loaded_seconds: columns.take()?,
        retransmitted_ratio: columns.take()?,
        limit: columns.take()?,
    })
}

fn interval(columns: &mut Columns<'_>) -> rusqlite::Result<Option<Interval>> {
    let (low, high) = (columns.count()?, columns.count()?);
    let confidence: Option<f64> = columns.take()?;
    let ends = low.zip(high).zip(confidence);
    Ok(ends.map(|((low, high), confidence)| Interval {
        low: Rate::from_bits_per_second(low),
        high: Rate::from_bits_per_second(high),
        confidence,
    }))
}

/// The rows of what was tried in one document, in order.
pub(super) fn samples(connection: &Connection, document: i64) -> rusqlite::Result<Vec<Tried>> {
    let statement =
        format!("SELECT purpose, {OUTCOME} FROM samples WHERE document = ?1 ORDER BY number");
    let mut statement = connection.prepare(&statement)?;
    let tried = |row: &Row<'_>| {
        let mut columns = Columns { row, next: 0 };
        Ok(Tried {
            purpose: columns.take()?,
            outcome: outcome(&mut columns)?,
        })
    };
    statement.query_map([document], tried)?.collect()
}
