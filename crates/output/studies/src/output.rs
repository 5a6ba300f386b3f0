//! Studies as files: a page and a text of each with its plots, a table of every point, and an index
//! of all.

mod page;
mod table;
mod text;

use draw::ChartError;
use draw::format;
use draw::render::html;
use record::Origin;

use crate::figure::Figure;
use crate::finding::Verdict;
use crate::part::Shown;
use crate::study::{Studied, Tally};

pub use text::{listing, summary};

/// Every file with its name.
///
/// # Errors
/// When a chart cannot be drawn.
pub fn files(studies: &[Studied], origin: &Origin) -> Result<Vec<(String, String)>, ChartError> {
    let mut files = Vec::new();
    for study in studies {
        let page = page::study(study);
        files.extend(page.charts()?);
        files.push((
            format!("{}.html", study.name),
            html::html(&page, &report::source(origin))?,
        ));
        files.push((format!("{}.md", study.name), text::study(study, origin)));
        files.push((format!("{}.csv", study.name), table::table(study)));
    }
    files.push(("index.md".to_owned(), text::index(studies, origin)));
    let index = html::html(&page::index(studies), &report::source(origin))?;
    files.push(("index.html".to_owned(), index));
    Ok(files)
}

/// What it took.
fn cost(part: &Shown) -> String {
    match part.runs {
        0 => "Computed from formulas.".to_owned(),
        runs => format!(
            "{runs} simulations, {} of processor time.",
            format::time(part.cpu.as_secs_f64())
        ),
    }
}

/// How many figures were made and findings have each verdict.
fn count<'a>(studies: impl IntoIterator<Item = &'a Studied>) -> String {
    let tally = Tally::of(studies);
    format!(
        "{} of {} figures and tables are made again. Of {} findings, {} hold, {} hold in part and \
            {} do not hold.",
        tally.figures,
        tally.figures + tally.left,
        tally.hold + tally.in_part + tally.fail,
        tally.hold,
        tally.in_part,
        tally.fail
    )
}

/// `F3, F4`, or that it is about the text.
fn ids(figure: &Figure) -> String {
    match figure.ids {
        [] => "text".to_owned(),
        ids => ids.join(", "),
    }
}

/// How many of a figure's findings have each verdict: `2 hold, 1 in part`.
fn verdicts(figure: &Figure) -> String {
    let of = |verdict| {
        let findings = figure.findings.iter();
        findings.filter(|each| each.verdict() == verdict).count()
    };
    let words = [
        (of(Verdict::Holds), "holds", "hold"),
        (of(Verdict::InPart), "in part", "in part"),
        (of(Verdict::DoesNotHold), "does not hold", "do not hold"),
    ];
    let words = words.into_iter().filter(|(count, _, _)| *count > 0);
    let word = |(count, one, several): (usize, &str, &str)| match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {several}"),
    };
    let words: Vec<String> = words.map(word).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests;
