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
/// The longest month: places further apart have a month without a value between them.
const MONTH_SECONDS: f64 = 31.0 * 86_400.0;
/// Ticks of the upright axis.
const TICKS: usize = 5;

/// A row's name and its months as places.
type Line<'a> = (&'a str, Vec<(f64, f64)>);

/// The first rows over all years; `None` where months are few.
pub fn drawn(figure: Figure, rows: &[(Cell, Values)]) -> Result<Option<Markup>, Problem> {
    let lines = rows.iter().take(LINES);
    let lines: Vec<Line<'_>> = lines
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
        x_title: Some("month".to_owned()),
        y: Axis::whole(0.0, highest, TICKS),
        y_title: figure.axis().to_owned(),
        layers: lines.iter().enumerate().flat_map(line).collect(),
    };
    let entry = |(index, (name, _)): (usize, &Line<'_>)| {
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
            div.plot { (drawing::legend(&legend)) }
            (chart.small()?)
            @if !description.is_empty() { figcaption { (description) } }
        }
    }))
}

/// Dots, and lines between those of months in a row.
fn line((index, (_, places)): (usize, &Line<'_>)) -> Vec<Layer> {
    let colour = palette::window_colour(index);
    let in_a_row = places.chunk_by(|one, next| next.0 - one.0 <= MONTH_SECONDS);
    let lines = in_a_row.filter(|places| places.len() > 1);
    let lines = lines.map(|places| Layer::new(colour, Shape::Line(places.to_vec())));
    let dots = Layer::new(colour, Shape::Dots(3, places.clone()));
    lines.chain([dots]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_where_a_month_has_no_value() {
        let day = |day: u64| (day as f64 * 86_400.0, 1.0);
        // January, February, April, and June to August.
        let places = [0, 31, 90, 151, 181, 212].map(day);
        let layers = line((0, &("a to b", places.to_vec())));
        let shapes: Vec<Shape> = layers.into_iter().map(|layer| layer.shape).collect();
        let wanted = [
            Shape::Line(places[..2].to_vec()),
            Shape::Line(places[3..].to_vec()),
            Shape::Dots(3, places.to_vec()),
        ];
        assert_eq!(shapes, wanted);
    }
}
