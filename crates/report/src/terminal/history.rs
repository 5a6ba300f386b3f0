//! Texts of kept documents.

use comfy_table::{Attribute, Cell, ColumnConstraint, ContentArrangement};
use record::archive::{Comparison, Listed};

use super::layout::Page;
use super::table::{align, empty};
use super::{Paint, Width};
use crate::history::{self, COLUMNS, Compared};

/// Where the target stands: the one column that may break.
const TARGET: usize = 2;
/// The goodput.
const NUMBERS: std::ops::Range<usize> = 5..6;

/// The list of `entries`, in their order. On a page of [`Width::Any`] each entry has one line, whatever its target is
/// called, so that other programs can read it.
pub fn history(entries: &[Listed], paint: Paint, width: Width) -> String {
    let mut table = empty(paint);
    if width == Width::Any {
        table.set_content_arrangement(ContentArrangement::Disabled);
    }
    table.set_header(COLUMNS.map(|name| Cell::new(name).add_attribute(Attribute::Bold)));
    for entry in entries {
        table.add_row(history::listed(entry));
    }
    align(&mut table, NUMBERS);
    let last = table.column_count().saturating_sub(1);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, u16::from(index != last)));
        if index != TARGET {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    let mut page = Page::new(paint);
    page.block(&table.to_string());
    page.finish()
}

/// Two documents side by side, and what that says.
pub fn comparison(comparison: &Comparison, paint: Paint) -> String {
    let mut table = empty(paint);
    let (from, to) = (comparison.from.id, comparison.to.id);
    let head = [
        String::new(),
        String::new(),
        format!("run {from}"),
        format!("run {to}"),
    ];
    table.set_header(head.map(|name| Cell::new(name).add_attribute(Attribute::Bold)));
    for row in history::compared(comparison) {
        table.add_row(cells(row));
    }
    align(&mut table, 0..0);
    let mut page = Page::new(paint);
    page.block(&table.to_string());
    page.gap();
    for sentence in history::sentences(comparison) {
        page.sentence(&sentence);
    }
    page.finish()
}

fn cells(row: Compared) -> [String; 4] {
    let mark = if row.differs() { "*" } else { "" };
    [mark.to_owned(), row.name.to_owned(), row.from, row.to]
}
