//! Text for a terminal of 80 columns.
//!
//! Every line fits except a word that is longer by itself. Commands are broken at spaces with a
//! backslash, so that they can be pasted as they stand. Texts lose characters that could steer a
//! terminal.

use comfy_table::presets::NOTHING;
use comfy_table::{
    Attribute, Cell as Field, CellAlignment, Color, ColumnConstraint, ContentArrangement,
    Table as Grid,
};

use super::layout::{self, Lines};
pub use super::layout::{COLUMNS, Paint};
use crate::format;
use crate::page::{Align, Block, Cell, Column, Medium, Page, Row, Standing, Table};
use crate::words::plain;

/// Longer names are cut, so that the figures beside them stay on their lines.
const NAME_CHARACTERS: usize = 22;

/// How long lines may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// [`COLUMNS`]: for people.
    Page,
    /// As long as they need to be: for other programs.
    Any,
}

/// The text of a page, with a line break at the end.
pub fn text(page: &Page, paint: Paint) -> String {
    let mut text = Text {
        lines: Lines::new(paint),
        paint,
        is_compact: page.is_compact,
        last: None,
    };
    let title = match page.subtitle.as_str() {
        "" => page.title.clone(),
        subtitle => format!("{}: {subtitle}", page.title),
    };
    text.lines.strong(&plain(&title));
    text.blocks(&page.blocks);
    text.lines.finish()
}

/// A table by itself.
pub fn table(table: &Table, paint: Paint, width: Width) -> String {
    let mut grid = grid(table, paint);
    if width == Width::Any {
        grid.set_content_arrangement(ContentArrangement::Disabled);
    }
    let mut lines = Lines::new(paint);
    lines.block(&grid.to_string());
    lines.finish()
}

/// Words in lines that fit.
pub fn sentence(text: &str) -> String {
    let mut lines = Lines::new(Paint::Plain);
    lines.sentence(&plain(text));
    lines.finish()
}

/// `head` with `text` beside it, in lines that fit; those after the first are indented.
pub fn beside(head: &str, text: &str) -> Vec<String> {
    layout::hang(head, text)
}

/// What a block is, as far as the gap before the next one depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    About,
    Heading,
    Lead,
    Facts,
    Sentences,
    Note,
    List,
    Table,
    Commands,
}

impl Kind {
    /// Whether an empty line stands between a block and one of this kind below it.
    fn is_apart_from(self, above: Kind) -> bool {
        match (above, self) {
            (Kind::Heading, next) => next == Kind::Heading,
            (_, Kind::About | Kind::List | Kind::Commands) => false,
            (Kind::Lead, Kind::Lead | Kind::Sentences) => false,
            (Kind::Table, Kind::Note | Kind::Sentences | Kind::Table) => false,
            (Kind::About | Kind::Sentences | Kind::Note, Kind::Sentences) => false,
            _ => true,
        }
    }
}

/// A text under construction.
struct Text {
    lines: Lines,
    paint: Paint,
    is_compact: bool,
    last: Option<Kind>,
}

impl Text {
    fn blocks(&mut self, blocks: &[Block]) {
        blocks.iter().for_each(|block| self.block(block));
    }

    /// Leaves an empty line where one belongs before a block of this kind.
    fn begin(&mut self, kind: Kind) {
        // What stands below the title needs none, but for a heading.
        let is_apart = match self.last {
            None => kind == Kind::Heading,
            Some(above) => kind.is_apart_from(above),
        };
        if is_apart && !self.is_compact {
            self.lines.gap();
        }
        self.last = Some(kind);
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::About(text) => {
                self.begin(Kind::About);
                self.lines.sentence(&plain(text));
            }
            Block::Heading(text) => {
                self.begin(Kind::Heading);
                self.lines.strong(&plain(text));
            }
            Block::Lead(text) => {
                self.begin(Kind::Lead);
                self.lines.strong(&plain(text));
            }
            Block::Facts(facts) if !facts.is_empty() => {
                let pair = facts
                    .iter()
                    .map(|fact| (plain(&fact.name), plain(&fact.phrase())));
                self.begin(Kind::Facts);
                self.lines.pairs(&pair.collect::<Vec<_>>());
            }
            Block::Why(sentences) | Block::Sentences(sentences) if !sentences.is_empty() => {
                self.begin(Kind::Sentences);
                sentences
                    .iter()
                    .for_each(|text| self.lines.sentence(&plain(text)));
            }
            Block::Note(text) => {
                self.begin(Kind::Note);
                self.lines.legend(&plain(text));
            }
            Block::List(list) => {
                self.begin(Kind::List);
                let shown = list.items.iter().take(list.shown);
                shown.for_each(|item| self.lines.item(&plain(item)));
                if let Some(more @ 1..) = list.items.len().checked_sub(list.shown) {
                    let all = format!("and {more} more; `--json` and `--save` have them all");
                    self.lines.item(&all);
                }
            }
            Block::Table(table) if !table.rows.is_empty() => {
                self.begin(Kind::Table);
                self.lines.block(&grid(table, self.paint).to_string());
            }
            Block::Commands(commands) => {
                self.begin(Kind::Commands);
                for command in commands {
                    self.lines.sentence(&plain(&command.why));
                    self.lines
                        .command(&plain(&command.line), &plain(&command.note));
                }
            }
            Block::Details { blocks, .. } | Block::Only(Medium::Terminal, blocks) => {
                self.blocks(blocks);
            }
            Block::Figure(_) | Block::Only(Medium::Browser, _) => {}
            Block::Facts(_) | Block::Why(_) | Block::Sentences(_) | Block::Table(_) => {}
        }
    }
}

