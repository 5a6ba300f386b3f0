//! Shapes on a pair of axes.

use plotters::element::{Circle, Cross, PathElement, Polygon, Rectangle};
use plotters::style::{Color, RGBColor};

use super::canvas::{Area, Drawing, Frame, frame};
use crate::chart::axis::Axis;
use crate::chart::{Axes, ChartError, Layer, Shape};

/// Strength of dots that can be seen through.
const PALE: f64 = 0.45;
/// Strength of areas that lie upon each other.
const FAINT: f64 = 0.13;
/// Half the size of a cross.
const CROSS: i32 = 8;
/// Length of a dash and of the gap behind it, in shares of the axes.
const DASH: f64 = 0.012;
/// Half the width of a whisker's end, as a share of the level axis.
const CAP: f64 = 0.006;

impl Axes {
    pub(super) fn draw(&self, area: &Area<'_>) -> Result<(), ChartError> {
        let axes = Frame {
            x: &self.x,
            x_title: self.x_title.as_deref(),
            y: &self.y,
            y_title: &self.y_title,
        };
        let is_span = |layer: &&Layer| matches!(layer.shape, Shape::Span(..));
        let (behind, layers): (Vec<&Layer>, Vec<&Layer>) = self.layers.iter().partition(is_span);
        let draw = |chart: &mut Drawing<'_, '_>, layers: &[&Layer]| {
            let mut layers = layers.iter();
            layers.try_for_each(|layer| self.layer(chart, layer))
        };
        // The grid stays visible on what is behind everything.
        let mut chart = frame(area, &axes, |chart| draw(chart, &behind))?;
        draw(&mut chart, &layers)
    }

    fn layer(&self, chart: &mut Drawing<'_, '_>, layer: &Layer) -> Result<(), ChartError> {
        let colour = layer.colour;
        match &layer.shape {
            Shape::Line(places) => strokes(chart, vec![places.clone()], colour, 4),
            Shape::Dashes(places) => strokes(chart, dashes(places, (&self.x, &self.y)), colour, 4),
            Shape::Dots(radius, places) => {
                let dot = |place: &(f64, f64)| Circle::new(*place, *radius, colour.filled());
                shapes(chart.draw_series(places.iter().map(dot)))
            }
            Shape::PaleDots(radius, places) => {
                let pale = colour.mix(PALE).filled();
                let dot = |place: &(f64, f64)| Circle::new(*place, *radius, pale);
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
            Shape::Area(edges) => {
                shapes(chart.draw_series([Polygon::new(outline(edges), colour.filled())]))
            }
            Shape::FaintArea(edges) => {
                let faint = colour.mix(FAINT).filled();
                shapes(chart.draw_series([Polygon::new(outline(edges), faint)]))
            }
            Shape::Levels(levels) => {
                let line = |(from, to, high): &(f64, f64, f64)| vec![(*from, *high), (*to, *high)];
                strokes(chart, levels.iter().map(line).collect(), colour, 7)
            }
            Shape::Crosses(places) => {
                let cross = |place: &(f64, f64)| Cross::new(*place, CROSS, colour.stroke_width(4));
                shapes(chart.draw_series(places.iter().map(cross)))
            }
            Shape::Span(from, to) => {
                let corners = [(*from, self.y.low), (*to, self.y.high)];
                shapes(chart.draw_series([Rectangle::new(corners, colour.filled())]))
            }
        }
    }

    fn whisker(&self, (x, low, high): (f64, f64, f64)) -> [Vec<(f64, f64)>; 3] {
        let half = (self.x.high - self.x.low) * CAP;
        let cap = |level: f64| vec![(x - half, level), (x + half, level)];
        [vec![(x, low), (x, high)], cap(low), cap(high)]
    }
}

/// The edge of an area, once around.
fn outline(edges: &[(f64, f64, f64)]) -> Vec<(f64, f64)> {
    let upper = edges.iter().map(|(x, _, high)| (*x, *high));
    let lower = edges.iter().rev().map(|(x, low, _)| (*x, *low));
    upper.chain(lower).collect()
}

fn shapes<T>(drawn: Result<T, impl std::fmt::Display>) -> Result<(), ChartError> {
    drawn.map(drop).map_err(ChartError::from_drawing)
}

fn strokes(
    chart: &mut Drawing<'_, '_>,
    lines: Vec<Vec<(f64, f64)>>,
    colour: RGBColor,
    width: u32,
) -> Result<(), ChartError> {
    let paths = lines
        .into_iter()
        .map(|line| PathElement::new(line, colour.stroke_width(width)));
    shapes(chart.draw_series(paths))
}

/// The line through `places` cut into dashes of equal length on the sheet.
fn dashes(places: &[(f64, f64)], (x, y): (&Axis, &Axis)) -> Vec<Vec<(f64, f64)>> {
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
