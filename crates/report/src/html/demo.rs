//! The page of a demonstration.

use maud::{Markup, html};
use record::Demo;

use super::{parts, tune};
use crate::chart::{self, PlotError};
use crate::comparison::{self, Compared, Role};
use crate::format;
use crate::text;

pub fn body(demo: &Demo) -> Result<Markup, PlotError> {
    let settings = comparison::settings(demo);
    Ok(html! {
        p.lead { (text::demo(demo)) }
        (parts::tiles(&tune::tiles(&demo.tune)))
        section.why { (parts::sentences(&text::tune(&demo.tune))) }
        (bars(&settings)?)
        (table(&settings))
        h2 { "How the tuner got there" }
        (tune::curve(&demo.tune)?)
        (tune::table(&demo.tune))
        (parts::settings(&demo.tune))
        h2 { "Each setting at work" }
        @for compared in &settings { (at_work(compared)?) }
    })
}

fn bars(settings: &[Compared<'_>]) -> Result<Markup, PlotError> {
    let svg = chart::compare(settings)?;
    Ok(parts::plot(
        &svg,
        "Goodput of each setting on the same path.",
    ))
}

fn table(settings: &[Compared<'_>]) -> Markup {
    html! {
        div.table {
            table {
                thead { tr { th { "setting" } (parts::run_headings()) th.number { "published" } } }
                tbody { @for compared in settings { (row(compared)) } }
            }
        }
    }
}

fn row(compared: &Compared<'_>) -> Markup {
    let published = compared
        .published
        .map(|published| published.goodput_bits_per_second);
    html! {
        tr.chosen[compared.role == Role::Tuned] {
            td.text { (compared.label) }
            (parts::run_cells(&compared.run))
            td.number { (format::or_absent(published, format::rate)) }
        }
    }
}

fn at_work(compared: &Compared<'_>) -> Result<Markup, PlotError> {
    Ok(html! {
        h3 { (compared.label) }
        @if let Some(why) = text::why(&compared.run) { p { (why) } }
        (parts::run_plots(&compared.run)?)
    })
}
