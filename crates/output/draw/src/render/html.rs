//! One page in one file: it opens without a network, on a phone, on paper and in the dark.
//!
//! Styles and charts stand in the page itself; there are no scripts. Texts are escaped by the
//! template.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::chart::ChartError;
use crate::page::{
    Align, Block, Cell, Column, Command, Fact, Figure, Medium, Page, Row, Standing, Table,
};
use crate::words::{plain, sentence};

/// The style sheet of pages and of the charts in them.
pub const STYLE: &str = include_str!("style.css");

/// The page, with where its figures come from, if that is known.
///
/// # Errors
/// When a chart cannot be drawn.
pub fn html(page: &Page, origin: &[Fact]) -> Result<String, ChartError> {
    let body = sections(&page.blocks)?;
    let title = plain(&page.title);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "trunkline " (page.kind) ": " (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    p.kind { "trunkline " (page.kind) }
                    h1 { (title) }
                    @if !page.subtitle.is_empty() { p.setting { (plain(&page.subtitle)) } }
                }
                main { (body) }
                @if !origin.is_empty() { (source(origin)) }
            }
        }
    };
    Ok(page.into_string())
}

/// Where the figures come from.
fn source(facts: &[Fact]) -> Markup {
    html! {
        footer {
            h2 { "Where this comes from" }
            (pairs(facts.iter()))
        }
    }
}

/// Blocks one after another, each section with its conclusion at its top, for a page with its own
/// head.
///
/// # Errors
/// When a chart cannot be drawn.
pub fn sections(blocks: &[Block]) -> Result<Markup, ChartError> {
    let blocks = shown(blocks);
    let mut drawn = Vec::new();
    for section in blocks.chunk_by(|_, next| !matches!(next, Block::Heading(_))) {
        let mut section = section.to_vec();
        section.sort_by_key(|block| rank(block));
        for block in section {
            drawn.push(draw(block)?);
        }
    }
    Ok(html! { @for block in drawn { (block) } })
}

/// The blocks that a browser shows.
fn shown(blocks: &[Block]) -> Vec<&Block> {
    let mut all = Vec::new();
    for block in blocks {
        match block {
            Block::Only(Medium::Browser, blocks) => all.extend(shown(blocks)),
            Block::Only(Medium::Terminal, _) => {}
            block => all.push(block),
        }
    }
    all
}

/// The order within a section: a page is read from its top, where a terminal shows the end of a
/// text.
fn rank(block: &Block) -> usize {
    match block {
        Block::Heading(_) => 0,
        Block::About(_) => 1,
        Block::Lead(_) => 2,
        Block::Facts(_) => 3,
        Block::Why(_) => 4,
        _ => 5,
    }
}

fn draw(block: &Block) -> Result<Markup, ChartError> {
    Ok(match block {
        Block::About(text) => html! { p.setting { (plain(text)) } },
        Block::Heading(text) => html! { h2 { (plain(text)) } },
        Block::Lead(text) => html! { p.lead { (plain(text)) } },
        Block::Facts(facts) => self::facts(facts),
        Block::Why(sentences) if sentences.is_empty() => Markup::default(),
        Block::Why(sentences) => html! { section.why { (paragraphs(sentences)) } },
        Block::Sentences(sentences) => paragraphs(sentences),
        Block::Note(text) => html! { p.note { (plain(text)) } },
        Block::List(list) => html! { ul { @for item in &list.items { li { (plain(item)) } } } },
        Block::Table(table) => self::table(table),
        Block::Figure(figure) => self::figure(figure)?,
        Block::Commands(commands) => self::commands(commands),
        Block::Details {
            title,
            is_open,
            blocks,
        } => {
            let inside = sections(blocks)?;
            html! { details open[*is_open] { summary { (plain(title)) } (inside) } }
        }
        Block::Only(..) => Markup::default(),
    })
}

fn paragraphs(sentences: &[String]) -> Markup {
    html! { @for sentence in sentences { p { (plain(sentence)) } } }
}

/// Those with a value as tiles, the others as a list.
fn facts(facts: &[Fact]) -> Markup {
    let (tiles, others): (Vec<&Fact>, Vec<&Fact>) =
        facts.iter().partition(|fact| !fact.value.is_empty());
    html! {
        @if !tiles.is_empty() {
            div.tiles {
                @for fact in tiles {
                    div.tile {
                        span.name { (plain(&fact.name)) }
                        span.value { (plain(&fact.value)) }
                        span.note { (plain(&fact.rest())) }
                    }
                }
            }
        }
        @if !others.is_empty() { (pairs(others.into_iter())) }
    }
}

fn pairs<'a>(facts: impl Iterator<Item = &'a Fact>) -> Markup {
    html! {
        dl.facts {
            @for fact in facts { dt { (plain(&fact.name)) } dd { (plain(&fact.phrase())) } }
        }
    }
}

/// A chart with what it shows written below it.
fn figure(figure: &Figure) -> Result<Markup, ChartError> {
    let (svg, caption) = (figure.chart.svg()?, plain(&figure.caption));
    Ok(html! {
        figure {
            div.plot role="img" aria-label=(caption) tabindex="0" { (PreEscaped(svg)) }
            figcaption { (caption) }
        }
    })
}

fn commands(commands: &[Command]) -> Markup {
    html! {
        dl.settings {
            @for command in commands {
                dt { (plain(&command.name)) }
                dd {
                    @if !command.why.is_empty() { p.note { (plain(&command.why)) } }
                    pre { (plain(&command.line)) }
                    @if !command.note.is_empty() { p.note { (sentence(&command.note)) } }
                }
            }
        }
    }
}

fn table(table: &Table) -> Markup {
    let is_number = |column: &Column| column.align == Align::Number;
    html! {
        @if !table.rows.is_empty() {
            div.table tabindex="0" {
                table {
                    thead { tr {
                        @for column in &table.columns {
                            th.number[is_number(column)] { (plain(&column.heading)) }
                        }
                    } }
                    tbody { @for row in &table.rows { (self::row(table, row)) } }
                }
            }
        }
    }
}

fn row(table: &Table, row: &Row) -> Markup {
    let is_doubted = matches!(row.standing, Standing::Less | Standing::Aside);
    html! {
        tr.chosen[row.standing == Standing::Chosen].doubted[is_doubted] {
            @for (column, cell) in table.columns.iter().zip(&row.cells) {
                (self::cell(column, cell))
            }
        }
    }
}

fn cell(column: &Column, cell: &Cell) -> Markup {
    let text = plain(&cell.text);
    html! {
        td.number[column.align == Align::Number].text[column.align == Align::Text]
            data-name=(plain(&column.heading)) {
            @if let Some(link) = &cell.link { a href=(link) { (text) } }
            @else if cell.is_strong { strong { (text) } }
            @else { (text) }
        }
    }
}
