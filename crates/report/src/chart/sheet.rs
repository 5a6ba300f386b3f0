//! Panels below each other, told as layers of shapes.
//!
//! Whoever draws says what is on a panel and in which order; values outside an axis are held at its end, so that
//! numbers of a stranger's document stay on the sheet.

use plotters::element::{Circle, PathElement, Rectangle};
use plotters::style::{Color, RGBColor};

use super::PlotError;
use super::axis::Axis;
use super::canvas::{Area, Chart, Frame, draw, frame};
use super::legend::{self, Entry};
use super::palette::{self, INK};

/// Panels with a legend above them.
pub struct Sheet {
    pub entries: Vec<Entry>,
    pub panels: Vec<Panel>,
}

/// One pair of axes and what is drawn on it.
pub struct Panel {
    /// In units of the drawing.
    pub height: u32,
    pub x: Axis,
    /// What is along it; `None` leaves its labels to a panel below.
    pub x_title: Option<String>,
    pub y: Axis,
    pub y_title: String,
    /// What comes later covers what came before.
    pub layers: Vec<Layer>,
}

/// Shapes of one colour.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    pub colour: RGBColor,
    pub shape: Shape,
}

/// Places are values on the two axes.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A line through the places.
    Line(Vec<(f64, f64)>),
    /// A dashed one.
    Dashes(Vec<(f64, f64)>),
    /// Filled circles of this radius.
    Dots(i32, Vec<(f64, f64)>),
    /// Circles that can be seen through each other.
    Cloud(Vec<(f64, f64)>),
    /// A ring of this radius around each place.
    Rings(i32, Vec<(f64, f64)>),
    /// Upright lines with ends, at a place on the level axis from low to high.
    Whiskers(Vec<(f64, f64, f64)>),
    /// Bars from one place on the level axis to another, so high.
    Bars(Vec<(f64, f64, f64)>),
}

/// Length of a dash and of the gap behind it, in shares of the axes.
const DASH: f64 = 0.012;
/// Half the width of a whisker's end, as a share of the level axis.
const CAP: f64 = 0.004;

/// The colours of lines: the seventh of the palette, yellow, is too weak for one.
pub fn line_colour(index: usize) -> RGBColor {
    match index % palette::SERIES.len() {
        6 => INK,
        index => palette::series(index),
    }
}

/// The colours of windows: on a dark screen the palette's two blues are much alike, so they stand far apart here, and
/// the accent is left to what is chosen.
pub fn window_colour(index: usize) -> RGBColor {
    let [blue, sky, green, orange, _, pink, _] = palette::SERIES;
    let colours = [blue, orange, green, pink, sky, INK];
    colours[index % colours.len()]
}

impl Sheet {
    /// Draws it all.
    pub(super) fn draw(&self) -> Result<String, PlotError> {
        let height = legend::height(&self.entries).unsigned_abs();
        let panels: u32 = self.panels.iter().map(|panel| panel.height).sum();
        draw(height + panels, |sheet| {
            let mut below = legend::legend(sheet, &self.entries)?;
            for panel in &self.panels {
                let height = i32::try_from(panel.height).unwrap_or(i32::MAX);
                let (here, rest) = below.split_vertically(height);
                panel.draw(&here)?;
                below = rest;
            }
            Ok(())
        })
    }
}

impl Panel {
    fn draw(&self, area: &Area<'_>) -> Result<(), PlotError> {
        let axes = Frame {
            x: &self.x,
            x_title: self.x_title.as_deref(),
            y: &self.y,
            y_title: &self.y_title,
        };
        let mut chart = frame(area, &axes, |_| Ok(()))?;
        let mut layers = self.layers.iter();
        layers.try_for_each(|layer| self.layer(&mut chart, layer))
    }

    fn layer(&self, chart: &mut Chart<'_, '_>, layer: &Layer) -> Result<(), PlotError> {
        let colour = layer.colour;
        match &layer.shape {
            Shape::Line(places) => strokes(chart, vec![places.clone()], colour, 4),
            Shape::Dashes(places) => strokes(chart, dashes(places, (&self.x, &self.y)), colour, 4),
            Shape::Dots(radius, places) => {
                let dot = |place: &(f64, f64)| Circle::new(*place, *radius, colour.filled());
                shapes(chart.draw_series(places.iter().map(dot)))
            }
            Shape::Cloud(places) => {
                let dot = |place: &(f64, f64)| Circle::new(*place, 7, colour.mix(0.5).filled());
                shapes(chart.draw_series(places.iter().map(dot)))
            }
            Shape::Rings(radius, places) => {
                let ring =
                    |place: &(f64, f64)| Circle::new(*place, *radius, colour.stroke_width(5));
                shapes(chart.draw_series(places.iter().map(ring)))
            }
            Shape::Whiskers(whiskers) => {
                let lines = whiskers.iter().flat_map(|whisker| self.whisker(*whisker));
                strokes(chart, lines.collect(), colour, 2)
            }
            Shape::Bars(bars) => {
                let bar = |(from, to, high): &(f64, f64, f64)| {
                    Rectangle::new([(*from, self.y.low), (*to, *high)], colour.filled())
                };
                shapes(chart.draw_series(bars.iter().map(bar)))
            }
        }
    }

    fn whisker(&self, (x, low, high): (f64, f64, f64)) -> [Vec<(f64, f64)>; 3] {
        let half = (self.x.high - self.x.low) * CAP;
        let cap = |level: f64| vec![(x - half, level), (x + half, level)];
        [vec![(x, low), (x, high)], cap(low), cap(high)]
    }
}

fn shapes<T>(drawn: Result<T, impl std::fmt::Display>) -> Result<(), PlotError> {
    drawn.map(drop).map_err(PlotError::from_drawing)
}

pub(super) fn strokes(
    chart: &mut Chart<'_, '_>,
    lines: Vec<Vec<(f64, f64)>>,
    colour: RGBColor,
    width: u32,
) -> Result<(), PlotError> {
    let paths = lines
        .into_iter()
        .map(|line| PathElement::new(line, colour.stroke_width(width)));
    shapes(chart.draw_series(paths))
}

/// The line through `places` cut into dashes of equal length on the sheet.
pub(super) fn dashes(places: &[(f64, f64)], (x, y): (&Axis, &Axis)) -> Vec<Vec<(f64, f64)>> {
    let (width, height) = (x.high - x.low, y.high - y.low);
    let mut dashes = Vec::new();
    let mut walked = 0.0;
    for pair in places.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let run = (to.0 - from.0) / width;
        // A plot is about half as high as it is wide.
        let rise = (to.1 - from.1) / height * 0.5;
        let steps = (run.hypot(rise) / DASH * 2.0).ceil().clamp(1.0, 1e4);
        let at = |step: f64| {
            let share = step / steps;
            let blend = |from: f64, to: f64| from + (to - from) * share;
            (blend(from.0, to.0), blend(from.1, to.1))
        };
        for step in 0..steps as usize {
            if (walked as usize).is_multiple_of(2) {
                dashes.push(vec![at(step as f64), at(step as f64 + 1.0)]);
            }
            walked += 1.0;
        }
    }
    dashes
}
