//! The usual chart: lines over one pair of axes, formulas dashed, published values as crosses.

use plotters::style::RGBColor;

use super::axis::Axis;
use super::palette::{INK, line_colour};
use super::{Axes, Chart, Entry, Layer, Mark, Shape};

const HEIGHT: u32 = 754;
/// Above this many points on a line, dots would hide it and whiskers each other.
const DOTS_MAX: usize = 16;

/// Lines over one pair of axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Curves {
    /// What lies along.
    pub x: Scale,
    /// What rises.
    pub y: Scale,
    /// The lines.
    pub lines: Vec<Line>,
}

/// One axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// Its title, with the unit.
    pub title: &'static str,
    steps: Steps,
}

/// How values are placed on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Steps {
    /// Evenly, from zero.
    Even,
    /// By their logarithm to base ten.
    Decades,
    /// By their logarithm to base two.
    Doublings,
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What it is.
    pub label: String,
    /// Where its points come from.
    pub origin: Origin,
    /// By rising x; what has no value is left out.
    pub points: Vec<Point>,
}

/// Where the points of a line come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Runs, measured or simulated.
    Runs,
    /// Runs that no line joins.
    Scatter,
    /// Runs of real programs beside simulated ones: no line joins them.
    Measured,
    /// A formula for what the line of this number shows.
    FormulaOf(usize),
    /// A formula that stands by itself.
    Formula,
    /// What a document has printed, to compare with.
    Published,
}

/// One point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Where.
    pub x: f64,
    /// The value, or the mean of several.
    pub y: f64,
    /// Their standard deviation, when there are two or more.
    pub spread: Option<f64>,
}

impl Line {
    /// A line without spreads.
    pub fn new(label: impl Into<String>, origin: Origin, places: Vec<(f64, f64)>) -> Self {
        let bare = |(x, y)| Point { x, y, spread: None };
        Line {
            label: label.into(),
            origin,
            points: places.into_iter().map(bare).collect(),
        }
    }
}

impl Scale {
    /// An even axis from zero.
    pub const fn even(title: &'static str) -> Self {
        let steps = Steps::Even;
        Scale { title, steps }
    }

    /// A logarithmic axis with a mark at each power of ten.
    pub const fn decades(title: &'static str) -> Self {
        let steps = Steps::Decades;
        Scale { title, steps }
    }

    /// A logarithmic axis with a mark at each power of two.
    pub const fn doublings(title: &'static str) -> Self {
        let steps = Steps::Doublings;
        Scale { title, steps }
    }

    /// The axis that holds `ends`, with about so many ticks.
    fn axis(&self, ends: impl Iterator<Item = (f64, f64)> + Clone, about: usize) -> Axis {
        let low = ends.clone().map(|(low, _)| low).reduce(f64::min);
        let high = ends.map(|(_, high)| high).reduce(f64::max);
        let (low, high) = (low.unwrap_or(0.0), high.unwrap_or(1.0));
        match self.steps {
            Steps::Even => Axis::whole(0.0, high, about),
            Steps::Decades => Axis::powers_of_ten(low, high),
            Steps::Doublings => Axis::powers_of_two(high),
        }
    }

    /// Where a value lies on its axis.
    fn along(&self, value: f64) -> f64 {
        match self.steps {
            Steps::Even => value,
            Steps::Decades => value.max(1e-15).log10(),
            Steps::Doublings => value.max(1.0).log2(),
        }
    }
}

impl Curves {
    /// The same without lines that have no points.
    pub fn shown(mut self) -> Self {
        self.lines.retain(|line| !line.points.is_empty());
        self
    }

