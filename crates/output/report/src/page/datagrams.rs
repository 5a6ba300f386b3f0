//! The page of datagrams at a steady rate.

use record::datagrams::{DatagramWay, RateSearch, TryPurpose};
use record::{Datagrams, Direction};

use crate::text::{self, datagrams as say};
use draw::chart::{Chart, Curves, Line, Origin, Scale};
use draw::format::{self, ABSENT, RateUnit, or_absent};
use draw::page::{Block, Column, Page, Row, Standing, Table};

/// A browser folds away the table of more streams than this.
const STREAMS_OPEN: usize = 16;

pub fn page(body: &Datagrams) -> Page {
    let mut blocks = vec![Block::Table(ways(body)), Block::Why(say::sentences(body))];
    blocks.extend(body.search.iter().flat_map(tries));
    for way in &body.ways {
        blocks.extend(streams(body, way));
        blocks.extend(over_time(way));
    }
    blocks.push(Block::note(LEGEND));
    Page::new("datagrams", &body.target.name, blocks).subtitled(subtitle(body))
}

const LEGEND: &str = "sent, arrived: data of the datagrams per time, without headers. lost: share \
    of those sent, and how many. in hosts: of those lost, dropped by the receiving host, whose \
    buffer was full. jitter: how much the delay varies from one to the next (RFC 3550). late: \
    behind one that was sent later. twice: arrived once more.";

fn subtitle(body: &Datagrams) -> String {
    let asked = match (body.asked, &body.search) {
        (Some(rate), _) => format!("datagrams at {}", rate.human()),
        (None, _) => "datagrams as fast as they go".to_owned(),
    };
    let streams = match body.streams {
        1 => String::new(),
        streams => format!(", {streams} streams"),
    };
    let way = match body.direction {
        Direction::Forward => String::new(),
        way => format!(", {}", text::direction(way)),
    };
    format!("{asked} of {}B{streams}{way}", body.size.get())
}

/// All streams of each direction together.
fn ways(body: &Datagrams) -> Table {
    let fastest = body.ways.iter().map(|way| way.sent_bits_per_second).max();
    let unit = RateUnit::fitting(fastest.unwrap_or(0) as f64);
    let numbers = [
        "arrived",
        "lost",
        "",
        "in hosts",
        "jitter ms",
        "late",
        "twice",
    ];
    let sent = Column::number(format!("{} sent", unit.name));
    let columns = [Column::words(""), sent].into_iter();
    let columns = columns.chain(numbers.map(Column::number));
    let row = |way: &DatagramWay| {
        let in_hosts = way.lost.saturating_sub(way.lost_on_path);
        Row::new([
            way.way.name().to_owned(),
            unit.number(way.sent_bits_per_second as f64),
            unit.number(way.goodput_bits_per_second as f64),
            format::percent(way.loss_ratio),
            way.lost.to_string(),
            in_hosts.to_string(),
            jitter(way.jitter_seconds),
            or_absent(way.reordered, |count| count.to_string()),
            or_absent(way.duplicates, |count| count.to_string()),
        ])
    };
    Table::new(columns, body.ways.iter().map(row))
}

/// Milliseconds, of which a LAN has few thousandths.
fn jitter(seconds: f64) -> String {
    match seconds < 1e-3 {
        true => format!("{:.3}", seconds * 1e3),
        false => format::milliseconds(seconds),
    }
}

/// What the search tried.
fn tries(search: &RateSearch) -> [Block; 2] {
    let columns = ["rate", "sent", "arrived", "lost"].map(Column::number);
    let columns = columns.into_iter().chain([Column::text("")]);
    let last = search.tries.len().saturating_sub(1);
    let rows = search.tries.iter().enumerate().map(|(at, one)| {
        let found = at == last && search.found_bits_per_second.is_some();
        let what = match (one.purpose, one.carried) {
            (TryPurpose::Confirm, true) => "confirmed at full length",
            (TryPurpose::Confirm, false) => "not carried at full length",
            (_, true) => "carried",
            (_, false) if one.loss_ratio <= search.loss_max_ratio => {
                "too fast: a queue was filling"
            }
            (_, false) => "too fast",
        };
        let rate = |rate: units::Rate| format::rate(rate.bits_per_second());
        Row::new([
            rate(one.asked),
            rate(one.sent),
            rate(one.goodput),
            format::percent(one.loss_ratio),
            what.to_owned(),
        ])
        .standing(Standing::chosen(found))
    });
    [
        Block::heading("What was tried"),
        Block::Table(Table::new(columns, rows).marked()),
    ]
}

/// A table of several streams.
fn streams(body: &Datagrams, way: &DatagramWay) -> Option<Block> {
    let names = ["stream", "sent", "arrived", "lost", "", "jitter ms"];
    let columns = names.map(Column::number);
    let rows = (1..).zip(&way.streams).map(|(number, one): (u32, _)| {
        let lost = one.lost as f64 / one.sent.max(1) as f64;
        Row::new([
            number.to_string(),
            format::rate(one.rate_sent().bits_per_second()),
            format::rate(one.goodput().bits_per_second()),
            format::percent(lost),
            one.lost.to_string(),
            jitter(one.jitter.as_secs_f64()),
        ])
    });
    let rows: Vec<Row> = rows.collect();
    let title = match body.ways.len() {
        1 => "Streams".to_owned(),
        _ => format!("Streams {}", way.way.name()),
    };
    let count = rows.len();
    let table = Table::new(columns, rows).shortened(12, |shown| {
        let others = format!("{} others", count - shown);
        let mut cells = vec![others.into()];
        cells.extend((1..names.len()).map(|_| ABSENT.into()));
        cells
    });
    let details = Block::details(&title, count, STREAMS_OPEN, vec![Block::Table(table)]);
    (count > 1).then_some(details)
}

/// What arrived in each tenth of a second, where the receiver tells.
fn over_time(way: &DatagramWay) -> Option<Block> {
    let length = way.streams.iter().map(|one| one.rates.len()).max()?;
    let sum = |place: usize| -> f64 {
        let rates = way.streams.iter().filter_map(|one| one.rates.get(place));
        rates.map(|rate| rate.as_f64()).sum()
    };
    let points: Vec<(f64, f64)> = (0..length)
        .map(|place| ((place + 1) as f64 / 10.0, sum(place) / 1e6))
        .collect();
    let name = way.way.name();
    let line = Line::new("arrived", Origin::Runs, points);
    let curves = Curves {
        x: Scale::even("time [s]"),
        y: Scale::even("arrived [Mbit/s]"),
        lines: vec![line],
    };
    let chart: Chart = curves.shown().chart();
    (length > 1).then(|| {
        Block::figure(
            format!("datagrams-{name}"),
            "Data that arrived in each tenth of a second.",
            chart,
        )
    })
}
