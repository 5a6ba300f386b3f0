//! The page of a responsiveness document.

use maud::{Markup, html};
use record::Responsiveness;

use crate::plot::PlotError;

pub fn body(document: &Responsiveness) -> Result<Markup, PlotError> {
    Ok(html! { p.setting { (document.target.name) } })
}