    /// The chart.
    pub fn chart(&self) -> Chart {
        let points = self.lines.iter().flat_map(|line| &line.points);
        let reach = |point: &Point| (point.y, point.y + point.spread.unwrap_or(0.0));
        let lines = 0..self.lines.len();
        let axes = Axes {
            height: HEIGHT,
            x: self
                .x
                .axis(points.clone().map(|point| (point.x, point.x)), 8),
            x_title: Some(self.x.title.to_owned()),
            y: self.y.axis(points.map(reach), 5),
            y_title: self.y.title.to_owned(),
            layers: lines.clone().flat_map(|index| self.layers(index)).collect(),
        };
        Chart::new(lines.map(|index| self.entry(index)).collect(), [axes])
    }

    fn colour(&self, index: usize) -> RGBColor {
        match self.lines[index].origin {
            Origin::Runs | Origin::Scatter | Origin::Measured => line_colour(index),
            Origin::FormulaOf(other) => line_colour(other),
            Origin::Formula | Origin::Published => INK,
        }
    }

    /// A formula has the colour of its line, dashed.
    fn entry(&self, index: usize) -> Entry {
        let (line, colour) = (&self.lines[index], self.colour(index));
        let mark = match line.origin {
            Origin::Runs => Mark::Line(colour),
            Origin::Scatter | Origin::Measured => Mark::Dot(colour),
            Origin::FormulaOf(_) | Origin::Formula => Mark::Dashes(colour),
            Origin::Published => Mark::Cross(colour),
        };
        Entry::new(mark, line.label.clone())
    }

    fn layers(&self, index: usize) -> Vec<Layer> {
        let line = &self.lines[index];
        let place = |point: &Point| (self.x.along(point.x), self.y.along(point.y));
        let places: Vec<(f64, f64)> = line.points.iter().map(place).collect();
        let is_few = line.points.len() <= DOTS_MAX;
        let shapes = match (line.origin, is_few) {
            (Origin::Runs, true) => vec![
                Shape::Whiskers(self.whiskers(line)),
                Shape::Line(places.clone()),
                Shape::Dots(7, places),
            ],
            (Origin::Runs, false) => vec![Shape::Line(places)],
            (Origin::FormulaOf(_) | Origin::Formula, _) => vec![Shape::Dashes(places)],
            (Origin::Scatter, _) => vec![Shape::PaleDots(6, places)],
            (Origin::Measured, _) => vec![Shape::Dots(9, places)],
            (Origin::Published, _) => vec![Shape::Crosses(places)],
        };
        let colour = self.colour(index);
        let layer = |shape| Layer::new(colour, shape);
        shapes.into_iter().map(layer).collect()
    }

    /// As long downwards as upwards on the sheet, so that on a logarithmic axis none ends below
    /// zero.
    fn whiskers(&self, line: &Line) -> Vec<(f64, f64, f64)> {
        let whisker = |point: &Point| {
            let spread = point.spread.filter(|spread| *spread > 0.0)?;
            let middle = self.y.along(point.y);
            let top = self.y.along(point.y + spread);
            Some((self.x.along(point.x), middle - (top - middle), top))
        };
        line.points.iter().filter_map(whisker).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_stand_whatever_the_figures() {
        let absurd = [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300];
        let curves = |y, points| {
            let (label, origin) = ("a <b>".to_owned(), Origin::Runs);
            let runs = Line {
                label,
                origin,
                points,
            };
            let places = vec![(1e-4, 50.0), (1e-2, 5.0)];
            let formula = Line::new("formula", Origin::FormulaOf(0), places);
            let lines = vec![runs, formula];
            let x = Scale::decades("share of packets lost");
            Curves { x, y, lines }.chart().svg().unwrap()
        };
        for y in [Scale::even("y"), Scale::decades("y"), Scale::doublings("y")] {
            for value in absurd {
                let point = |x, y, spread| Point {
                    x,
                    y,
                    spread: Some(spread),
                };
                let points = vec![point(value, value, value), point(1.0, 2.0, 9.0)];
                let svg = curves(y, points);
                assert!(svg.contains("</svg>") && !svg.contains("<b>"));
            }
            assert!(curves(y, Vec::new()).contains("</svg>"));
        }
    }
}
