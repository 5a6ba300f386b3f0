//! One page with every figure and its findings.

use campaign::study::{Figure, Finding, Studied};
use maud::{Markup, html};
use record::Origin;

use super::{cost, count, seeds};
use crate::chart::PlotError;
use crate::chart::lines::lines;
use crate::html::{around, facts, parts};

/// The page: it opens without a network.
///
/// # Errors
/// When a plot cannot be drawn.
pub fn page(studies: &[Studied], origin: &Origin) -> Result<String, PlotError> {
    let sections: Result<Vec<Markup>, PlotError> = studies.iter().map(section).collect();
    let body = html! {
        p.lead { (count(studies)) }
        p.note { "Each verdict is computed from the figures by the rule that stands below it." }
        @for section in sections? { (section) }
        (facts::section(origin))
    };
    Ok(around("study", "Published studies, simulated again", &body).into_string())
}

fn section(study: &Studied) -> Result<Markup, PlotError> {
    let figures: Result<Vec<Markup>, PlotError> = study.figures.iter().map(figure).collect();
    Ok(html! {
        h2 id=(study.name) { (study.title) }
        p.note { (study.source) "." }
        p { (study.setup) }
        p.note { "Means over " (seeds(study)) "; whiskers: standard deviation, where points are few. " (cost(study)) }
        @for figure in figures? { (figure) }
    })
}

fn figure(figure: &Figure) -> Result<Markup, PlotError> {
    let draw = |panel| Ok(parts::plot(&lines(panel)?, &panel.caption));
    let plots: Result<Vec<Markup>, PlotError> = figure.panels.iter().map(draw).collect();
    Ok(html! {
        h3 { (figure.title) }
        @for each in &figure.findings { (finding(each)) }
        @for plot in plots? { (plot) }
    })
}

fn finding(finding: &Finding) -> Markup {
    html! {
        div.why {
            p {
                "\u{201c}" (finding.claim) "\u{201d} "
                strong { (finding.verdict().to_string()) } ": " (finding.seen()) "."
            }
            p.note { "Rule: " (finding.rule) }
        }
    }
}
