//! Sweeps of several paths beside each other: one figure and one table.

use draw::chart::axis::Axis;
use draw::chart::palette::window_colour;
use draw::chart::{Axes, Chart, Entry, Layer, Mark, Shape};
use draw::format::{self, RateUnit, or_absent};
use draw::page::{Block, Column, Page, Row, Table};
use record::{Sweep, SweepAnalysis, Window};

use super::sweep::metric::{ADDED_DELAY, GOODPUT, IDLE, Metric};
use super::sweep::{Group, groups, streams_axis};
use crate::text;

/// More lines than this cannot be told apart.
const PATHS_MAX: usize = 6;

/// One path with what was found of it.
struct Path<'a> {
    name: &'a str,
    number: i64,
    groups: Vec<Group<'a>>,
}

/// Sweeps with the same settings, each with its number in the archive.
pub fn page(sweeps: &[(i64, &Sweep)]) -> Page {
    let analyses: Vec<SweepAnalysis> = sweeps.iter().map(|(_, sweep)| sweep.analysis()).collect();
    let paths = sweeps.iter().zip(&analyses);
    let paths: Vec<Path<'_>> = paths
        .map(|((number, sweep), analysis)| Path {
            name: &sweep.target.name,
            number: *number,
            groups: groups(sweep, analysis),
        })
        .collect();
    let places = paths.iter().map(|path| path.groups.len()).max();
    let mut blocks = Vec::new();
    for place in 0..places.unwrap_or_default() {
        blocks.extend(direction(&paths, place));
    }
    let numbers: Vec<String> = paths
        .iter()
        .map(|path| format!("{}: sweep {}", path.name, path.number))
        .collect();
    blocks.push(Block::Sentences(vec![format!(
        "Each path has a sweep of its own, with all settings and figures: {}.",
        numbers.join(", ")
    )]));
    let title = format!(
        "{} with the same settings",
        text::count(paths.len() as u64, "path")
    );
    Page::new("sweeps", title, blocks)
}

