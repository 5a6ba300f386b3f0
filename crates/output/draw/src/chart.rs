//! Charts as data: what is drawn, before `svg.rs` draws it.
//!
//! A [`Chart`] is panels below each other with a legend above them; a [`Panel`] is a pair of axes
//! with layers of shapes, rows of bars, or a map of coloured fields. The drawing is SVG text that
//! needs no fonts, scripts or images from elsewhere. Text and lines use few fixed colours,
//! [`palette`], so that a page can restyle them for dark screens. Values outside an axis are drawn
//! at its end: a document may hold any number.
//!
//! Reading order: this file, [`axis`], [`curves`] (the usual chart of lines), `svg.rs`, `file.rs`.

pub mod axis;
pub mod curves;
pub mod file;
pub mod palette;
mod svg;

use std::fmt::Display;

use axis::Axis;
use errors::{Fault, Hint};
use plotters::style::RGBColor;
use thiserror::Error;

pub use curves::{Curves, Line, Origin, Point, Scale};

/// Panels with a legend above them.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What the colours mean.
    pub legend: Vec<Entry>,
    /// From the top down.
    pub panels: Vec<Panel>,
}

/// A part of a chart.
#[derive(Debug, Clone, PartialEq)]
pub enum Panel {
    /// Shapes on a pair of axes.
    Axes(Axes),
    /// Labelled bars from left to right, each in its row.
    Bars(Vec<BarRow>),
    /// A table of coloured fields.
    Map(Map),
}

/// One pair of axes and what is drawn on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Axes {
    /// In units of the drawing.
    pub height: u32,
    /// The level axis.
    pub x: Axis,
    /// What is along it; `None` leaves its labels to a panel below.
    pub x_title: Option<String>,
    /// The upright axis.
    pub y: Axis,
    /// What rises.
    pub y_title: String,
    /// What comes later covers what came before.
    pub layers: Vec<Layer>,
}

/// Shapes of one colour.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// The colour.
    pub colour: RGBColor,
    /// What is drawn in it.
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
    /// Circles of this radius that can be seen through.
    PaleDots(i32, Vec<(f64, f64)>),
    /// A ring of this radius around each place.
    Rings(i32, Vec<(f64, f64)>),
    /// Upright lines with ends, at a place on the level axis from low to high.
    Whiskers(Vec<(f64, f64, f64)>),
    /// Bars from one place on the level axis to another, so high.
    Bars(Vec<(f64, f64, f64)>),
    /// The area from low to high over the places on the level axis.
    Area(Vec<(f64, f64, f64)>),
    /// The same, so faint that areas upon each other are deeper.
    FaintArea(Vec<(f64, f64, f64)>),
    /// Thick level lines from one place on the level axis to another, so high.
    Levels(Vec<(f64, f64, f64)>),
    /// Crosses.
    Crosses(Vec<(f64, f64)>),
    /// The whole height from one place on the level axis to another.
    Span(f64, f64),
}

/// One row of bars. All values are on one scale, from zero to the largest of any row.
#[derive(Debug, Clone, PartialEq)]
pub struct BarRow {
    /// What it is, to the left.
    pub name: String,
    /// Where each bar begins and ends, and its colour; those after the first are thinner.
    pub bars: Vec<(f64, f64, RGBColor)>,
    /// The interval around the end of the first bar.
    pub whisker: Option<(f64, f64)>,
    /// An upright mark across the row.
    pub mark: Option<(f64, RGBColor)>,
    /// What stands behind the bars.
    pub value: String,
}

/// Rows of fields, any of which may be empty; deeper colours for more.
#[derive(Debug, Clone, PartialEq)]
pub struct Map {
    /// What the numbers are, and what lies across and down.
    pub title: String,
    /// The names of the rows.
    pub rows: Vec<String>,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// Row by row, column by column.
    pub fields: Vec<Vec<Field>>,
    /// The field to choose, framed in the accent.
    pub chosen: Option<Framed>,
    /// Another to compare with, in a colour for deep fields.
    pub other: Option<Framed>,
}

/// A field with a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Framed {
    /// What it is.
    pub name: &'static str,
    /// Its row and column.
    pub place: (usize, usize),
}

/// One field of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// What its colour goes by; absent where nothing is known.
    pub value: Option<f64>,
    /// What is written on it where there is room.
    pub number: String,
}

/// How a series is shown in the legend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mark {
    /// A filled area.
    Area(RGBColor),
    /// A line.
    Line(RGBColor),
    /// A dashed line.
    Dashes(RGBColor),
    /// Dots.
    Dot(RGBColor),
    /// Crosses.
    Cross(RGBColor),
    /// A ring around the chosen one.
    Ring(RGBColor),
}

/// One line of the legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// How the series is drawn.
    pub mark: Mark,
    /// What it is.
    pub words: String,
}

/// Where the data of a panel lie, in units of the drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// The low end of the level axis.
    pub left: u32,
    /// Its high end.
    pub right: u32,
    /// The high end of the upright axis.
    pub top: u32,
    /// Its low end.
    pub bottom: u32,
}

/// With more rows than this a row of a map would not be seen.
const ROWS_MAX: usize = 850;

impl Chart {
    /// Panels with a legend above them.
    pub fn new(legend: Vec<Entry>, panels: impl IntoIterator<Item = Axes>) -> Self {
        Chart {
            legend,
            panels: panels.into_iter().map(Panel::Axes).collect(),
        }
    }

    /// The chart of a map; `None` for fewer than two rows or columns, and for more rows than can be
    /// told apart.
    pub fn map(map: Map) -> Option<Self> {
        let is_map = map.columns.len() > 1 && (2..=ROWS_MAX).contains(&map.rows.len());
        is_map.then(|| Chart {
            legend: Vec::new(),
            panels: vec![Panel::Map(map)],
        })
    }

    /// Width and height of the drawing.
    pub fn size(&self) -> (u32, u32) {
        (svg::WIDTH, svg::height(self))
    }

    /// Where the data of each panel of axes lie in the drawing, so that links can lie on them.
    pub fn frames(&self) -> Vec<Frame> {
        svg::frames(self)
    }

    /// The drawing.
    ///
    /// # Errors
    /// When the drawing library fails.
    pub fn svg(&self) -> Result<String, ChartError> {
        svg::draw(self)
    }
}

impl Layer {
    /// `shape` in `colour`.
    pub fn new(colour: RGBColor, shape: Shape) -> Self {
        Layer { colour, shape }
    }
}

impl Entry {
    /// `words` beside `mark`.
    pub fn new(mark: Mark, words: impl Into<String>) -> Self {
        Entry {
            mark,
            words: words.into(),
        }
    }
}

/// A chart could not be drawn.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the plot could not be drawn: {0}")]
pub struct ChartError(String);

impl Hint for ChartError {
    fn fault(&self) -> Fault {
        Fault::Run
    }

    fn hint(&self) -> Option<String> {
        None
    }
}

impl ChartError {
    fn from_drawing(error: impl Display) -> Self {
        ChartError(error.to_string())
    }
}
