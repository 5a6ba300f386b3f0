//! The figures of a sweep.
//!
//! Reading order: [`against`] (most of them), then one file for each other figure.

mod against;
mod delay;
mod duration;
mod map;
mod processor;
mod variability;

use record::{Measure, StreamDirection, Sweep};

use super::PlotError;
use super::standalone::standalone;
use crate::swept::{Group, groups};

/// With more visits than this, clouds of dots show each setting's medians instead.
const CLOUD_MAX: usize = 1500;

/// One figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// A name for its file.
    pub name: String,
    /// The drawing, for a page that styles it.
    pub svg: String,
    /// The sentence that says what it shows.
    pub caption: String,
}

impl Figure {
    /// Its name, and the drawing as a file of its own.
    pub fn into_file(self) -> (String, String) {
        let svg = standalone(&self.svg, Some(&self.caption)).into_owned();
        (self.name, svg)
    }
}

/// A figure, or the reason why there is none: a sentence.
pub(super) enum Drawing {
    Drawn(Figure),
    LeftOut(String),
}

/// The figures of one group of visits.
pub struct Section {
    /// What sets the group apart; empty where there is one only.
    pub name: String,
    /// What can be drawn.
    pub figures: Vec<Figure>,
    /// A sentence for each figure that cannot.
    pub left_out: Vec<String>,
}

/// Every figure of a sweep; `representative` is the measurement of one visit, with its readings.
///
/// # Errors
/// When the drawing library fails.
pub fn all(sweep: &Sweep, representative: Option<&Measure>) -> Result<Vec<Figure>, PlotError> {
    let mut figures = match representative {
        Some(measure) => one_visit(measure)?,
        None => Vec::new(),
    };
    for section in sections(sweep)? {
        figures.extend(section.figures);
    }
    Ok(figures)
}

/// The figures group by group.
///
/// # Errors
/// When the drawing library fails.
pub fn sections(sweep: &Sweep) -> Result<Vec<Section>, PlotError> {
    groups(sweep).iter().map(section).collect()
}

fn section(group: &Group<'_>) -> Result<Section, PlotError> {
    let mut section = Section {
        name: group.name.clone(),
        figures: Vec::new(),
        left_out: Vec::new(),
    };
    if group.count() == 0 {
        let none = "No visit was measured, so there is nothing to draw.";
        section.left_out.push(none.to_owned());
        return Ok(section);
    }
    let drawings = [
        against::goodput_and_its_price(group)?,
        map::map(group)?,
        delay::delay(group)?,
        variability::histogram(group)?,
        variability::cumulated(group)?,
        processor::against_goodput(group)?,
        processor::against_streams(group)?,
        against::sharing(group)?,
        duration::duration(group)?,
    ];
    for drawing in drawings {
        match drawing {
            Drawing::Drawn(figure) => section.figures.push(figure),
            Drawing::LeftOut(reason) => section.left_out.push(reason),
        }
    }
    Ok(section)
}

/// Throughput over time of one visit, a figure for each direction.
///
/// # Errors
/// When the drawing library fails.
pub fn one_visit(measure: &Measure) -> Result<Vec<Figure>, PlotError> {
    let run = &measure.run;
    let mut figures = Vec::new();
    for direction in &run.directions {
        let (way, suffix) = match (run.directions.len(), direction.direction) {
            (0 | 1, _) => ("", ""),
            (_, StreamDirection::Sending) => (", sending", "-sending"),
            (_, StreamDirection::Receiving) => (", receiving", "-receiving"),
        };
        let setting = crate::words::setting(&run.setting);
        let caption = format!(
            "One visit over time ({setting}{way}): throughput stacked by stream; the line is the goodput."
        );
        let svg = super::throughput(run, direction)?;
        figures.extend(svg.map(|svg| Figure {
            name: format!("one-visit{suffix}.svg"),
            svg,
            caption,
        }));
    }
    Ok(figures)
}

/// A figure of `group` with its name and caption.
fn figure(group: &Group<'_>, name: &str, svg: String, caption: String) -> Drawing {
    let caption = match group.name.as_str() {
        "" => caption,
        apart => format!("{caption} These visits: {apart}."),
    };
    Drawing::Drawn(Figure {
        name: format!("{name}{}.svg", group.suffix),
        svg,
        caption,
    })
}

#[cfg(test)]
mod tests;
