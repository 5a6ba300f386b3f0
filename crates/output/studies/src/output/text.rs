//! The findings as text.

use std::fmt::Write;

use draw::render::terminal::beside;
use record::Origin;

use super::{cost, count, ids, verdicts};
use crate::figure::{Figure, Rows};
use crate::finding::Finding;
use crate::part::Shown;
use crate::study::{Studied, Study};

/// For the terminal: the studies that there are.
pub fn listing(studies: &[Study]) -> String {
    let mut text = String::new();
    for study in studies {
        let words = format!("{}. {}.", study.title, study.source);
        for line in beside(&format!("{:<9} ", study.name), &words) {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}

/// For the terminal: a line for each finding.
pub fn summary(studies: &[Studied]) -> String {
    let mut text = String::new();
    for study in studies {
        let _ = writeln!(text, "{}: {}", study.name, study.title);
        for figure in study.figures() {
            let _ = writeln!(text, "  {} ({})", figure.title, ids(figure));
            for finding in &figure.findings {
                let verdict = finding.verdict();
                let _ = writeln!(text, "    {verdict:<13}  {}", finding.claim);
            }
        }
        for left in study.left {
            let _ = writeln!(
                text,
                "  {} ({}): not made: {}",
                left.what, left.id, left.why
            );
        }
    }
    let _ = writeln!(text, "{}", count(studies));
    text
}

/// When and where.
fn place(origin: &Origin) -> String {
    let host = &origin.host;
    let processors = host.cpus.map(|cpus| format!(", {cpus} processors"));
    format!(
        "{}, trunkline {}{}.",
        origin.created,
        origin.trunkline_version,
        processors.unwrap_or_default()
    )
}

/// For repositories: all figures with their verdicts.
pub(super) fn index(studies: &[Studied], origin: &Origin) -> String {
    let mut text = format!("# Published studies, made again\n\n{}\n", count(studies));
    let _ = writeln!(text, "\n{}", place(origin));
    for study in studies {
        let _ = writeln!(
            text,
            "\n## {}\n\n{}. {}\n",
            study.title,
            study.source,
            count([study])
        );
        let _ = writeln!(text, "| figure | what | findings |\n|---|---|---|");
        for figure in study.figures() {
            let (ids, title, verdicts) = (ids(figure), &figure.title, verdicts(figure));
            let _ = writeln!(
                text,
                "| {ids} | [{title}]({}.md) | {verdicts} |",
                study.name
            );
        }
        for left in study.left {
            let _ = writeln!(
                text,
                "| {} | {} | not made: {} |",
                left.id, left.what, left.why
            );
        }
    }
    text
}

/// For repositories: what the page of a study says, with the plots beside it.
pub(super) fn study(study: &Studied, origin: &Origin) -> String {
    let mut text = format!(
        "# {}\n\n{}.\n\n{}\n",
        study.title,
        study.source,
        count([study])
    );
    let _ = writeln!(text, "\n{}", place(origin));
    study.parts.iter().for_each(|part| section(&mut text, part));
    if !study.left.is_empty() {
        let _ = writeln!(text, "\n## Not made\n");
        for left in study.left {
            let _ = writeln!(text, "- {}, {}: {}.", left.id, left.what, left.why);
        }
    }
    text
}

fn section(text: &mut String, part: &Shown) {
    let _ = writeln!(text, "\n## {}\n\nAssumed: {}", part.title, part.assumed);
    let _ = writeln!(text, "\n{} {}", part.settings.join(" "), cost(part));
    part.figures.iter().for_each(|each| figure(text, each));
}

fn figure(text: &mut String, figure: &Figure) {
    let _ = writeln!(text, "\n### {} ({})\n", figure.title, ids(figure));
    figure.findings.iter().for_each(|each| finding(text, each));
    figure.tables.iter().for_each(|each| table(text, each));
    for panel in &figure.panels {
        let _ = writeln!(
            text,
            "\n![{}]({}.svg)\n\n{}",
            panel.caption, panel.name, panel.caption
        );
    }
}

fn table(text: &mut String, rows: &Rows) {
    let _ = writeln!(text, "\n| {} |", rows.columns.join(" | "));
    let _ = writeln!(text, "|{}", "---|".repeat(rows.columns.len()));
    for row in &rows.rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
}

fn finding(text: &mut String, finding: &Finding) {
    let _ = writeln!(
        text,
        "- \"{}\" **{}**: {}.\n  Rule: {}",
        finding.claim,
        finding.verdict(),
        finding.seen(),
        finding.rule
    );
}
