//! What people see of result documents: pages, sentences, rows of values.
//!
//! A page is made of blocks, which [`draw`] draws for a terminal or a browser. Nothing here
//! measures or judges; the figures and the reasons stand in the document. A document may come from
//! anywhere, so its texts are escaped or stripped of control characters and its numbers are not
//! trusted to be sensible.
//!
//! What is left out: charts in the terminal, and pages over many documents but comparisons of two
//! and sweeps of several paths.
//!
//! Reading order: [`mod@text`] (sentences), [`mod@page`], [`rows`].

pub mod page;
pub mod rows;
#[cfg(test)]
mod tests;
pub mod text;

use draw::page::Fact;
use draw::{ChartError, Paint, format, render};
use record::{AnyDocument, Document, Host, Measure, Origin, Sweep};

pub use page::sweep::representative;

/// The text of a document for a terminal, with a line break at the end.
pub fn text(document: &AnyDocument, paint: Paint) -> String {
    render::terminal::text(&page::page(document, None), paint)
}

/// The page of a document for a browser; of a sweep with the readings of one visit, see
/// [`representative`].
///
/// # Errors
/// When a chart cannot be drawn.
pub fn html(document: &AnyDocument, visit: Option<&Measure>) -> Result<String, ChartError> {
    let page = page::page(document, visit);
    render::html::html(&page, &source(document.origin()))
}

/// The page of several sweeps beside each other, each with its number in the archive: for a
/// terminal, and for a browser.
///
/// # Errors
/// When a chart cannot be drawn.
pub fn sweeps(
    sweeps: &[(i64, Document<Sweep>)],
    paint: Paint,
) -> Result<(String, String), ChartError> {
    let bodies: Vec<(i64, &Sweep)> = sweeps.iter().map(|(id, one)| (*id, &one.body)).collect();
    let page = page::sweeps::page(&bodies);
    let origin = sweeps.first().map(|(_, one)| source(&one.origin));
    let html = render::html::html(&page, &origin.unwrap_or_default())?;
    Ok((render::terminal::text(&page, paint), html))
}

/// Every chart of the page as an SVG file, each with its name.
///
/// # Errors
/// When the drawing library fails.
pub fn charts(
    document: &AnyDocument,
    visit: Option<&Measure>,
) -> Result<Vec<(String, String)>, ChartError> {
    page::page(document, visit).charts()
}

/// Where a document comes from, in one or two lines of a terminal.
pub fn origin(origin: &Origin) -> String {
    let host = origin.host.name.as_deref().unwrap_or("an unnamed host");
    let command = origin.command_line.join(" ");
    render::terminal::sentence(&format!("{command} on {host} at {}", origin.created))
}

/// Where a document comes from, for those who want to repeat it.
pub fn source(origin: &Origin) -> Vec<Fact> {
    let facts = [
        Some(("Command", origin.command_line.join(" "))),
        Some(("Date", origin.created.clone())),
        Some(("Host", host(&origin.host))),
        origin.seed.map(|seed| ("Seed", seed.to_string())),
        Some(("Version", format!("trunkline {}", origin.trunkline_version))),
    ];
    let facts = facts.into_iter().flatten();
    facts.map(|(name, text)| Fact::plain(name, text)).collect()
}

fn host(host: &Host) -> String {
    let parts = [
        host.name.clone(),
        host.kernel.as_ref().map(|kernel| format!("Linux {kernel}")),
        host.cpus.map(|cpus| format!("{cpus} processors")),
        host.memory_bytes
            .map(|bytes| format!("{} of memory", format::size(bytes))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
