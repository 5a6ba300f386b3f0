//! A path idle and under load: rates and hops.

use draw::chart::palette::RGBColor;
use record::Characteristics;
use record::characteristics::{Load, Trace, Way};

use draw::chart::palette::{ACCENT, BLUE, GREY};
use draw::chart::{BarRow, Chart, Curves, Entry, Line, Mark, Origin, Panel, Scale};
use draw::format;
use draw::page::Block;

pub fn figures(body: &Characteristics) -> Vec<Block> {
    let what =
        "Capacity, the range of available bandwidth and what one stream got, in each direction.";
    let rates = rates(body).map(|chart| Block::figure("rates", what, chart));
    let what = "Median round trip to each hop on the idle path and beside eight streams.";
    let hops = hops(body).map(|chart| Block::figure("hops", what, chart));
    rates.into_iter().chain(hops).collect()
}

/// Median round trip to each hop, idle and under load; `None` without hops.
fn hops(body: &Characteristics) -> Option<Chart> {
    let loaded = body
        .loads
        .iter()
        .filter_map(|load| Some((load, load.trace.as_ref()?)));
    let loaded: Vec<(&Load, &Trace)> = loaded.collect();
    let protocol = loaded.first().map(|(_, trace)| trace.protocol);
    let same = |trace: &&Trace| protocol.is_none_or(|protocol| trace.protocol == protocol);
    let idle = body.traces.iter().find(same)?;
    let mut lines = vec![Line::new("idle", Origin::Runs, medians(idle))];
    lines.extend(loaded.iter().map(|(load, trace)| {
        let label = format!("loaded {}", load.way.name());
        Line::new(label, Origin::Runs, medians(trace))
    }));
    let (x, y) = (Scale::even("hop"), Scale::even("round trip [ms]"));
    let curves = Curves { x, y, lines }.shown();
    (!curves.lines.is_empty()).then(|| curves.chart())
}

fn medians(trace: &Trace) -> Vec<(f64, f64)> {
    let place = |hop: &record::characteristics::Hop| {
        Some((f64::from(hop.distance), hop.median_seconds? * 1e3))
    };
    trace.hops.iter().filter_map(place).collect()
}

/// Capacity as a bar, the range of what is left on it, and one stream; `None` without any of them.
fn rates(body: &Characteristics) -> Option<Chart> {
    let rows = [Way::Forward, Way::Reverse].map(|way| row(body, way));
    let rows: Vec<BarRow> = rows.into_iter().flatten().collect();
    let legend = vec![
        Entry::new(Mark::Area(GREY), "capacity"),
        Entry::new(Mark::Area(BLUE), "available, from and to"),
        Entry::new(Mark::Line(ACCENT), "one stream"),
    ];
    (!rows.is_empty()).then(|| Chart {
        legend,
        panels: vec![Panel::Bars(rows)],
    })
}

/// What is known of one direction's rates, in bits per second.
fn row(body: &Characteristics, way: Way) -> Option<BarRow> {
    let capacity = body.capacities.iter().find(|seen| seen.way == way);
    let capacity = capacity.map(|seen| seen.rate.bits_per_second());
    let available = body.available.iter().find(|seen| seen.way == way);
    let available =
        available.and_then(|seen| seen.low_bits_per_second.zip(seen.high_bits_per_second));
    let one = body.loads.iter().find(|seen| seen.way == way);
    let one = one.map(|seen| seen.one.goodput_bits_per_second);
    let longest = [capacity, available.map(|(_, high)| high), one];
    let longest = longest
        .into_iter()
        .flatten()
        .max()
        .filter(|rate| *rate > 0)?;
    let bar = |from: u64, to: u64, colour: RGBColor| (from as f64, to as f64, colour);
    // The first is the thickest: without a capacity it has no length.
    let bars = [bar(0, capacity.unwrap_or(0), GREY)].into_iter();
    Some(BarRow {
        name: super::title(way).to_owned(),
        bars: bars
            .chain(available.map(|(low, high)| bar(low, high, BLUE)))
            .collect(),
        whisker: None,
        mark: one.map(|rate| (rate as f64, ACCENT)),
        value: format::rate(capacity.unwrap_or(longest)),
    })
}