/// The rows that fit, in the columns that have room; marks in a column of their own.
fn grid(table: &Table, paint: Paint) -> Grid {
    let mut grid = empty(paint);
    let shown = |column: &Column| !column.is_wide;
    let columns: Vec<&Column> = table
        .columns
        .iter()
        .filter(|column| shown(column))
        .collect();
    let marks = table.is_marked().then(|| Field::new(""));
    let heading = |column: &&Column| {
        let heading = plain(&column.heading);
        Field::new(heading).add_attribute(Attribute::Bold)
    };
    grid.set_header(marks.into_iter().chain(columns.iter().map(heading)));
    let rest = table.rest.as_ref();
    let most = rest.map_or(usize::MAX, |rest| rest.shown);
    for row in table.rows.iter().take(most) {
        grid.add_row(fields(table, &row.cells, Some(row)));
    }
    if let Some(rest) = rest {
        grid.add_row(fields(table, &rest.cells, None));
    }
    align(&mut grid, table, &columns);
    grid
}

/// The cells of one row, its mark first where the table has marks.
fn fields(table: &Table, cells: &[Cell], row: Option<&Row>) -> Vec<Field> {
    let standing = row.map_or(Standing::Other, |row| row.standing);
    let mark = table
        .is_marked()
        .then(|| painted(standing.mark(), standing));
    let shown = table.columns.iter().zip(cells);
    let field = shown
        .filter(|(column, _)| !column.is_wide)
        .map(|(column, cell)| {
            let text = plain(&cell.text);
            let text = match column.align {
                Align::Name => format::shortened(&text, NAME_CHARACTERS),
                _ => text,
            };
            let standing = match cell.is_strong {
                true => Standing::Chosen,
                false => standing,
            };
            painted(&text, standing)
        });
    mark.into_iter().chain(field).collect()
}

fn painted(text: &str, standing: Standing) -> Field {
    let field = Field::new(text);
    match standing {
        Standing::Chosen => field.fg(Color::Green).add_attribute(Attribute::Bold),
        Standing::Other | Standing::Differs => field,
        Standing::Less | Standing::Aside => field.fg(Color::DarkGrey),
    }
}

/// A table without rows that keeps to the page.
fn empty(paint: Paint) -> Grid {
    let mut grid = Grid::new();
    grid.load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic);
    grid.set_width(COLUMNS as u16);
    match paint {
        Paint::Plain => grid.force_no_tty(),
        Paint::Ansi => grid.enforce_styling(),
    };
    grid
}

/// Numbers to the right; two spaces between columns, one behind the first.
fn align(grid: &mut Grid, table: &Table, columns: &[&Column]) {
    let last = grid.column_count().saturating_sub(1);
    let marks = usize::from(table.is_marked());
    for (index, field) in grid.column_iter_mut().enumerate() {
        let gap = match index {
            _ if index == last => 0,
            0 => 1,
            _ if table.is_tight => 1,
            _ => 2,
        };
        field.set_padding((0, gap));
        let column = index
            .checked_sub(marks)
            .and_then(|index| columns.get(index));
        let align = column.map_or(Align::Name, |column| column.align);
        if align == Align::Number {
            field.set_cell_alignment(CellAlignment::Right);
        }
        if align == Align::Name || table.is_tight && align != Align::Text {
            field.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
}
