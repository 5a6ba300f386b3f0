//! The page that sets two sweeps side by side.

use maud::{Markup, html};
use record::SweepComparison;

use crate::text::sweep::compared;

pub fn body(comparison: &SweepComparison) -> Markup {
    let (unit, rows) = compared::rows(comparison);
    html! {
        @for sentence in compared::sentences(comparison) {
            p { (sentence) }
        }
        @if !rows.is_empty() {
            p.note { "Rates in " (unit.name) "; " q { "sure" } " is corrected for the number of settings." }
            div.table {
                table {
                    thead { tr { @for name in compared::COLUMNS { th { (name) } } } }
                    tbody {
                        @for row in &rows {
                            tr { @for cell in row { td { (cell) } } }
                        }
                    }
                }
            }
        }
    }
}
