//! The columns of each table, and where their values come from.

use changes::{Delay, End, Event, Moved, Severity, SlowestLink, WayDelay};
use jiff::Timestamp;
use units::Span;

use super::Table;
use crate::rows::{self, second};
use crate::{Kept, LoadedVisit, StoredEvent, StoredVisit};

/// Seconds of one rate.
const RATE_SECONDS: f64 = 0.1;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Words.
    Text,
    /// A whole number, not below 0.
    Whole,
    /// A number with a fraction.
    Real,
    /// A moment.
    Time,
}

/// A column; names are those of documents.
#[derive(Debug)]
pub struct Column {
    /// Its name, which ends with the unit.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
}

/// A value, of the kind of its column.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Not known.
    Nothing,
    /// Words.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// A number with a fraction.
    Real(f64),
    /// Seconds since 1970.
    Time(i64),
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Nothing, Into::into)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<f64> for Cell {
    fn from(real: f64) -> Cell {
        Cell::Real(real)
    }
}

impl From<u32> for Cell {
    fn from(whole: u32) -> Cell {
        Cell::Whole(whole.into())
    }
}

impl From<u64> for Cell {
    /// Numbers that the database stores fit.
    fn from(whole: u64) -> Cell {
        Cell::Whole(i64::try_from(whole).unwrap_or(i64::MAX))
    }
}

impl From<changes::UnixTime> for Cell {
    fn from(time: changes::UnixTime) -> Cell {
        Cell::Time(second(time))
    }
}

/// A time as RFC 3339 in UTC; every stored visit has one.
pub(super) fn written(time: i64) -> String {
    Timestamp::from_second(time).map_or_else(|_| time.to_string(), |time| time.to_string())
}

pub(super) const fn column(name: &'static str, kind: Kind) -> Column {
    Column { name, kind }
}

/// In the order of [`of_visit`] and [`of_event`].
pub(super) fn columns(table: Table) -> &'static [Column] {
    match table {
        Table::Visits => VISITS,
        Table::RoundTrips => ROUND_TRIPS,
        Table::Rates => RATES,
        Table::Events => EVENTS,
        Table::Incidents => INCIDENTS,
        Table::Months => super::months::COLUMNS,
        Table::Flows => super::flows::COLUMNS,
    }
}

const VISITS: &[Column] = &[
    column("visit", Kind::Text),
    column("from_host", Kind::Text),
    column("to_host", Kind::Text),
    column("task", Kind::Text),
    column("began", Kind::Time),
    column("kind", Kind::Text),
    column("goodput_bits_per_second", Kind::Whole),
    column("resent_ratio", Kind::Real),
    column("rtt_min_seconds", Kind::Real),
    column("rtt_median_seconds", Kind::Real),
    column("rtt_p95_seconds", Kind::Real),
    column("rtt_max_seconds", Kind::Real),
    column("loaded_rtt_seconds", Kind::Real),
    column("probes_sent", Kind::Whole),
    column("probes_lost", Kind::Whole),
    column("probes_duplicated", Kind::Whole),
    column("probes_reordered", Kind::Whole),
    column("rtt_mean_seconds", Kind::Real),
    column("ipdv_seconds", Kind::Real),
    column("probes_lost_followed", Kind::Whole),
    column("probes_lost_again", Kind::Whole),
    column("loss_periods", Kind::Text),
    column("loss_distances", Kind::Text),
    column("slope_bits_per_second", Kind::Whole),
    column("slope_low_bits_per_second", Kind::Whole),
    column("slope_high_bits_per_second", Kind::Whole),
    column("slope_unknown", Kind::Text),
    column("jitter_seconds", Kind::Real),
    column("forward_delay_seconds", Kind::Real),
    column("forward_delay_unknown", Kind::Text),
    column("forward_variation_seconds", Kind::Real),
    column("forward_loss_ratio", Kind::Real),
    column("reverse_delay_seconds", Kind::Real),
    column("reverse_delay_unknown", Kind::Text),
    column("reverse_variation_seconds", Kind::Real),
    column("reverse_loss_ratio", Kind::Real),
    column("clock_error_seconds", Kind::Real),
    column("stolen_ratio", Kind::Real),
    column("limit", Kind::Text),
    column("route", Kind::Text),
    column("hops", Kind::Text),
    column("far_kernel", Kind::Text),
    column("failure", Kind::Text),
    column("raw_values", Kind::Text),
];