/// What visits that differ in streams and windows alone show of each path.
fn direction(paths: &[Path<'_>], place: usize) -> Vec<Block> {
    let known: Vec<(&Path<'_>, &Group<'_>)> = paths
        .iter()
        .filter_map(|path| Some((path, path.groups.get(place)?)))
        .filter(|(_, group)| group.count() > 0)
        .collect();
    let Some((_, first)) = known.first() else {
        return Vec::new();
    };
    let top = known.iter().map(|(_, group)| group.top(&GOODPUT));
    let unit = RateUnit::fitting(top.fold(0.0, f64::max));
    let mut blocks = Vec::new();
    if !first.name.is_empty() {
        blocks.push(Block::heading(first.name.clone()));
    }
    blocks.extend(lead(&known).map(Block::lead));
    let columns = [
        Column::name("path"),
        Column::words("best setting"),
        Column::number(unit.name),
        Column::number("IQR"),
        Column::number("idle ms"),
        Column::number("dRTT ms"),
        Column::words("recommended"),
    ];
    let rows = known.iter().map(|(path, group)| row(path, group, unit));
    blocks.push(Block::Table(Table::new(columns, rows)));
    blocks.push(Block::note(
        "Settings are streams x window. Medians over the visits of the setting with the highest \
         median goodput. IQR: between the quartiles of its goodput; idle: round trip before the \
         streams; dRTT: what they add.",
    ));
    blocks.push(Block::wide(figure(&known, unit)));
    blocks
}

/// Which path carries the most, and how sure that is.
fn lead(known: &[(&Path<'_>, &Group<'_>)]) -> Option<String> {
    let mut best: Vec<(&str, f64, (f64, f64))> = known
        .iter()
        .filter_map(|(path, group)| {
            let (streams, window, middle) = group.best()?;
            let spread = group.spread(streams, window, &GOODPUT)?;
            Some((path.name, middle, (spread.low, spread.high)))
        })
        .collect();
    best.sort_by(|a, b| b.1.total_cmp(&a.1));
    let [first, second, ..] = best.as_slice() else {
        return None;
    };
    let apart = match second.2.1 < first.2.0 {
        true => "their quartiles do not meet",
        false => "their quartiles overlap",
    };
    Some(format!(
        "{} carries the most, {}; {} follows with {}, and {apart}.",
        first.0,
        format::rate(first.1 as u64),
        second.0,
        format::rate(second.1 as u64)
    ))
}

fn row(path: &Path<'_>, group: &Group<'_>, unit: RateUnit) -> Row {
    let best = group.best_setting();
    let spread = |metric: &Metric| {
        let (streams, window) = best?;
        group.spread(streams, window, metric)
    };
    let goodput = spread(&GOODPUT);
    let milliseconds =
        |metric: &Metric| or_absent(spread(metric), |found| format::milliseconds(found.middle));
    let recommended = group.recommended();
    let setting = |setting: Option<(u16, Window)>| {
        or_absent(setting, |(streams, window)| format!("{streams} x {window}"))
    };
    Row::new([
        path.name.to_owned(),
        setting(best),
        or_absent(goodput, |found| unit.number(found.middle)),
        or_absent(goodput, |found| unit.number(found.high - found.low)),
        milliseconds(&IDLE),
        milliseconds(&ADDED_DELAY),
        setting(recommended),
    ])
}

/// Goodput and added delay against streams, a line for each path.
fn figure(known: &[(&Path<'_>, &Group<'_>)], unit: RateUnit) -> Option<Block> {
    let shown = &known[..known.len().min(PATHS_MAX)];
    let mut streams: Vec<u16> = shown
        .iter()
        .flat_map(|(_, group)| group.streams.iter().copied())
        .collect();
    streams.sort_unstable();
    streams.dedup();
    if streams.len() < 2 {
        return None;
    }
    let (axis, place) = streams_axis(&streams);
    let panel = |metric: &Metric, factor: f64, title: String, is_last: bool| {
        let layers = shown.iter().enumerate();
        let layers: Vec<Layer> = layers
            .flat_map(|(index, (_, group))| line(index, group, metric, factor, place))
            .collect();
        let tops = shown.iter().map(|(_, group)| group.top(metric) / factor);
        Axes {
            height: 420 + if is_last { 68 } else { 0 },
            x: axis.clone(),
            x_title: is_last.then(|| "streams".to_owned()),
            y: Axis::whole(0.0, tops.fold(0.0, f64::max), 4),
            y_title: title,
            layers,
        }
    };
    let panels = [
        panel(
            &GOODPUT,
            unit.factor,
            format!("goodput [{}]", unit.name),
            false,
        ),
        panel(&ADDED_DELAY, 1e-3, "dRTT [ms]".to_owned(), true),
    ];
    let entry = |(index, (path, _)): (usize, &(&Path<'_>, &Group<'_>))| {
        Entry::new(Mark::Line(window_colour(index)), path.name)
    };
    let entries = shown.iter().enumerate().map(entry).collect();
    let rest = match known.len() > shown.len() {
        true => format!(" The first {} of {} paths.", shown.len(), known.len()),
        false => String::new(),
    };
    let caption = format!(
        "Goodput and what it adds to the round trip against the number of streams, each path with \
         the window of its highest median: medians of the visits with their quartiles.{rest}"
    );
    let name = format!("paths-streams{}", known[0].1.suffix);
    Some(Block::figure(name, caption, Chart::new(entries, panels)))
}

fn line(
    index: usize,
    group: &Group<'_>,
    metric: &Metric,
    factor: f64,
    place: fn(u16) -> f64,
) -> Vec<Layer> {
    let Some((_, window)) = group.best_setting() else {
        return Vec::new();
    };
    let spreads = group.streams.iter().filter_map(|streams| {
        let spread = group.spread(*streams, window, metric)?;
        Some((place(*streams) + index as f64 * 0.01, spread))
    });
    let spreads: Vec<_> = spreads.collect();
    let middles: Vec<(f64, f64)> = spreads
        .iter()
        .map(|(x, spread)| (*x, spread.middle / factor))
        .collect();
    let whiskers = spreads.iter();
    let whiskers = whiskers.map(|(x, spread)| (*x, spread.low / factor, spread.high / factor));
    let colour = window_colour(index);
    [
        Shape::Whiskers(whiskers.collect()),
        Shape::Line(middles.clone()),
        Shape::Dots(6, middles),
    ]
    .map(|shape| Layer::new(colour, shape))
    .into()
}
