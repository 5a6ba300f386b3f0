//! A document as people read it: each kind has one file here that says which blocks its page has.
//!
//! Reading order: this file, `run.rs` (what pages of runs share), then any kind.

mod beside;
mod campaign;
mod copy;
mod datagrams;
mod demo;
mod emulation;
mod fit;
mod history;
mod measure;
mod multipath;
mod path;
mod predict;
mod responsiveness;
mod run;
mod simulate;
pub mod sweep;
mod sweep_comparison;
pub mod sweeps;
pub mod tune;

use archive::{Comparison, Listed};
use record::characteristics::LeftOut;
use record::{AnyDocument, Measure, Punctuality, SweepComparison};

use draw::page::{Block, List, Page, Table};

use crate::text;

/// The page of a document; of a sweep with the readings of one visit, see
/// [`crate::representative`].
pub fn page(document: &AnyDocument, visit: Option<&Measure>) -> Page {
    let mut page = match document {
        AnyDocument::Measure(document) => measure::page(&document.body),
        AnyDocument::Tune(document) => tune::page(&document.body),
        AnyDocument::Demo(document) => demo::page(&document.body),
        AnyDocument::Emulate(document) => emulation::page(&document.body),
        AnyDocument::Simulate(document) => simulate::page(&document.body),
        AnyDocument::Campaign(document) => campaign::page(&document.body),
        AnyDocument::Fluid(document) => simulate::fluid::page(&document.body),
        AnyDocument::Predict(document) => predict::page(&document.body),
        AnyDocument::Fit(document) => fit::page(&document.body),
        AnyDocument::Sweep(document) => sweep::page(&document.body, visit),
        AnyDocument::Characteristics(document) => path::page(&document.body),
        AnyDocument::Responsiveness(document) => responsiveness::page(&document.body),
        AnyDocument::Datagrams(document) => datagrams::page(&document.body),
        AnyDocument::Copy(document) => copy::page(&document.body),
    };
    let busy = punctuality(document).and_then(text::host_was_busy);
    page.blocks
        .splice(..0, busy.map(|warning| Block::Sentences(vec![warning])));
    page
}

/// Two kept documents side by side.
pub fn comparing(comparison: &Comparison) -> Page {
    history::comparison(comparison)
}

/// Two sweeps side by side.
pub fn comparing_sweeps(comparison: &SweepComparison) -> Page {
    sweep_comparison::page(comparison)
}

/// Of documents that may be of an emulated path.
fn punctuality(document: &AnyDocument) -> Option<&Punctuality> {
    let target = match document {
        AnyDocument::Measure(document) => &document.body.target,
        AnyDocument::Tune(document) => &document.body.target,
        AnyDocument::Demo(document) => &document.body.target,
        AnyDocument::Sweep(document) => &document.body.target,
        AnyDocument::Characteristics(document) => &document.body.target,
        AnyDocument::Responsiveness(document) => &document.body.target,
        AnyDocument::Datagrams(document) => &document.body.target,
        _ => return None,
    };
    target.punctuality.as_ref()
}

/// The list of kept documents, for a terminal.
pub fn list(entries: &[Listed]) -> Table {
    history::list(entries)
}

/// What could not be measured, and what would make it possible.
fn left_out(left_out: &[LeftOut]) -> Vec<Block> {
    if left_out.is_empty() {
        return Vec::new();
    }
    let items = path::left_out(left_out);
    let shown = items.len();
    vec![
        Block::heading("Left out"),
        Block::List(List { items, shown }),
    ]
}

/// The part of a name for a file that a document's word may stand for: it must not lead to another
/// place.
fn file_part(word: &str) -> String {
    let is_safe = |c: &char| c.is_ascii_alphanumeric() || *c == '+';
    text::plain(word).chars().filter(is_safe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Document, synthetic};

    #[test]
    fn a_host_that_was_too_busy_is_told_of_before_any_figure() {
        let mut document = synthetic::measure(&synthetic::Case::streams(2, 1));
        let is_told = |document: &Document<Measure>| {
            let page = page(&document.clone().into(), None);
            matches!(&page.blocks[0], Block::Sentences(told) if told[0].contains("too busy"))
        };
        assert!(!is_told(&document));
        document.body.target.punctuality.as_mut().unwrap().late = 2400;
        assert!(is_told(&document));
    }
}
