//! The curves of one panel of a study.

use campaign::study::figure::{Line, Origin, Panel, Point, Scale, Steps};
use plotters::element::Circle;
use plotters::style::{Color, RGBColor};

use crate::chart::PlotError;
use crate::chart::axis::Axis;
use crate::chart::canvas::{Chart, Frame, draw, frame};
use crate::chart::legend::{Entry, Mark, legend};
use crate::chart::palette::INK;
use crate::chart::sheet::{dashes, line_colour, strokes};

const HEIGHT: u32 = 800;
/// Above this many points on a line, dots would hide it and whiskers each other.
const DOTS_MAX: usize = 16;

/// The panel as SVG: lines with the standard deviation over the seeds, formulas dashed.
///
/// # Errors
/// When the drawing library fails.
pub fn lines(panel: &Panel) -> Result<String, PlotError> {
    let x = axis(&panel.x, panel, |point| (point.x, point.x), 8);
    let y = axis(&panel.y, panel, reach, 5);
    draw(HEIGHT, |sheet| {
        let below = legend(sheet, &entries(panel))?;
        let axes = Frame {
            x: &x,
            x_title: Some(panel.x.title),
            y: &y,
            y_title: panel.y.title,
        };
        let mut chart = frame(&below, &axes, |_| Ok(()))?;
        let sheet = Sheet {
            panel,
            x: &x,
            y: &y,
        };
        (0..panel.lines.len()).try_for_each(|index| sheet.line(&mut chart, index))
    })
}

/// From the lower to the upper end of what is drawn of a point.
fn reach(point: &Point) -> (f64, f64) {
    let spread = point.spread.unwrap_or(0.0);
    (point.y, point.y + spread)
}

fn axis(scale: &Scale, panel: &Panel, ends: fn(&Point) -> (f64, f64), about: usize) -> Axis {
    let points = || panel.lines.iter().flat_map(|line| &line.points).map(ends);
    let low = points().map(|(low, _)| low).reduce(f64::min).unwrap_or(0.0);
    let high = points()
        .map(|(_, high)| high)
        .reduce(f64::max)
        .unwrap_or(1.0);
    match scale.steps {
        Steps::Even => Axis::whole(0.0, high, about),
        Steps::Decades => Axis::powers_of_ten(low, high),
        Steps::Doublings => Axis::powers_of_two(high),
    }
}

fn colour(panel: &Panel, index: usize) -> RGBColor {
    match panel.lines[index].origin {
        Origin::Runs => line_colour(index),
        Origin::FormulaOf(other) => line_colour(other),
        Origin::Formula => INK,
    }
}

/// A formula has the colour of its line, dashed.
fn entries(panel: &Panel) -> Vec<Entry> {
    let lines = panel.lines.iter().enumerate();
    let entry = |(index, line): (usize, &Line)| {
        let colour = colour(panel, index);
        let mark = match line.origin {
            Origin::Runs => Mark::Line(colour),
            Origin::FormulaOf(_) | Origin::Formula => Mark::Dashes(colour),
        };
        Entry::new(mark, line.label.clone())
    };
    lines.map(entry).collect()
}

struct Sheet<'a> {
    panel: &'a Panel,
    x: &'a Axis,
    y: &'a Axis,
}

impl Sheet<'_> {
    fn line(&self, chart: &mut Chart<'_, '_>, index: usize) -> Result<(), PlotError> {
        let line = &self.panel.lines[index];
        let colour = colour(self.panel, index);
        let places: Vec<(f64, f64)> = line
            .points
            .iter()
            .map(|point| self.place(point.x, point.y))
            .collect();
        if line.origin != Origin::Runs {
            return strokes(chart, dashes(&places, (self.x, self.y)), colour, 3);
        }
        let few = line.points.len() <= DOTS_MAX;
        let whiskers = line.points.iter().filter(|_| few);
        let whiskers = whiskers.filter_map(|point| self.whisker(point)).collect();
        strokes(chart, whiskers, colour, 2)?;
        strokes(chart, vec![places.clone()], colour, 4)?;
        let dots = places.into_iter().filter(|_| few);
        let dots = dots.map(|place| Circle::new(place, 7, colour.filled()));
        chart
            .draw_series(dots)
            .map(drop)
            .map_err(PlotError::from_drawing)
    }

    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        (along(&self.panel.x, x), along(&self.panel.y, y))
    }

    /// As long downwards as upwards on the sheet, so that on a logarithmic axis it never ends below zero.
    fn whisker(&self, point: &Point) -> Option<Vec<(f64, f64)>> {
        let spread = point.spread.filter(|spread| *spread > 0.0)?;
        let (x, middle) = self.place(point.x, point.y);
        let (_, top) = self.place(point.x, point.y + spread);
        Some(vec![(x, middle - (top - middle)), (x, top)])
    }
}

/// Where a value lies on its axis.
fn along(scale: &Scale, value: f64) -> f64 {
    match scale.steps {
        Steps::Even => value,
        Steps::Decades => value.max(1e-15).log10(),
        Steps::Doublings => value.max(1.0).log2(),
    }
}
