//! The tables and their versions, for both databases.
//!
//! In a step, `{int}`, `{text}` and `{bytes}` stand for the types, `{number}` for a key
//! that the database counts, and `{clustered}` for rows that lie in the order of their key, which
//! SQLite alone has.

use crate::StoreError;

/// One step for each version: the first makes the tables, each later one changes what is there.
/// A step that has been published is never edited.
const STEPS: [&str; 7] = [FIRST, DETECTORS, NOTES, ONE_WAY, PINGS, FLOWS, SLOPES];

/// The version that this trunkline writes.
pub(crate) const VERSION: i64 = STEPS.len() as i64;

/// Times are seconds since 1970, round trips nanoseconds, rates bits per second, shares billionths.
///
/// * `texts`: texts that repeat, as JSON: routes, far hosts, limits, reasons of failures. `digest`
///   is the beginning of BLAKE3.
/// * `series`: a pair and a task, and what the grid shows of it, so that the grid reads one table.
///   `shown`: 95th percentile of goodput over 30 days.
/// * `visits.content`: beginning of BLAKE3 of the visit's JSON. `rtt_high`: 95th percentile.
/// * `visits.parts`: 1 where it came with raw values, 2 with a document, 3 with both.
/// * `raw`, `documents`: in the order of time, so that retention removes one end.
/// * `stale`: days whose roll-ups wait to be computed.
/// * `roll_ups.level`: 0 hour, 1 day, 2 month. `low`, `high`: 5th and 95th percentile.
const FIRST: &str = "
CREATE TABLE texts (
    id {number}, digest {bytes} NOT NULL UNIQUE, json {text} NOT NULL
){strict};
CREATE TABLE series (
    id {number},
    task {text} NOT NULL, from_host {text} NOT NULL, to_host {text} NOT NULL,
    latest_at {int}, latest_id {bytes}, goodput {int}, rtt_min {int}, rtt_median {int},
    sent {int}, lost {int}, failure {int} REFERENCES texts (id),
    shown {int},
    UNIQUE (task, from_host, to_host)
){strict};
CREATE TABLE visits (
    id {bytes} NOT NULL UNIQUE,
    content {int} NOT NULL,
    series {int} NOT NULL REFERENCES series (id),
    at {int} NOT NULL,
    kind {int} NOT NULL,
    parts {int} NOT NULL,
    goodput {int}, resent {int},
    rtt_min {int}, rtt_median {int}, rtt_high {int}, rtt_max {int},
    loaded {int}, sent {int}, lost {int}, duplicated {int}, reordered {int},
    route {int} REFERENCES texts (id), limited {int} REFERENCES texts (id),
    far_host {int} REFERENCES texts (id),
    stolen {int}, failure {int} REFERENCES texts (id),
    PRIMARY KEY (series, at, id)
){clustered};
CREATE TABLE raw (
    at {int} NOT NULL, id {bytes} NOT NULL, packed {bytes} NOT NULL,
    PRIMARY KEY (at, id)
){clustered};
CREATE TABLE documents (
    at {int} NOT NULL, id {bytes} NOT NULL, zstd {bytes} NOT NULL,
    PRIMARY KEY (at, id)
){strict};
CREATE TABLE stale (
    series {int} NOT NULL REFERENCES series (id), day {int} NOT NULL,
    PRIMARY KEY (series, day)
){clustered};
CREATE TABLE roll_ups (
    level {int} NOT NULL, series {int} NOT NULL REFERENCES series (id), start {int} NOT NULL,
    visits {int} NOT NULL, failed {int} NOT NULL, unreachable {int} NOT NULL,
    sent {int} NOT NULL, lost {int} NOT NULL,
    goodputs {int} NOT NULL,
    goodput_min {int}, goodput_low {int}, goodput_median {int}, goodput_high {int},
    goodput_max {int},
    trips {int} NOT NULL,
    rtt_min {int}, rtt_low {int}, rtt_median {int}, rtt_high {int}, rtt_max {int},
    PRIMARY KEY (level, series, start)
){clustered};
CREATE TABLE events (
    series {int} NOT NULL REFERENCES series (id), id {int} NOT NULL, revision {int} NOT NULL,
    first_visit {int} NOT NULL, json {text} NOT NULL,
    PRIMARY KEY (series, id)
){clustered};
CREATE INDEX events_by_time ON events (first_visit);
";

