//! What people see: terminal text, SVG plots and one-file HTML pages, all from result documents.
//!
//! Nothing here measures or judges; the figures and the reasons stand in the document. A document
//! may come from anywhere, so its texts are escaped or stripped of control characters and its
//! numbers are not trusted to be sensible.
//!
//! What is left out: plots in the terminal, and pages over many documents but comparisons of two.
//!
//! Reading order: [`format`] and [`text`] (numbers and sentences), [`comparison`] and
//! [`grid`], [`swept`], [`terminal`], [`chart`], [`html`], [`history`], [`study`].

pub mod characteristic;
pub mod chart;
pub mod comparison;
pub mod copied;
pub mod format;
pub mod grid;
pub mod history;
pub mod html;
pub mod predicted;
pub mod responsive;
mod rows;
pub mod study;
pub mod swept;
pub mod terminal;
pub mod text;

pub use chart::sweep::representative;
pub use chart::{PlotError, files as plots, files_with as plots_with};
pub use html::{page, page_with};
pub use rows::rows;
pub use terminal::{Paint, origin, text};
