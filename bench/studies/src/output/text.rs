//! The findings as text.

use std::fmt::Write;

use record::Origin;

use super::{cost, count, seeds};
use crate::study::{Figure, Finding, Studied};

/// For the terminal: a line for each finding.
pub fn summary(studies: &[Studied]) -> String {
    let mut text = String::new();
    for study in studies {
        let _ = writeln!(text, "{}: {}", study.name, study.title);
        let findings = study.figures.iter().flat_map(|figure| &figure.findings);
        for finding in findings {
            let verdict = finding.verdict();
            let _ = writeln!(text, "  {verdict:<13}  {}", finding.claim);
        }
    }
    let _ = writeln!(text, "{}", count(studies));
    text
}

/// For repositories: what the page says, with the plots beside it.
pub fn markdown(studies: &[Studied], origin: &Origin) -> String {
    let mut text = format!("# Studies again\n\n{}\n", count(studies));
    let host = &origin.host;
    let processors = host.cpus.map(|cpus| format!(", {cpus} processors"));
    let _ = writeln!(
        text,
        "\n{}, trunkline {}{}.",
        origin.created,
        origin.trunkline_version,
        processors.unwrap_or_default()
    );
    studies.iter().for_each(|study| section(&mut text, study));
    text
}

fn section(text: &mut String, study: &Studied) {
    let _ = writeln!(text, "\n## {}\n\n*{}.*", study.title, study.source);
    let _ = writeln!(text, "\n{}", study.setup);
    let _ = writeln!(
        text,
        "\nMeans over {}; whiskers: standard deviation, where points are few. {}",
        seeds(study),
        cost(study)
    );
    study.figures.iter().for_each(|each| figure(text, each));
}

fn figure(text: &mut String, figure: &Figure) {
    let _ = writeln!(text, "\n### {}\n", figure.title);
    figure.findings.iter().for_each(|each| finding(text, each));
    for panel in &figure.panels {
        let _ = writeln!(
            text,
            "\n![{}]({}.svg)\n\n{}",
            panel.caption, panel.name, panel.caption
        );
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
