//! What is shown: panels of lines, tables, and what was found in them.

use draw::chart::{Chart, Curves};

use crate::finding::Finding;

pub use draw::chart::{Line, Origin, Point, Scale};

/// One figure of a study: its panels and tables, and what was found in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Which of the document's figures and tables it makes again; none where it is about the text.
    pub ids: &'static [&'static str],
    /// Its title.
    pub title: String,
    /// The plots.
    pub panels: Vec<Panel>,
    /// The tables.
    pub tables: Vec<Rows>,
    /// What the document found, and whether that holds.
    pub findings: Vec<Finding>,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// The headings; the first column has names, the others numbers.
    pub columns: Vec<&'static str>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Figure {
    /// A figure without tables.
    pub fn new(
        ids: &'static [&'static str],
        title: impl Into<String>,
        panels: Vec<Panel>,
        findings: Vec<Finding>,
    ) -> Self {
        Figure {
            ids,
            title: title.into(),
            panels,
            tables: Vec::new(),
            findings,
        }
    }

    /// The same with a table.
    pub fn with(
        mut self,
        columns: impl IntoIterator<Item = &'static str>,
        rows: Vec<Vec<String>>,
    ) -> Self {
        self.tables.push(Rows {
            columns: columns.into_iter().collect(),
            rows,
        });
        self
    }
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
    /// A plot.
    pub fn new(
        name: &'static str,
        caption: impl Into<String>,
        (x, y): (Scale, Scale),
        lines: Vec<Line>,
    ) -> Self {
        Panel {
            name,
            caption: caption.into(),
            x,
            y,
            lines,
        }
    }

    /// The chart.
    pub fn chart(&self) -> Chart {
        let lines = self.lines.clone();
        let (x, y) = (self.x, self.y);
        Curves { x, y, lines }.chart()
    }
}

/// What a document printed, to be drawn over what was made.
pub(crate) fn printed(places: impl IntoIterator<Item = (f64, f64)>) -> Line {
    Line::new("printed", Origin::Published, places.into_iter().collect())
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

    /// The places of its points with an x up to `most`.
    fn up_to(&self, most: f64) -> Vec<(f64, f64)>;
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

    fn up_to(&self, most: f64) -> Vec<(f64, f64)> {
        let points = self.points.iter().filter(|point| point.x <= most);
        points.map(|point| (point.x, point.y)).collect()
    }
}
