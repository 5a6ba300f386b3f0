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
mod measured;
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

/// Every plot of a document as a file of its own, with a name for it. Documents of copies, responsiveness and
/// emulated programs have none.
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
        let plots = [simulated::all(document)?, measured::all(document)?];
        let file =
            |(name, svg): (String, String)| (name, standalone::standalone(&svg, None).into());
        return Ok(plots.into_iter().flatten().map(file).collect());
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

#[cfg(test)]
mod tests {
    use record::AnyDocument;
    use record::synthetic::{self, Case};

    #[test]
    fn what_has_plots_on_its_page_has_them_as_files() {
        let documents: [AnyDocument; 6] = [
            synthetic::measure(&Case::streams(8, 1)).into(),
            synthetic::tune(1).into(),
            synthetic::demo(1).into(),
            synthetic::predict().into(),
            synthetic::fit().into(),
            synthetic::characteristics().into(),
        ];
        for document in documents {
            let files = super::files(&document).unwrap();
            let kind = document.schema().name();
            assert!(!files.is_empty(), "{kind}");
            let mut names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), files.len(), "{kind}: {names:?}");
            assert!(
                files.iter().all(|(_, svg)| svg.starts_with("<svg")),
                "{kind}"
            );
        }
    }
}
