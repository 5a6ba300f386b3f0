//! The page of a characteristics document.

use maud::{Markup, html};
use record::Characteristics;

use crate::plot::PlotError;

pub fn body(document: &Characteristics) -> Result<Markup, PlotError> {
    Ok(html! { p.setting { (document.target.name) } })
}
