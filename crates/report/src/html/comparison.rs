//! The page that sets two documents side by side.

use maud::{Markup, html};
use record::archive::Comparison;

use crate::history;

pub fn body(comparison: &Comparison) -> Markup {
    html! {
        @for sentence in history::sentences(comparison) {
            p { (sentence) }
        }
        table {
            thead {
                tr {
                    th { "" }
                    th { "Run " (comparison.from.id) }
                    th { "Run " (comparison.to.id) }
                }
            }
            tbody {
                @for row in history::compared(comparison) {
                    tr {
                        th { (row.name) }
                        td { (row.from) }
                        td {
                            @if row.differs() { strong { (row.to) } } @else { (row.to) }
                        }
                    }
                }
            }
        }
    }
}