/// `through`: the time of the last visit that the detector has seen. `zstd`: its JSON.
const DETECTORS: &str = "
CREATE TABLE detectors (
    series {int} PRIMARY KEY REFERENCES series (id), through {int} NOT NULL, zstd {bytes} NOT NULL
){strict};
";

/// * `events.is_over`: 1 where the event is over; 0 also where it was over when this column came.
/// * `notes.kind`: 0 a note, 1 acknowledged, 2 not acknowledged any more.
const NOTES: &str = "
ALTER TABLE events ADD COLUMN is_over {int} NOT NULL DEFAULT 0;
CREATE INDEX events_open ON events (first_visit) WHERE is_over = 0;
CREATE TABLE notes (
    id {number},
    series {int} NOT NULL REFERENCES series (id), event {int} NOT NULL,
    at {int} NOT NULL, kind {int} NOT NULL, author {text} NOT NULL, words {text} NOT NULL
){strict};
CREATE INDEX notes_by_event ON notes (series, event);
";

/// `jitter`: in nanoseconds. `one_way`: delays each way, as JSON.
const ONE_WAY: &str = "
ALTER TABLE visits ADD COLUMN jitter {int};
ALTER TABLE visits ADD COLUMN one_way {text};
";

/// * `visits.rtt_mean`, `ipdv`: in nanoseconds; with `lost_followed` and `lost_again` what only the
///   order of the probes shows. Visits before this step do not have it.
/// * `roll_ups.lossless`: visits of which every probe was answered; `unanswered`: probes of visits
///   without an answer; `unpredictable`: billionths. Roll-ups before this step have no `probed`;
///   [`MARK_MONTHS`] has their months computed anew.
const PINGS: &str = "
ALTER TABLE visits ADD COLUMN rtt_mean {int};
ALTER TABLE visits ADD COLUMN ipdv {int};
ALTER TABLE visits ADD COLUMN lost_followed {int};
ALTER TABLE visits ADD COLUMN lost_again {int};
ALTER TABLE roll_ups ADD COLUMN probed {int};
ALTER TABLE roll_ups ADD COLUMN lossless {int};
ALTER TABLE roll_ups ADD COLUMN unanswered {int};
ALTER TABLE roll_ups ADD COLUMN duplicated {int};
ALTER TABLE roll_ups ADD COLUMN reordered {int};
ALTER TABLE roll_ups ADD COLUMN lost_followed {int};
ALTER TABLE roll_ups ADD COLUMN lost_again {int};
ALTER TABLE roll_ups ADD COLUMN rtt_mean {int};
ALTER TABLE roll_ups ADD COLUMN ipdv {int};
ALTER TABLE roll_ups ADD COLUMN unpredictable {int};
";

