//! One page with every figure and its findings.

use report::Page;
use report::page::Block;

use super::{cost, count, seeds};
use crate::study::{Figure, Finding, Studied};

/// The page: it opens without a network.
pub fn page(studies: &[Studied]) -> Page {
    let mut blocks = vec![
        Block::lead(count(studies)),
        Block::note("Each verdict is computed from the figures by the rule that stands below it."),
    ];
    blocks.extend(studies.iter().flat_map(section));
    Page::new("study", "Published studies, simulated again", blocks)
}

fn section(study: &Studied) -> Vec<Block> {
    let means = format!(
        "Means over {}; whiskers: standard deviation, where points are few. {}",
        seeds(study),
        cost(study)
    );
    let mut blocks = vec![
        Block::heading(study.title),
        Block::note(format!("{}.", study.source)),
        Block::Sentences(vec![study.setup.to_owned()]),
        Block::note(means),
    ];
    blocks.extend(study.figures.iter().flat_map(figure));
    blocks
}

fn figure(figure: &Figure) -> Vec<Block> {
    let mut blocks = vec![Block::heading(&figure.title)];
    blocks.extend(figure.findings.iter().flat_map(finding));
    let panels = figure.panels.iter();
    blocks.extend(panels.map(|panel| Block::figure(panel.name, &panel.caption, panel.chart())));
    blocks
}

fn finding(finding: &Finding) -> [Block; 2] {
    let (claim, verdict) = (finding.claim, finding.verdict());
    let seen = format!("\u{201c}{claim}\u{201d} {verdict}: {}.", finding.seen());
    [
        Block::Sentences(vec![seen]),
        Block::note(format!("Rule: {}", finding.rule)),
    ]
}
