//! Pages that open without a network: one of each study, and an index.

use draw::Page;
use draw::page::{Block, Cell, Column, Row, Table};

use super::{cost, count, ids, verdicts};
use crate::figure::{Figure, Rows};
use crate::finding::Finding;
use crate::part::Shown;
use crate::study::{Left, Studied};

/// All figures of all studies with their verdicts.
pub(super) fn index(studies: &[Studied]) -> Page {
    let mut blocks = vec![Block::lead(count(studies))];
    for study in studies {
        blocks.push(Block::heading(study.title));
        blocks.push(Block::lead(count([study])));
        blocks.push(Block::note(format!("{}.", study.source)));
        blocks.push(Block::Table(figures(study)));
    }
    Page::new("study", "Published studies, made again", blocks)
}

fn figures(study: &Studied) -> Table {
    let page = format!("{}.html", study.name);
    let made = study.figures().map(|figure| {
        let cells = [
            ids(figure).into(),
            Cell::link(&figure.title, &page),
            verdicts(figure).into(),
        ];
        Row::new(cells)
    });
    let left = study.left.iter().map(|left| {
        let why = format!("not made: {}", left.why);
        Row::new([left.id.to_owned(), left.what.to_owned(), why])
    });
    let columns = [
        Column::words("figure"),
        Column::words("what"),
        Column::text("findings"),
    ];
    Table::new(columns, made.chain(left))
}

/// One study.
pub(super) fn study(study: &Studied) -> Page {
    let mut blocks = vec![
        Block::lead(count([study])),
        Block::note(format!(
            "{}. Each verdict is computed from the figures by the rule that stands below it.",
            study.source
        )),
    ];
    blocks.extend(study.parts.iter().flat_map(section));
    if !study.left.is_empty() {
        blocks.push(Block::heading("Not made"));
        let left = study.left.iter().map(left);
        blocks.push(Block::Sentences(left.collect()));
    }
    Page::new("study", study.title, blocks)
}

fn left(left: &Left) -> String {
    format!("{}, {}: {}.", left.id, left.what, left.why)
}

fn section(part: &Shown) -> Vec<Block> {
    let mut blocks = vec![Block::heading(part.title)];
    blocks.push(Block::Sentences(vec![format!("Assumed: {}", part.assumed)]));
    let mut run = part.settings.clone();
    run.push(cost(part));
    blocks.push(Block::note(run.join(" ")));
    blocks.extend(part.figures.iter().flat_map(figure));
    blocks
}

fn figure(figure: &Figure) -> Vec<Block> {
    let title = format!("{} ({})", figure.title, ids(figure));
    let mut blocks = vec![Block::heading(title)];
    blocks.extend(figure.findings.iter().flat_map(finding));
    blocks.extend(figure.tables.iter().map(|rows| Block::Table(table(rows))));
    let panels = figure.panels.iter();
    blocks.extend(panels.map(|panel| Block::figure(panel.name, &panel.caption, panel.chart())));
    blocks
}

fn table(rows: &Rows) -> Table {
    let column = |(index, heading): (usize, &&str)| match index {
        0 => Column::name(*heading),
        _ => Column::number(*heading),
    };
    let columns = rows.columns.iter().enumerate().map(column);
    Table::new(columns, rows.rows.iter().map(|row| Row::new(row.clone())))
}

fn finding(finding: &Finding) -> [Block; 2] {
    let (claim, verdict) = (&finding.claim, finding.verdict());
    let seen = format!("\u{201c}{claim}\u{201d} {verdict}: {}.", finding.seen());
    [
        Block::Sentences(vec![seen]),
        Block::note(format!("Rule: {}", finding.rule)),
    ]
}
