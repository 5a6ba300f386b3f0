//! What people see: terminal text, SVG charts and one-file HTML pages, all from result documents.
//!
//! A [`Page`] says what is shown of a document, as blocks in order; [`render`] draws it for a
//! terminal or a browser. Nothing here measures or judges; the figures and the reasons stand in the
//! document. A document may come from anywhere, so its texts are escaped or stripped of control
//! characters and its numbers are not trusted to be sensible.
//!
//! What is left out: charts in the terminal, and pages over many documents but comparisons of two.
//!
//! Reading order: [`mod@format`] and [`mod@text`] (numbers and sentences), [`page`], [`chart`],
//! [`render`], [`rows`].

pub mod chart;
pub mod format;
pub mod page;
mod plain;
pub mod render;
pub mod rows;
pub mod text;

use record::{AnyDocument, Measure};

pub use chart::ChartError;
pub use page::Page;
pub use page::sweep::representative;
pub use render::Paint;

/// The text of a document for a terminal, with a line break at the end.
pub fn text(document: &AnyDocument, paint: Paint) -> String {
    render::terminal::text(&Page::of(document), paint)
}

/// The page of a document for a browser; of a sweep with the readings of one visit, see
/// [`representative`].
///
/// # Errors
/// When a chart cannot be drawn.
pub fn html(document: &AnyDocument, visit: Option<&Measure>) -> Result<String, ChartError> {
    render::html::html(&Page::with(document, visit), Some(document.origin()))
}

/// Every chart of the page as an SVG file, each with its name.
///
/// # Errors
/// When the drawing library fails.
pub fn charts(
    document: &AnyDocument,
    visit: Option<&Measure>,
) -> Result<Vec<(String, String)>, ChartError> {
    Page::with(document, visit).charts()
}