const ROUND_TRIPS: &[Column] = &[
    column("visit", Kind::Text),
    column("from_host", Kind::Text),
    column("to_host", Kind::Text),
    column("task", Kind::Text),
    column("began", Kind::Time),
    column("rank", Kind::Whole),
    column("round_trip_seconds", Kind::Real),
];

const RATES: &[Column] = &[
    column("visit", Kind::Text),
    column("from_host", Kind::Text),
    column("to_host", Kind::Text),
    column("task", Kind::Text),
    column("began", Kind::Time),
    column("offset_seconds", Kind::Real),
    column("rate_bits_per_second", Kind::Whole),
];

const EVENTS: &[Column] = &[
    column("event", Kind::Whole),
    column("from_host", Kind::Text),
    column("to_host", Kind::Text),
    column("task", Kind::Text),
    column("first_visit", Kind::Time),
    column("confirmed", Kind::Time),
    column("recovered", Kind::Time),
    column("end", Kind::Text),
    column("incident", Kind::Text),
    column("severity", Kind::Text),
    column("kind", Kind::Text),
    column("metric", Kind::Text),
    column("before", Kind::Real),
    column("after", Kind::Real),
    column("size", Kind::Real),
    column("size_low", Kind::Real),
    column("size_high", Kind::Real),
    column("strength", Kind::Real),
    column("further_metrics", Kind::Text),
    column("cause", Kind::Text),
    column("cause_score", Kind::Real),
    column("because", Kind::Text),
    column("further_causes", Kind::Text),
    column("failures", Kind::Text),
];

/// In the order of the rows of `incidents.rs`.
const INCIDENTS: &[Column] = &[
    column("incident", Kind::Text),
    column("severity", Kind::Text),
    column("first_visit", Kind::Time),
    column("recovered", Kind::Time),
    column("pairs", Kind::Whole),
    column("events", Kind::Whole),
    column("silent_hosts", Kind::Text),
    column("from_host", Kind::Text),
    column("to_host", Kind::Text),
    column("task", Kind::Text),
    column("event", Kind::Whole),
    column("kind", Kind::Text),
    column("metric", Kind::Text),
    column("before", Kind::Real),
    column("after", Kind::Real),
    column("size", Kind::Real),
    column("size_low", Kind::Real),
    column("size_high", Kind::Real),
    column("strength", Kind::Real),
    column("cause", Kind::Text),
    column("because", Kind::Text),
    column("acknowledged", Kind::Time),
    column("acknowledged_by", Kind::Text),
    column("notes", Kind::Text),
];

/// The rows of a visit in a table of visits or of raw values.
pub(super) fn of_visit(table: Table, loaded: &LoadedVisit) -> Vec<Vec<Cell>> {
    let stored = &loaded.stored;
    match (table, loaded.kept) {
        (Table::Visits, _) => vec![figures(loaded)],
        // What is left are four figures, which are no raw values.
        (Table::RoundTrips, Kept::Whole) => round_trips(stored),
        (Table::Rates, _) => rates(stored),
        (Table::RoundTrips, Kept::Figures) => Vec::new(),
        (Table::Events | Table::Incidents | Table::Months | Table::Flows, _) => Vec::new(),
    }
}

