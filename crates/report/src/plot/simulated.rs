//! Plots of simulations: over time, and over many settings.

pub mod heatmap;
pub mod over_time;
pub mod streams;

pub use heatmap::heatmap;
pub use over_time::{goodput, windows_and_queue};
pub use streams::against_streams;
