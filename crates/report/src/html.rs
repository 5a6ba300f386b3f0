//! One page in one file: it opens without a network, on a phone, on paper and in the dark.
//!
//! Styles and plots stand in the page itself; there are no scripts. Texts from the document are
//! escaped by the template.

mod campaign;
mod characteristics;
mod comparison;
mod copied;
mod demo;
mod emulation;
pub(crate) mod facts;
mod measure;
pub(crate) mod parts;
mod predict;
mod responsiveness;
mod simulate;
mod sweep;
mod sweep_comparison;
mod tune;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use record::archive::Comparison;
use record::{AnyDocument, Measure, SweepComparison};

use crate::chart::PlotError;

const STYLE: &str = include_str!("html/style.css");

/// The page of any document.
///
/// # Errors
/// When a plot cannot be drawn.
pub fn page(document: &AnyDocument) -> Result<String, PlotError> {
    page_with(document, None)
}

/// The same; of a sweep with the readings of one visit, see [`crate::representative`].
///
/// # Errors
/// When a plot cannot be drawn.
pub fn page_with(document: &AnyDocument, visit: Option<&Measure>) -> Result<String, PlotError> {
    let (kind, body) = match document {
        AnyDocument::Measure(document) => ("measure", measure::body(&document.body)?),
        AnyDocument::Tune(document) => ("tune", tune::body(&document.body)?),
        AnyDocument::Demo(document) => ("demo", demo::body(&document.body)?),
        AnyDocument::Emulate(document) => ("emulate", emulation::body(&document.body)),
        AnyDocument::Simulate(document) => ("simulate", simulate::body(&document.body)?),
        AnyDocument::Campaign(document) => ("campaign", campaign::body(&document.body)?),
        AnyDocument::Predict(document) => ("predict", predict::predict(&document.body)?),
        AnyDocument::Fit(document) => ("fit", predict::fit(&document.body)?),
        AnyDocument::Sweep(document) => ("sweep", sweep::body(&document.body, visit)?),
        AnyDocument::Characteristics(document) => ("path", characteristics::body(&document.body)?),
        AnyDocument::Responsiveness(document) => {
            ("responsiveness", responsiveness::body(&document.body)?)
        }
        AnyDocument::Copy(document) => ("copy", copied::body(&document.body)?),
    };
    let body = html! { (body) (facts::section(document.origin())) };
    let title = match document {
        AnyDocument::Copy(document) => crate::copied::title(&document.body),
        _ => target(document).to_owned(),
    };
    Ok(around(kind, &title, &body).into_string())
}

/// The page that sets two kept documents side by side.
pub fn comparison(comparison: &Comparison) -> String {
    let title = format!("run {} and run {}", comparison.from.id, comparison.to.id);
    around("history", &title, &comparison::body(comparison)).into_string()
}

/// The page that sets two sweeps side by side.
pub fn sweep_comparison(comparison: &SweepComparison) -> String {
    let (from, to) = (&comparison.from.target, &comparison.to.target);
    let title = match from == to {
        true => from.clone(),
        false => format!("{from} and {to}"),
    };
    let body = sweep_comparison::body(comparison);
    around("history", &title, &body).into_string()
}

fn target(document: &AnyDocument) -> &str {
    match document {
        AnyDocument::Measure(document) => &document.body.target.name,
        AnyDocument::Tune(document) => &document.body.target.name,
        AnyDocument::Demo(document) => &document.body.target.name,
        AnyDocument::Emulate(document) => &document.body.path,
        AnyDocument::Simulate(document) => &document.body.path.name,
        AnyDocument::Campaign(document) => &document.body.path.name,
        AnyDocument::Predict(document) => &document.body.path.name,
        AnyDocument::Fit(document) => &document.body.file,
        AnyDocument::Sweep(document) => &document.body.target.name,
        AnyDocument::Characteristics(document) => &document.body.target.name,
        AnyDocument::Responsiveness(document) => &document.body.target.name,
        AnyDocument::Copy(document) => &document.body.destination,
    }
}

/// A whole page around `body`.
pub(crate) fn around(kind: &str, title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "trunkline " (kind) ": " (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    p.kind { "trunkline " (kind) }
                    h1 { (title) }
                }
                main { (body) }
            }
        }
    }
}

#[cfg(test)]
mod tests;
