//! What the simulator carries on an inferred path, beside what was measured.

use crate::text;
use draw::chart::axis::Axis;
use draw::chart::palette::RGBColor;
use draw::chart::palette::{ACCENT, BLUE};
use draw::chart::{Axes, Chart, Entry, Layer, Mark, Shape};
use draw::format::{self, RateUnit};
use draw::page::{Block, Column, Row, Standing, Table};
use record::{Beside, BesideSetting, Setting};

/// A browser folds away a longer table.
const SETTINGS_OPEN: usize = 24;

/// A sentence and a table for each direction.
pub fn tables(beside: &[Beside]) -> Vec<Block> {
    let blocks = beside.iter().flat_map(|one| {
        let title = match one.run {
            Some(run) => format!("Run {run} beside the simulator"),
            None => "Beside the simulator".to_owned(),
        };
        let rows = one.settings.len();
        let table = vec![Block::Table(table(one))];
        [
            Block::lead(sentence(one)),
            Block::details(&title, rows, SETTINGS_OPEN, table),
        ]
    });
    blocks.collect()
}

/// The figure of a comparison: measured dots and simulated curves; `None` without any.
pub fn figure(beside: &[Beside]) -> Option<Block> {
    let all = || beside.iter().flat_map(|one| &one.settings);
    let most = all().map(|one| one.setting.streams.get()).max()?;
    let top = all().map(|one| {
        one.goodput_bits_per_second
            .max(one.simulated_bits_per_second) as f64
    });
    let top = top.fold(0.0, f64::max);
    let unit = RateUnit::fitting(top);
    let colours = [BLUE, ACCENT];
    let series = || beside.iter().zip(colours.into_iter().cycle());
    let legend = series().flat_map(|(one, colour)| {
        let name = name(one);
        [
            Entry::new(Mark::Dot(colour), format!("{name}: measured")),
            Entry::new(Mark::Dashes(colour), format!("{name}: simulated")),
        ]
    });
    let axes = Axes {
        height: 600,
        x: Axis::powers_of_two(f64::from(most)),
        x_title: Some("streams".to_owned()),
        y: Axis::whole(0.0, top / unit.factor, 5),
        y_title: format!("goodput [{}]", unit.name),
        layers: series()
            .flat_map(|(one, colour)| layers(one, colour, unit))
            .collect(),
    };
    let caption = "Goodput against the number of streams: measured, and simulated on the \
         inferred path. A dashed line joins settings that differ in their streams alone.";
    let chart = Chart::new(legend.collect(), [axes]);
    Some(Block::figure("simulated", caption.to_owned(), chart))
}

fn name(beside: &Beside) -> String {
    let way = text::direction(beside.direction);
    beside
        .run
        .map_or(way.to_owned(), |run| format!("run {run}, {way}"))
}

fn layers(beside: &Beside, colour: RGBColor, unit: RateUnit) -> Vec<Layer> {
    let place = |one: &BesideSetting, bits: u64| {
        let streams = f64::from(one.setting.streams.get()).log2();
        (streams, bits as f64 / unit.factor)
    };
    let alike = |one: &BesideSetting| Setting {
        streams: record::StreamCount::ONE,
        ..one.setting.clone()
    };
    let mut left: Vec<&BesideSetting> = beside.settings.iter().collect();
    left.sort_by_key(|one| one.setting.streams);
    let dots = left
        .iter()
        .map(|one| place(one, one.goodput_bits_per_second));
    let mut layers = vec![Layer::new(colour, Shape::Dots(8, dots.collect()))];
    while let Some(first) = left.first() {
        let kind = alike(first);
        let (same, others): (Vec<_>, Vec<_>) = left.into_iter().partition(|one| alike(one) == kind);
        let line: Vec<(f64, f64)> = same
            .iter()
            .map(|one| place(one, one.simulated_bits_per_second))
            .collect();
        layers.push(Layer::new(colour, Shape::Crosses(line.clone())));
        layers.push(Layer::new(colour, Shape::Dashes(line)));
        left = others;
    }
    layers
}

/// The share of the settings that agree, and the worst of them.
fn sentence(beside: &Beside) -> String {
    let near = beside.settings.iter().filter(|one| one.is_near()).count();
    let all = beside.settings.len();
    let of = match beside.run {
        Some(run) => format!(" of run {run}"),
        None => String::new(),
    };
    let off = |one: &&BesideSetting| one.ratio().max(1e-9).ln().abs();
    let furthest = beside
        .settings
        .iter()
        .max_by(|a, b| off(a).total_cmp(&off(b)));
    let furthest = furthest.map_or(String::new(), |one| {
        format!(
            "; furthest off is {}, {} measured and {} simulated",
            text::asked(&one.setting),
            format::rate(one.goodput_bits_per_second),
            format::rate(one.simulated_bits_per_second)
        )
    });
    format!(
        "On the path inferred from what was measured, the simulator carries within 10 % of the \
         measured goodput at {near} of {all} settings{of} ({}){furthest}.",
        format::percent(beside.near_ratio)
    )
}

fn table(beside: &Beside) -> Table {
    let top = beside.settings.iter();
    let top = top.map(|one| one.goodput_bits_per_second).max();
    let unit = RateUnit::fitting(top.unwrap_or(0) as f64);
    let columns = [
        Column::words("setting"),
        Column::number(format!("measured {}", unit.name)),
        Column::number("simulated"),
        Column::number("simulated / measured"),
    ];
    let row = |one: &BesideSetting| {
        let row = Row::new([
            text::asked(&one.setting),
            unit.number(one.goodput_bits_per_second as f64),
            unit.number(one.simulated_bits_per_second as f64),
            format!("{:.2}", one.ratio()),
        ]);
        row.standing(match one.is_near() {
            true => Standing::Other,
            false => Standing::Differs,
        })
    };
    Table::new(columns, beside.settings.iter().map(row))
}
