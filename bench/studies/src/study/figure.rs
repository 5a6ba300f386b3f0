//! What is drawn: panels of lines.

use report::chart::{Chart, Curves};

use super::Finding;

pub use report::chart::{Line, Origin, Point, Scale};

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

/// One plot. The spread of a point is the standard deviation over the seeds.
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

impl Panel {
    /// The chart.
    pub fn chart(&self) -> Chart {
        let lines = self.lines.clone();
        let (x, y) = (self.x, self.y);
        Curves { x, y, lines }.chart()
    }
}

/// What the rules for findings ask of a line.
pub trait Values {
    /// The value at `x`, which has to be one of the points.
    fn at(&self, x: f64) -> Option<f64>;

    /// The highest value.
    fn highest(&self) -> Option<f64>;

    /// The lowest value.
    fn lowest(&self) -> Option<f64>;

    /// The first x whose value is within `tolerance`, a share, of the highest.
    fn peak(&self, tolerance: f64) -> Option<f64>;

    /// The value at the largest x.
    fn last(&self) -> Option<f64>;
}

impl Values for Line {
    fn at(&self, x: f64) -> Option<f64> {
        let near = |point: &&Point| (point.x - x).abs() <= x.abs() * 1e-6;
        self.points.iter().find(near).map(|point| point.y)
    }

    fn highest(&self) -> Option<f64> {
        self.points.iter().map(|point| point.y).reduce(f64::max)
    }

    fn lowest(&self) -> Option<f64> {
        self.points.iter().map(|point| point.y).reduce(f64::min)
    }

    fn peak(&self, tolerance: f64) -> Option<f64> {
        let enough = self.highest()? * (1.0 - tolerance);
        let point = self.points.iter().find(|point| point.y >= enough)?;
        Some(point.x)
    }

    fn last(&self) -> Option<f64> {
        self.points.last().map(|point| point.y)
    }
}