/// Identity, pair, task and time.
fn key(stored: &StoredVisit) -> Vec<Cell> {
    vec![
        stored.id.to_string().into(),
        stored.pair.from.as_str().into(),
        stored.pair.to.as_str().into(),
        stored.task.as_str().into(),
        stored.visit.at.into(),
    ]
}

fn figures(loaded: &LoadedVisit) -> Vec<Cell> {
    let visit = &loaded.stored.visit;
    let mut row = key(&loaded.stored);
    row.push(visit.kind.name().into());
    row.push(visit.goodput.map(|rate| rate.bits_per_second()).into());
    row.push(visit.resent.map(f64::from).into());
    row.extend(quantiles(loaded));
    row.push(visit.loaded.map(|trip| trip.as_secs_f64()).into());
    let probes = visit
        .probes
        .map(|p| [p.sent, p.lost, p.duplicated, p.reordered]);
    row.extend((0..4).map(|place| Cell::from(probes.map(|probes| probes[place]))));
    let order = visit.sequence.as_ref();
    row.push(seconds(order.and_then(|order| order.mean)));
    row.push(seconds(order.and_then(|order| order.variation)));
    row.push(order.map(|order| order.lost_followed).into());
    row.push(order.map(|order| order.lost_again).into());
    let losses = visit.losses.as_ref();
    row.push(losses.map(|losses| numbers(&losses.periods)).into());
    row.push(losses.map(|losses| numbers(&losses.distances)).into());
    row.extend(slope(visit.slowest_link));
    row.push(seconds(visit.jitter));
    let one_way = visit.one_way.as_ref();
    row.extend(way(one_way.map(|both| &both.forward)));
    row.extend(way(one_way.map(|both| &both.reverse)));
    row.push(seconds(one_way.and_then(|both| both.clock_error)));
    row.push(visit.stolen.map(f64::from).into());
    row.push(visit.limit.map(|limit| limit.name()).into());
    let route = visit.route.as_ref();
    row.push(route.map(|route| format!("{:016x}", route.hash)).into());
    row.push(route.map(|route| route.hops.join(" ")).into());
    let far = visit.far_host.as_ref();
    row.push(far.and_then(|far| far.kernel.clone()).into());
    row.push(
        visit
            .failure
            .as_ref()
            .map(|failure| failure.reason.clone())
            .into(),
    );
    let kept = match loaded.kept {
        Kept::Whole => "kept",
        Kept::Figures => "expired",
    };
    row.push(kept.into());
    row
}

/// `1 3 1`.
fn numbers(all: &[u32]) -> String {
    let all: Vec<String> = all.iter().map(u32::to_string).collect();
    all.join(" ")
}

/// Rate and the ends of its interval, or why there is none.
fn slope(seen: Option<SlowestLink>) -> [Cell; 4] {
    let slope = match seen {
        Some(SlowestLink::Slope(slope)) => Some([slope.rate, slope.low, slope.high]),
        Some(SlowestLink::Unknown(_)) | None => None,
    };
    let rate = |place: usize| slope.map(|slope| slope[place].bits_per_second());
    let unknown = seen.and_then(SlowestLink::unknown);
    [
        rate(0).into(),
        rate(1).into(),
        rate(2).into(),
        unknown.map(|why| why.words()).into(),
    ]
}

/// Delay or why there is none, variation, loss.
fn way(way: Option<&WayDelay>) -> [Cell; 4] {
    let unknown = way.and_then(|way| match way.delay {
        Delay::Seconds(_) => None,
        Delay::Unknown(why) => Some(why.words()),
    });
    [
        seconds(way.and_then(|way| way.delay.known())),
        unknown.into(),
        seconds(way.and_then(|way| way.variation)),
        way.and_then(WayDelay::loss).into(),
    ]
}

pub(super) fn seconds(span: Option<Span>) -> Cell {
    span.map(|span| span.as_secs_f64()).into()
}

