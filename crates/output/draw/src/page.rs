//! A page as blocks in order, before [`crate::render`] draws it.
//!
//! A terminal and a browser show the same blocks; what only one of them has room for stands in a
//! [`Block::Only`].

use crate::chart::{Chart, ChartError, file};
pub use crate::table::{Align, Cell, Column, Row, Standing, Table};

/// What is shown of one document.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The kind of the document, as its schema has it.
    pub kind: &'static str,
    /// What it is about.
    pub title: String,
    /// What more belongs to the title; empty for nothing.
    pub subtitle: String,
    /// Whether a terminal shows it without empty lines.
    pub is_compact: bool,
    /// From the top down.
    pub blocks: Vec<Block>,
}

/// One part of a page. A [`Block::Heading`] begins a section, which reaches to the next one.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// What was run, in words.
    About(String),
    /// The title of a section.
    Heading(String),
    /// What the section comes down to, in a sentence. A browser shows it at the top of its section.
    Lead(String),
    /// Figures with their names.
    Facts(Vec<Fact>),
    /// Reasons for what was found. A browser shows them below lead and facts.
    Why(Vec<String>),
    /// Other sentences.
    Sentences(Vec<String>),
    /// What the headings of a table mean.
    Note(String),
    /// One line for each.
    List(List),
    /// Rows and columns.
    Table(Table),
    /// A chart; a terminal has none.
    Figure(Box<Figure>),
    /// Commands to paste.
    Commands(Vec<Command>),
    /// What a browser folds away below a title; a terminal shows it without one.
    Details {
        /// What is folded.
        title: String,
        /// Whether it is open at first.
        is_open: bool,
        /// What is in it.
        blocks: Vec<Block>,
    },
    /// For one medium alone.
    Only(Medium, Vec<Block>),
}

/// Where a page is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// A terminal of 80 columns.
    Terminal,
    /// A browser.
    Browser,
}

/// A figure with its name: `before value after` is one phrase. A browser shows those with a value
/// as tiles, the value large and the rest of the phrase below it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fact {
    /// What it is.
    pub name: String,
    /// The phrase up to the value.
    pub before: String,
    /// What to see first; empty where no part stands out.
    pub value: String,
    /// The rest of the phrase.
    pub after: String,
}

/// Lines of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    /// One for each.
    pub items: Vec<String>,
    /// How many a terminal shows.
    pub shown: usize,
}

/// A chart with the name of its file and what it shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Its name among the figures of its page, without an ending.
    pub name: String,
    /// What it shows, in sentences.
    pub caption: String,
    /// What is drawn.
    pub chart: Chart,
}

/// A command to paste.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// What it is for.
    pub name: String,
    /// What to know first, as a sentence; empty for nothing.
    pub why: String,
    /// The command.
    pub line: String,
    /// What to know about it; empty for nothing.
    pub note: String,
}

impl Page {
    /// A page without a subtitle.
    pub fn new(kind: &'static str, title: impl Into<String>, blocks: Vec<Block>) -> Self {
        Page {
            kind,
            title: title.into(),
            subtitle: String::new(),
            is_compact: false,
            blocks,
        }
    }

    /// The same with a subtitle.
    pub fn subtitled(self, subtitle: impl Into<String>) -> Self {
        let subtitle = subtitle.into();
        Page { subtitle, ..self }
    }

    /// Every chart as an SVG file, each with its name.
    ///
    /// # Errors
    /// When the drawing library fails.
    pub fn charts(&self) -> Result<Vec<(String, String)>, ChartError> {
        let file = |figure: &Figure| {
            let svg = figure.chart.svg()?;
            let svg = file::standalone(&svg, Some(&figure.caption)).into_owned();
            Ok((format!("{}.svg", figure.name), svg))
        };
        figures(&self.blocks).into_iter().map(file).collect()
    }

    /// Every figure in order.
    pub fn figures(&self) -> Vec<&Figure> {
        figures(&self.blocks)
    }
}

fn figures(blocks: &[Block]) -> Vec<&Figure> {
    let mut all: Vec<&Figure> = Vec::new();
    for block in blocks {
        match block {
            Block::Figure(figure) => all.push(figure),
            Block::Details { blocks, .. } | Block::Only(_, blocks) => all.extend(figures(blocks)),
            _ => {}
        }
    }
    all
}

impl Block {
    /// A heading.
    pub fn heading(text: impl Into<String>) -> Self {
        Block::Heading(text.into())
    }

    /// A lead.
    pub fn lead(text: impl Into<String>) -> Self {
        Block::Lead(text.into())
    }

    /// A note.
    pub fn note(text: impl Into<String>) -> Self {
        Block::Note(text.into())
    }

    /// A chart with the name of its file and what it shows.
    pub fn figure(name: impl Into<String>, caption: impl Into<String>, chart: Chart) -> Self {
        Block::Figure(Box::new(Figure {
            name: name.into(),
            caption: caption.into(),
            chart,
        }))
    }

    /// What only a browser has room for.
    pub fn wide(blocks: impl IntoIterator<Item = Block>) -> Self {
        Block::Only(Medium::Browser, blocks.into_iter().collect())
    }

    /// `blocks` that a browser folds away, open at first when there are few `rows`.
    pub fn details(title: &str, rows: usize, open_to: usize, blocks: Vec<Block>) -> Self {
        Block::Details {
            title: format!("{title} ({rows})"),
            is_open: rows <= open_to,
            blocks,
        }
    }
}

impl Fact {
    /// A fact of which `value` stands out.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Fact {
            name: name.into(),
            value: value.into(),
            ..Fact::default()
        }
    }

    /// A fact of which no part stands out.
    pub fn plain(name: impl Into<String>, phrase: impl Into<String>) -> Self {
        Fact {
            name: name.into(),
            after: phrase.into(),
            ..Fact::default()
        }
    }

    /// The same with `before` in front of the value.
    pub fn before(self, before: impl Into<String>) -> Self {
        let before = before.into();
        Fact { before, ..self }
    }

    /// The same with `after` behind the value.
    pub fn after(self, after: impl Into<String>) -> Self {
        let after = after.into();
        Fact { after, ..self }
    }

    /// The whole phrase.
    pub fn phrase(&self) -> String {
        format!("{}{}{}", self.before, self.value, self.after)
    }

    /// The phrase without its value: what follows it, then what comes before it.
    pub fn rest(&self) -> String {
        let between = |c: char| c.is_whitespace() || ",;:".contains(c);
        let parts = [&self.after, &self.before].map(|part| part.trim_matches(between));
        let known: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        known.join("; ")
    }
}
