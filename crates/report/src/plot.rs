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
pub mod legend;
pub mod lines;
pub mod loaded;
pub mod palette;
pub mod predicted;
pub mod rates;
pub mod round_trips;
pub mod simulated;
pub mod streams;
pub mod throughput;

use std::fmt::Display;

use thiserror::Error;

pub use compare::compare;
pub use round_trips::round_trips;
pub use streams::against_streams;
pub use throughput::throughput;

/// A plot could not be drawn.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the plot could not be drawn: {0}")]
pub struct PlotError(String);

impl PlotError {
    fn from_drawing(error: impl Display) -> Self {
        PlotError(error.to_string())
    }
}