/// Shortest, median, 95th percentile, longest.
fn quantiles(loaded: &LoadedVisit) -> [Cell; 4] {
    let trips = loaded.stored.visit.round_trips.as_ref();
    [0, 1, 2, 3].map(|place| {
        let trip = match loaded.kept {
            Kept::Whole => trips.map(|trips| rows::quantiles(trips)[place]),
            // These four are what is left.
            Kept::Figures => trips.and_then(|trips| trips.sorted().get(place).copied()),
        };
        trip.map(|trip| trip.as_secs_f64()).into()
    })
}

fn round_trips(stored: &StoredVisit) -> Vec<Vec<Cell>> {
    let trips = stored.visit.round_trips.as_ref();
    let trips = trips.map_or(&[][..], |trips| trips.sorted());
    let row = |(rank, trip): (u64, &units::Span)| {
        let mut row = key(stored);
        row.extend([rank.into(), trip.as_secs_f64().into()]);
        row
    };
    (1..).zip(trips).map(row).collect()
}

fn rates(stored: &StoredVisit) -> Vec<Vec<Cell>> {
    let rates = stored.rates.as_deref().unwrap_or_default();
    let row = |(place, rate): (u32, &units::Rate)| {
        let mut row = key(stored);
        // Not 0.30000000000000004.
        let offset = f64::from(place) / (1.0 / RATE_SECONDS);
        row.extend([offset.into(), rate.bits_per_second().into()]);
        row
    };
    (0..).zip(rates).map(row).collect()
}

/// The row of an event: its worst shift and likeliest cause whole, the others by name.
pub(super) fn of_event(stored: &StoredEvent, incident: Option<&str>) -> Vec<Cell> {
    let event = &stored.event;
    let mut row = vec![
        event.id.into(),
        stored.pair.from.as_str().into(),
        stored.pair.to.as_str().into(),
        stored.task.as_str().into(),
        event.first_visit.into(),
        event.confirmed.into(),
        event.recovered.into(),
        end(event).into(),
        incident.into(),
        severity(event.severity(|_| false)),
        event.kind.name().into(),
    ];
    let worst = event.worst();
    row.extend(shift(worst));
    let metric = worst.map(|moved| moved.metric);
    let further = event.shifts.iter().map(|moved| moved.metric);
    let further = further.filter(|other| Some(*other) != metric);
    row.push(names(further.map(|metric| metric.name())));
    let cause = event.first_cause();
    row.push(cause.map(|cause| cause.kind.name()).into());
    row.push(cause.map(|cause| cause.score).into());
    row.push(cause.map(|cause| cause.because.clone()).into());
    row.push(names(
        event.causes.iter().skip(1).map(|cause| cause.kind.name()),
    ));
    let failures = event.failures.iter();
    let failures: Vec<String> = failures
        .map(|(why, count)| format!("{why}: {count}"))
        .collect();
    row.push(names(failures.iter().map(String::as_str)));
    row
}

/// How it ended: `over` where all is as before; `None` while it goes on.
fn end(event: &Event) -> Option<&'static str> {
    event.recovered?;
    Some(event.end.map_or("over", End::name))
}

/// A severity, or that it is for the better.
pub(super) fn severity(severity: Option<Severity>) -> Cell {
    severity.map_or("better", Severity::name).into()
}

pub(super) fn shift(moved: Option<&Moved>) -> [Cell; 7] {
    [
        moved.map(|moved| moved.metric.name()).into(),
        moved.map(|moved| moved.before).into(),
        moved.map(|moved| moved.after).into(),
        moved.map(|moved| moved.size).into(),
        moved.and_then(|moved| moved.size_low).into(),
        moved.and_then(|moved| moved.size_high).into(),
        moved.map(|moved| moved.strength).into(),
    ]
}

/// Names one after the other; nothing for none.
pub(super) fn names<'a>(all: impl Iterator<Item = &'a str>) -> Cell {
    let all: Vec<&str> = all.collect();
    (!all.is_empty()).then(|| all.join(", ")).into()
}
