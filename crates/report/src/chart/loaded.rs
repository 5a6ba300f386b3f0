//! A path idle and under load: hops, rates and seconds.

use campaign::study::figure::{Line, Origin, Panel, Scale};
use plotters::element::{PathElement, Rectangle};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor};
use record::Characteristics;
use record::characteristics::{Load, Trace, Way};
use record::responsiveness::{ResponsivenessInterval, ResponsivenessWay};

use super::PlotError;
use super::canvas::{Area, WIDTH, draw, text};
use super::legend::{self, Entry, Mark, legend};
use super::lines::lines;
use super::palette::{ACCENT, BLUE, GREY, INK};
use crate::{characteristic, format};

/// Median round trip to each hop, idle and under load; `None` without hops.
///
/// # Errors
/// When the drawing library fails.
pub fn hops(body: &Characteristics) -> Result<Option<String>, PlotError> {
    let loaded = |load: &Load| Some((load.way, load.trace.clone()?));
    let loaded: Vec<(Way, Trace)> = body.loads.iter().filter_map(loaded).collect();
    let protocol = loaded.first().map(|(_, trace)| trace.protocol);
    let same = |trace: &&Trace| protocol.is_none_or(|protocol| trace.protocol == protocol);
    let Some(idle) = body.traces.iter().find(same) else {
        return Ok(None);
    };
    let mut all = vec![Line::formula("idle", Origin::Runs, medians(idle))];
    all.extend(loaded.iter().map(|(way, trace)| {
        let label = format!("loaded {}", way.name());
        Line::formula(label, Origin::Runs, medians(trace))
    }));
    all.retain(|line| !line.points.is_empty());
    if all.is_empty() {
        return Ok(None);
    }
    panel("hop", "round trip [ms]", all).map(Some)
}

fn medians(trace: &Trace) -> Vec<(f64, f64)> {
    let place = |hop: &record::characteristics::Hop| {
        Some((f64::from(hop.distance), hop.median_seconds? * 1e3))
    };
    trace.hops.iter().filter_map(place).collect()
}

/// Round trips of each second beside the streams.
///
/// # Errors
/// When the drawing library fails.
pub fn round_trips(way: &ResponsivenessWay) -> Result<String, PlotError> {
    let mut all = vec![
        curve(way, "probes beside the streams", |one| {
            mean_ms(&one.foreign)
        }),
        curve(way, "the streams' own", |one| mean_ms(&one.loaded)),
    ];
    all.retain(|line| !line.points.is_empty());
    panel("second of load", "round trip [ms]", all)
}

/// Goodput of each second.
///
/// # Errors
/// When the drawing library fails.
pub fn goodput(way: &ResponsivenessWay) -> Result<String, PlotError> {
    let all = curve(way, "goodput", |one| Some(one.goodput.as_f64() / 1e6));
    panel("second of load", "goodput [Mbit/s]", vec![all])
}

fn curve(
    way: &ResponsivenessWay,
    label: &str,
    of: impl Fn(&ResponsivenessInterval) -> Option<f64>,
) -> Line {
    let seconds = way.intervals.iter().zip(1_u32..);
    let place = |(one, second)| Some((f64::from(second), of(one)?));
    Line::formula(label, Origin::Runs, seconds.filter_map(place).collect())
}

fn mean_ms(seconds: &[f64]) -> Option<f64> {
    Some(stats::mean(seconds)? * 1e3)
}

fn panel(x: &'static str, y: &'static str, all: Vec<Line>) -> Result<String, PlotError> {
    lines(&Panel {
        name: "loaded",
        caption: String::new(),
        x: Scale::even(x),
        y: Scale::even(y),
        lines: all,
    })
}

const ROW: i32 = 96;
const BAR: i32 = 52;
/// Room for the direction to the left of the bars.
const NAME: i32 = 150;
/// Room for the value to the right of them.
const VALUE: i32 = 260;

/// What is known of one direction's rates, in bits per second.
struct Rates {
    name: &'static str,
    capacity: Option<u64>,
    available: Option<(u64, u64)>,
    one_stream: Option<u64>,
}

/// Capacity as a bar, the range of what is left on it, and one stream; `None` without any of them.
///
/// # Errors
/// When the drawing library fails.
pub fn rates(body: &Characteristics) -> Result<Option<String>, PlotError> {
    let rates: Vec<Rates> = [Way::Forward, Way::Reverse]
        .into_iter()
        .map(|way| of_way(body, way))
        .filter(|rates| rates.longest() > 0)
        .collect();
    let longest = rates.iter().map(Rates::longest).max().unwrap_or(0);
    if longest == 0 {
        return Ok(None);
    }
    let entries = [
        Entry::new(Mark::Area(GREY), "capacity"),
        Entry::new(Mark::Area(BLUE), "available, from and to"),
        Entry::new(Mark::Line(ACCENT), "one stream"),
    ];
    let height = rates.len() as i32 * ROW + legend::height(&entries) + 16;
    let drawn = draw(height as u32, |sheet| {
        let below = legend(sheet, &entries)?;
        let rows = rates.iter().zip(0_i32..);
        rows.into_iter()
            .try_for_each(|(rates, row)| rates.draw(&below, row * ROW + ROW / 2, longest))
    });
    drawn.map(Some)
}

fn of_way(body: &Characteristics, way: Way) -> Rates {
    let capacity = body.capacities.iter().find(|seen| seen.way == way);
    let available = body.available.iter().find(|seen| seen.way == way);
    let load = body.loads.iter().find(|seen| seen.way == way);
    Rates {
        name: characteristic::title(way),
        capacity: capacity.map(|seen| seen.rate.bits_per_second()),
        available: available
            .and_then(|seen| seen.low_bits_per_second.zip(seen.high_bits_per_second)),
        one_stream: load.map(|seen| seen.one.goodput_bits_per_second),
    }
}

impl Rates {
    fn longest(&self) -> u64 {
        let ends = [
            self.capacity,
            self.available.map(|(_, high)| high),
            self.one_stream,
        ];
        ends.into_iter().flatten().max().unwrap_or(0)
    }

    fn draw(&self, area: &Area<'_>, y: i32, longest: u64) -> Result<(), PlotError> {
        let room = f64::from(WIDTH as i32 - NAME - VALUE);
        let x = |rate: u64| NAME + (rate as f64 / longest as f64 * room) as i32;
        let bar = |from: i32, to: i32, half: i32, colour: RGBColor| {
            let shape = Rectangle::new(
                [(from, y - half), (to.max(from + 4), y + half)],
                colour.filled(),
            );
            area.draw(&shape).map_err(PlotError::from_drawing)
        };
        if let Some(capacity) = self.capacity {
            bar(NAME, x(capacity), BAR / 2, GREY)?;
        }
        if let Some((low, high)) = self.available {
            bar(x(low), x(high), BAR / 3, BLUE)?;
        }
        if let Some(one) = self.one_stream {
            let mark = vec![(x(one), y - BAR / 2 - 6), (x(one), y + BAR / 2 + 6)];
            area.draw(&PathElement::new(mark, ACCENT.stroke_width(6)))
                .map_err(PlotError::from_drawing)?;
        }
        let words = format::rate(self.capacity.unwrap_or_else(|| self.longest()));
        area.draw_text(self.name, &text(&INK, HPos::Left), (0, y))
            .and_then(|()| {
                let place = (x(self.longest()) + 16, y);
                area.draw_text(&words, &text(&INK, HPos::Left), place)
            })
            .map_err(PlotError::from_drawing)
    }
}
