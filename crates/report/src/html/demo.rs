//! The page of a demonstration.

use maud::{Markup, html};
use record::{Demo, LabelledRun};

use super::{parts, tune};
use crate::figure;
use crate::plot::{self, PlotError};
use crate::words;

pub fn body(demo: &Demo) -> Result<Markup, PlotError> {
    Ok(html! {
        p.lead { (words::demo(demo)) }
        (parts::tiles(&tune::tiles(&demo.tune)))
        section.why { (parts::sentences(&words::tune(&demo.tune))) }
        (bars(demo)?)
        (table(demo))
        h2 { "How the tuner got there" }
        (tune::curve(&demo.tune)?)
        (tune::table(&demo.tune))
        (parts::settings(&demo.tune))
        h2 { "Each setting at work" }
        @for labelled in &demo.runs { (at_work(labelled)?) }
        @if let Some(sample) = demo.tune.recommended_sample() {
            h3 { "Tuned: " (words::setting(&sample.run.setting)) }
            (parts::run_plots(&sample.run)?)
        }
    })
}

fn bars(demo: &Demo) -> Result<Markup, PlotError> {
    let source = demo.runs.iter().find_map(|run| run.published.as_ref());
    let svg = plot::compare(
        &plot::compare::bars(demo),
        source.map(|published| published.source.as_str()),
    )?;
    Ok(parts::plot(
        &svg,
        "Goodput of each setting on the same path.",
    ))
}

fn table(demo: &Demo) -> Markup {
    html! {
        div.table {
            table {
                thead { tr { th { "setting" } (parts::run_headings()) th.number { "published" } } }
                tbody {
                    @for labelled in &demo.runs { (row(labelled)) }
                    @if let Some(sample) = demo.tune.recommended_sample() {
                        tr.chosen {
                            td.text { "tuned: " (words::setting(&sample.run.setting)) }
                            (parts::run_cells(&sample.run))
                            td.number { (figure::ABSENT) }
                        }
                    }
                }
            }
        }
    }
}

fn row(labelled: &LabelledRun) -> Markup {
    let published = labelled.published.as_ref();
    html! {
        tr {
            td.text { (labelled.label) }
            (parts::run_cells(&labelled.run))
            td.number { (figure::or_absent(published, |p| figure::rate(p.throughput_bits_per_second))) }
        }
    }
}

fn at_work(labelled: &LabelledRun) -> Result<Markup, PlotError> {
    Ok(html! {
        h3 { (labelled.label) }
        @if let Some(why) = words::why(&labelled.run) { p { (why) } }
        (parts::run_plots(&labelled.run)?)
    })
}
