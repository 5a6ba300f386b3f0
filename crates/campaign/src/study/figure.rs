//! What is drawn: panels of lines.

use super::Finding;

/// One figure of a study: its panels and what was found in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Its title.
    pub title: String,
    /// The plots.
    pub panels: Vec<Panel>,
    /// What the document found, and whether that holds.
    pub findings: Vec<Finding>,
}

/// One plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Its name among the files of all studies.
    pub name: &'static str,
    /// What it shows, in one sentence.
    pub caption: String,
    /// What lies along it.
    pub x: Scale,
    /// What rises.
    pub y: Scale,
    /// The curves.
    pub lines: Vec<Line>,
}

/// One axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// Its title, with the unit.
    pub title: &'static str,
    /// How values are placed on it.
    pub steps: Steps,
}

/// How values are placed on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steps {
    /// Evenly, from zero.
    Even,
    /// By their logarithm to base ten.
    Decades,
    /// By their logarithm to base two.
    Doublings,
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
}

/// One curve.
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
    /// Simulations.
    Runs,
    /// A formula for what the line of this number shows.
    FormulaOf(usize),
    /// A formula that stands by itself.
    Formula,
}

/// One point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Where.
    pub x: f64,
    /// The mean over the seeds.
    pub y: f64,
    /// The standard deviation over the seeds, when there are two or more.
    pub spread: Option<f64>,
}

impl Line {
    /// A formula's curve.
    pub fn formula(label: impl Into<String>, origin: Origin, places: Vec<(f64, f64)>) -> Self {
        let bare = |(x, y)| Point { x, y, spread: None };
        Line {
            label: label.into(),
            origin,
            points: places.into_iter().map(bare).collect(),
        }
    }

    /// The value at `x`, which has to be one of the points.
    pub fn at(&self, x: f64) -> Option<f64> {
        let near = |point: &&Point| (point.x - x).abs() <= x.abs() * 1e-6;
        self.points.iter().find(near).map(|point| point.y)
    }

    /// The highest value.
    pub fn highest(&self) -> Option<f64> {
        self.points.iter().map(|point| point.y).reduce(f64::max)
    }

    /// The lowest value.
    pub fn lowest(&self) -> Option<f64> {
        self.points.iter().map(|point| point.y).reduce(f64::min)
    }

    /// The first x whose value is within `tolerance`, a share, of the highest.
    pub fn peak(&self, tolerance: f64) -> Option<f64> {
        let enough = self.highest()? * (1.0 - tolerance);
        let point = self.points.iter().find(|point| point.y >= enough)?;
        Some(point.x)
    }

    /// The value at the largest x.
    pub fn last(&self) -> Option<f64> {
        self.points.last().map(|point| point.y)
    }
}
