//! The page of a sweep document.

use maud::{Markup, html};
use record::Sweep;

use crate::plot::PlotError;

pub fn body(document: &Sweep) -> Result<Markup, PlotError> {
    Ok(html! { p.setting { (document.target.name) } })
}
