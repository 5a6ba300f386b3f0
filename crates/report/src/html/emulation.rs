//! The page of programs run across an emulated path.

use maud::{Markup, html};
use record::Emulation;

use crate::terminal::{LINK_COLUMNS, link_cells};
use crate::words;

pub fn body(emulation: &Emulation) -> Markup {
    let links = [
        ("forward", &emulation.forward),
        ("reverse", &emulation.reverse),
    ];
    html! {
        p { (words::plain(&emulation.path_description)) }
        table {
            thead { tr { @for name in LINK_COLUMNS { th { (name) } } } }
            tbody {
                @for (name, counters) in links {
                    tr { @for cell in link_cells(name, counters) { td { (cell) } } }
                }
            }
        }
    }
}
