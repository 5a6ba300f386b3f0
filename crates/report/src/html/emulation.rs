//! The page of programs run across an emulated path.

use maud::{Markup, html};
use record::Emulation;

use crate::terminal::{LINK_COLUMNS, link_rows};
use crate::text;

pub fn body(emulation: &Emulation) -> Markup {
    html! {
        p { (text::plain(&emulation.path_description)) }
        table {
            thead { tr { @for name in LINK_COLUMNS { th { (name) } } } }
            tbody {
                @for row in link_rows(emulation) {
                    tr { @for cell in row { td { (cell) } } }
                }
            }
        }
    }
}
