//! Studies as files: plots, a table of every point, a text and a page with the findings.
//!
//! Unlike everything else here these come from the studies themselves, not from a document: whether
//! a finding holds is decided by the numbers of all runs, which no document keeps.

mod page;
mod table;
mod text;

use campaign::study::{Finding, Studied, Verdict};

use crate::chart::PlotError;
use crate::chart::lines::lines;
use crate::format;

pub use page::page;
pub use text::{markdown, summary};

/// The plots, each with the name of its file.
///
/// # Errors
/// When one cannot be drawn.
pub fn plots(studies: &[Studied]) -> Result<Vec<(String, String)>, PlotError> {
    let figures = studies.iter().flat_map(|study| &study.figures);
    let panels = figures.flat_map(|figure| &figure.panels);
    let drawn = panels.map(|panel| Ok((format!("{}.svg", panel.name), lines(panel)?)));
    drawn.collect()
}

/// Every point of every plot, a table for each study, each with the name of its file.
pub fn tables(studies: &[Studied]) -> Vec<(String, String)> {
    let table = |study: &Studied| (format!("{}.csv", study.name), table::csv(study));
    studies.iter().map(table).collect()
}

/// What it took.
fn cost(study: &Studied) -> String {
    format!(
        "{} simulations, {} of processor time.",
        study.runs,
        format::time(study.cpu.as_secs_f64())
    )
}

/// How many findings have each verdict.
fn count(studies: &[Studied]) -> String {
    let findings: Vec<&Finding> = studies
        .iter()
        .flat_map(|study| &study.figures)
        .flat_map(|figure| &figure.findings)
        .collect();
    let of = |verdict| {
        let same = findings
            .iter()
            .filter(|finding| finding.verdict() == verdict);
        same.count()
    };
    format!(
        "Of {} findings, {} hold, {} hold in part and {} do not hold.",
        findings.len(),
        of(Verdict::Holds),
        of(Verdict::InPart),
        of(Verdict::DoesNotHold)
    )
}

/// `1 to 3`, or the only one.
fn seeds(study: &Studied) -> String {
    match study.seeds {
        1 => "seed 1".to_owned(),
        last => format!("seeds 1 to {last}"),
    }
}

#[cfg(test)]
mod tests;
