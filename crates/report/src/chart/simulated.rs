//! Plots of simulations: over time, and over many settings.

mod heatmap;
mod over_time;
mod streams;

pub use heatmap::heatmap;
pub use over_time::{goodput, windows_and_queue};
pub use streams::against_streams;

use record::{AnyDocument, Campaign, Simulate};

use super::PlotError;
use crate::grid::grids;
use crate::text::simulated::title;

/// Every plot of a simulation with a name for its file; other documents have none here.
///
/// # Errors
/// When the drawing library fails.
pub fn all(document: &AnyDocument) -> Result<Vec<(String, String)>, PlotError> {
    match document {
        AnyDocument::Simulate(document) => of_one(&document.body),
        AnyDocument::Campaign(document) => of_many(&document.body),
        _ => Ok(Vec::new()),
    }
}

fn of_one(body: &Simulate) -> Result<Vec<(String, String)>, PlotError> {
    let drawn = [
        ("goodput.svg", goodput(body)?),
        ("windows-and-queue.svg", windows_and_queue(body)?),
    ];
    Ok(drawn
        .into_iter()
        .filter_map(|(name, svg)| Some((name.to_owned(), svg?)))
        .collect())
}

fn of_many(body: &Campaign) -> Result<Vec<(String, String)>, PlotError> {
    let mut drawn = Vec::new();
    for grid in grids(body) {
        // A name from a document must not lead elsewhere.
        let variant: String = grid
            .variant
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || *c == '+')
            .collect();
        let title = title(&body.scenario);
        let curves = against_streams(&grid, title)?;
        let map = heatmap(&grid, title)?;
        drawn.extend(curves.map(|svg| (format!("streams-{variant}.svg"), svg)));
        drawn.extend(map.map(|svg| (format!("heatmap-{variant}.svg"), svg)));
    }
    Ok(drawn)
}