/// What routers told of traffic, by the interval of the plan (`seconds`) and by hour.
///
/// * `way`: 0 in, 1 out, 2 within, 3 through.
/// * `flow_routers`: how the records of a router came in an hour; `covered`: seconds that have any.
const FLOWS: &str = "
CREATE TABLE flows (
    at {int} NOT NULL, seconds {int} NOT NULL, router {text} NOT NULL, way {int} NOT NULL,
    application {text} NOT NULL,
    bytes {int} NOT NULL, packets {int} NOT NULL, records {int} NOT NULL,
    PRIMARY KEY (at, seconds, router, way, application)
){clustered};
CREATE TABLE flow_hours (
    at {int} NOT NULL, seconds {int} NOT NULL, router {text} NOT NULL, way {int} NOT NULL,
    application {text} NOT NULL,
    bytes {int} NOT NULL, packets {int} NOT NULL, records {int} NOT NULL,
    PRIMARY KEY (at, seconds, router, way, application)
){clustered};
CREATE TABLE flow_routers (
    at {int} NOT NULL, router {text} NOT NULL, covered {int} NOT NULL,
    datagrams {int} NOT NULL, repeated {int} NOT NULL, unreadable {int} NOT NULL,
    waiting {int} NOT NULL, received {int} NOT NULL, lost {int} NOT NULL,
    PRIMARY KEY (at, router)
){clustered};
";

/// Of visits:
///
/// * `losses`: loss periods and distances of the probes, as JSON.
/// * `slope`, `slope_low`, `slope_high`: the rate of round trips over sizes and its interval;
///   `no_slope`: why there is none, as JSON. `roll_ups.slope`: median of `slope_low`.
const SLOPES: &str = "
ALTER TABLE visits ADD COLUMN losses {text};
ALTER TABLE visits ADD COLUMN slope {int};
ALTER TABLE visits ADD COLUMN slope_low {int};
ALTER TABLE visits ADD COLUMN slope_high {int};
ALTER TABLE visits ADD COLUMN no_slope {text};
ALTER TABLE roll_ups ADD COLUMN slope {int};
";

/// Marks the first day of each month that a trunkline before [`PINGS`] summed up. It is no part of
/// the step: an older collector that still has the database would compute these days as it always
/// did.
pub(crate) const MARK_MONTHS: &str = "INSERT INTO stale (series, day) \
     SELECT m.series, min(d.start) / 86400 FROM roll_ups AS m JOIN roll_ups AS d \
     ON d.level = 1 AND d.series = m.series AND d.start >= m.start \
     AND d.start < m.start + 2678400 \
     WHERE m.level = 2 AND m.probed IS NULL GROUP BY m.series, m.start \
     ON CONFLICT DO NOTHING";

/// The steps that a database of version `found` lacks.
pub(crate) fn steps_after(found: i64) -> impl Iterator<Item = &'static str> {
    let done = usize::try_from(found).unwrap_or(STEPS.len());
    STEPS.into_iter().skip(done)
}

/// The version, where this trunkline knows it.
pub(crate) fn known(name: String, found: i64) -> Result<i64, StoreError> {
    match found > VERSION {
        true => Err(StoreError::Newer {
            name,
            found,
            known: VERSION,
        }),
        false => Ok(found),
    }
}

/// That a database which is only read has the tables of this trunkline.
pub(crate) fn current(name: String, found: i64) -> Result<(), StoreError> {
    match known(name.clone(), found)? {
        0 => Err(StoreError::Missing { name }),
        VERSION => Ok(()),
        found => Err(StoreError::Older {
            name,
            found,
            known: VERSION,
        }),
    }
}

/// A step as SQLite takes it.
pub(crate) fn sqlite(step: &str) -> String {
    let words = ["INTEGER", "TEXT", "BLOB", "INTEGER PRIMARY KEY"];
    dialect(step, words, " STRICT", " STRICT, WITHOUT ROWID")
}

/// A step as PostgreSQL takes it.
pub(crate) fn postgres(step: &str) -> String {
    let number = "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY";
    let words = ["BIGINT", "TEXT", "BYTEA", number];
    dialect(step, words, "", "")
}

fn dialect(step: &str, words: [&str; 4], strict: &str, clustered: &str) -> String {
    let places = ["{int}", "{text}", "{bytes}", "{number}"];
    let typed = places.iter().zip(words);
    let typed = typed.fold(step.to_owned(), |step, (place, word)| {
        step.replace(place, word)
    });
    typed
        .replace("{strict}", strict)
        .replace("{clustered}", clustered)
}
