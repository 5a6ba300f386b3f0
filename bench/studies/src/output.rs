//! Studies as files: plots, a table of every point, a text and a page with the findings.

mod page;
mod table;
mod text;

use record::Origin;
use report::ChartError;
use report::format;
use report::render::html;

use crate::study::{Finding, Studied, Verdict};

pub use text::summary;

/// Every file with its name.
///
/// # Errors
/// When a chart cannot be drawn.
pub fn files(studies: &[Studied], origin: &Origin) -> Result<Vec<(String, String)>, ChartError> {
    let page = page::page(studies);
    let mut files = page.charts()?;
    files.extend(studies.iter().map(table::file));
    files.push(("findings.md".to_owned(), text::markdown(studies, origin)));
    files.push(("index.html".to_owned(), html::html(&page, Some(origin))?));
    Ok(files)
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
