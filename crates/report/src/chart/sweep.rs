//! The figures of a sweep.
//!
//! Reading order: `against.rs` with `curves.rs` (most of them), then one file for each other figure.

mod against;
mod curves;
mod delay;
mod duration;
mod map;
mod processor;
mod variability;

use record::{AnyDocument, Measure, StreamDirection, Sweep};

use super::PlotError;
use super::standalone::standalone;
use crate::swept::metric::GOODPUT;
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
    groups(sweep, &sweep.analysis())
        .iter()
        .map(section)
        .collect()
}

/// The figures of one group.
///
/// # Errors
/// When the drawing library fails.
pub fn section(group: &Group<'_>) -> Result<Section, PlotError> {
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

/// The number under which the archive keeps a visit that stands for the others: of the recommended setting, or of the
/// one with the highest median, the visit that comes nearest to the median. `None` for other documents, and where no
/// readings were kept.
pub fn representative(document: &AnyDocument) -> Option<i64> {
    let AnyDocument::Sweep(sweep) = document else {
        return None;
    };
    let analysis = sweep.body.analysis();
    let groups = groups(&sweep.body, &analysis);
    let group = groups.first()?;
    let (streams, window) = group.recommended().or_else(|| group.best_setting())?;
    let median = group.spread(streams, window, &GOODPUT)?.middle;
    let cells = sweep.body.cells.iter();
    let visits = cells.filter_map(|cell| {
        let figures = cell.figures.as_ref()?;
        let mut ours = group.visits(streams, window).iter();
        let is_ours = ours.any(|visit| std::ptr::eq(*visit, figures));
        let off = (figures.goodput_bits_per_second as f64 - median).abs();
        Some((cell.run.filter(|_| is_ours)?, off))
    });
    visits
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(run, _)| run)
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
        let setting = crate::text::setting(&run.setting);
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
