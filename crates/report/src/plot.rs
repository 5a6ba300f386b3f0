//! Plots as SVG text: no fonts, scripts or images from elsewhere.
//!
//! Everything is drawn on a canvas twice as fine as it is shown, because the drawing library rounds
//! to whole units. Text and lines use few fixed colours, [`palette`], so that a page can restyle
//! them for dark screens. Legends stand above the data, never on it.
//!
//! Reading order: [`axis`], [`canvas`], [`legend`], then one file for each plot.

pub mod axis;
pub mod canvas;
pub mod compare;
pub mod copied;
pub mod heatmap;
pub mod legend;
pub mod lines;
pub mod loaded;
pub mod palette;
pub mod predicted;
pub mod rates;
pub mod round_trips;
mod sheet;
pub mod simulated;
pub mod standalone;
pub mod streams;
pub mod sweep;
pub mod throughput;

use std::fmt::Display;

use record::{AnyDocument, Measure};
use thiserror::Error;

pub use compare::compare;
pub use round_trips::round_trips;
pub use streams::against_streams;
pub use throughput::throughput;

/// Every plot of a document as a file of its own, with a name for it; most kinds of documents have none.
///
/// # Errors
/// When the drawing library fails.
pub fn files(document: &AnyDocument) -> Result<Vec<(String, String)>, PlotError> {
    files_with(document, None)
}

/// The same; of a sweep with the readings of one visit, see [`sweep::representative`].
///
/// # Errors
/// When the drawing library fails.
pub fn files_with(
    document: &AnyDocument,
    visit: Option<&Measure>,
) -> Result<Vec<(String, String)>, PlotError> {
    let AnyDocument::Sweep(sweep) = document else {
        let plots = simulated::all(document)?.into_iter();
        let file =
            |(name, svg): (String, String)| (name, standalone::standalone(&svg, None).into());
        return Ok(plots.map(file).collect());
    };
    let figures = sweep::all(&sweep.body, visit)?.into_iter();
    Ok(figures.map(sweep::Figure::into_file).collect())
}

/// A plot could not be drawn.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the plot could not be drawn: {0}")]
pub struct PlotError(String);

impl PlotError {
    fn from_drawing(error: impl Display) -> Self {
        PlotError(error.to_string())
    }
}
