//! The months of all years as lines.

use changes::UnixTime;
use draw::chart::axis::Axis;
use draw::chart::{Axes, Entry, Layer, Mark, Shape, palette};
use draw::page::Cell;
use maud::{Markup, html};

use super::figure::Figure;
use super::rows::Values;
use crate::problem::Problem;
use crate::range::Range;
use crate::{calendar, figure as drawing};

/// Rows that are drawn: as many as there are colours that stand apart.
const LINES: usize = 6;
/// Fewer months are no line.
const MONTHS_LEAST: usize = 3;
const HEIGHT: u32 = 260;
/// Ticks of the upright axis.
const TICKS: usize = 5;

/// The first rows over all years; `None` where months are few.
pub fn drawn(figure: Figure, rows: &[(Cell, Values)]) -> Result<Option<Markup>, Problem> {
    let lines = rows.iter().take(LINES);
    let lines: Vec<(&str, Vec<(f64, f64)>)> = lines
        .map(|(name, values)| (name.text.as_str(), values.places(figure.factor())))
        .filter(|(_, places)| !places.is_empty())
        .collect();
    let all = || lines.iter().flat_map(|(_, places)| places.iter());
    let times = || all().map(|(at, _)| *at);
    let (first, last) = (
        times().fold(f64::INFINITY, f64::min),
        times().fold(0.0, f64::max),
    );
    let longest = lines.iter().map(|(_, places)| places.len()).max();
    if longest.unwrap_or_default() < MONTHS_LEAST {
        return Ok(None);
    }
    let [from, to] = [first, last].map(|at| UnixTime::from_seconds(at as u64));
    let highest = all().map(|(_, value)| *value).fold(0.0, f64::max);
    let panel = Axes {
        height: HEIGHT,
        x: Axis::labelled(first, last, calendar::labels((from, to))),
        x_title: None,
        y: Axis::whole(0.0, highest, TICKS),
        y_title: figure.axis().to_owned(),
        layers: lines.iter().enumerate().flat_map(line).collect(),
    };
    let entry = |(index, (name, _)): (usize, &(&str, Vec<(f64, f64)>))| {
        Entry::new(Mark::Line(palette::window_colour(index)), *name)
    };
    let legend: Vec<Entry> = lines.iter().enumerate().map(entry).collect();
    let shown = lines.len();
    let description = match rows.len() > shown {
        true => format!("The first {shown} of {} rows.", rows.len()),
        false => String::new(),
    };
    let chart = drawing::Figure {
        name: "months".to_owned(),
        title: format!("{} by month", figure.title()),
        description: description.clone(),
        legend: Vec::new(),
        panels: vec![panel],
        range: Range {
            from,
            to,
            ago: None,
        },
        links: Vec::new(),
    };
    Ok(Some(html! {
        figure.chart {
            (drawing::legend(&legend))
            (chart.small()?)
            @if !description.is_empty() { figcaption { (description) } }
        }
    }))
}

fn line((index, (_, places)): (usize, &(&str, Vec<(f64, f64)>))) -> [Layer; 2] {
    let colour = palette::window_colour(index);
    [
        Layer::new(colour, Shape::Line(places.clone())),
        Layer::new(colour, Shape::Dots(3, places.clone())),
    ]
}
