//! The page of a copy.

use maud::{Markup, html};
use record::copy::{CopyLimit, FileFailure, Outage, Step};
use record::{Copy, Limit};

use super::parts::{self, Tile};
use crate::chart::{self, PlotError};
use crate::format::{self, ABSENT};
use crate::{copied, text};

pub fn body(copy: &Copy) -> Result<Markup, PlotError> {
    let plot = chart::copied::over_time(copy)?;
    Ok(html! {
        (parts::tiles(&tiles(copy)))
        section.why { (parts::sentences(&copied::sentences(copy))) }
        @if let Some(svg) = plot {
            (parts::plot(&svg, "Rate, streams and their mean round trip over time. Where the lines break, the far end was gone."))
        }
        dl.facts {
            @for (name, value) in copied::facts(copy) { dt { (name) } dd { (value) } }
        }
        (steps(&copy.steps))
        (outages(&copy.outages))
        (failures(&copy.failed))
    })
}

fn tiles(copy: &Copy) -> Vec<Tile> {
    let limit = |limit: &CopyLimit| match limit.by {
        Limit::Several => "no single part".to_owned(),
        by => copied::limited_by(by).trim_start_matches("the ").to_owned(),
    };
    let share = |limit: &CopyLimit| match limit.by {
        Limit::Several => String::new(),
        _ => format!("for {} of the time", format::percent(limit.share_ratio)),
    };
    let of = copy
        .planned
        .map(|plan| format!("of {}", text::count(plan.files, "file")));
    vec![
        Tile {
            name: "Files copied",
            value: copy.files.to_string(),
            note: of.unwrap_or_default(),
        },
        Tile {
            name: "Sent",
            value: format::size(copy.sent_bytes),
            note: format!("in {}", format::lasting(copy.elapsed_seconds)),
        },
        Tile {
            name: "Rate",
            value: format::or_absent(copy.goodput_bits_per_second, format::rate),
            note: text::count(copy.streams.into(), "stream"),
        },
        Tile {
            name: "Limited by",
            value: copy.limit.as_ref().map_or_else(|| ABSENT.to_owned(), limit),
            note: copy.limit.as_ref().map(share).unwrap_or_default(),
        },
    ]
}

fn steps(steps: &[Step]) -> Markup {
    html! {
        @if !steps.is_empty() {
            h2 { "How the number of streams changed" }
            div.table { table {
                thead { tr { th.number { "at [s]" } th.number { "streams" } th { "why" } } }
                tbody {
                    @for step in steps {
                        tr {
                            td.number { (format!("{:.1}", step.at_seconds)) }
                            td.number { (step.streams) }
                            td.text { (text::sentence(&step.because)) }
                        }
                    }
                }
            } }
        }
    }
}

fn outages(outages: &[Outage]) -> Markup {
    let until =
        |outage: &Outage| format::or_absent(outage.until_seconds, |until| format!("{until:.1}"));
    html! {
        @if !outages.is_empty() {
            h2 { "When the far end was gone" }
            div.table { table {
                thead { tr { th.number { "from [s]" } th.number { "to [s]" } th { "what was seen" } } }
                tbody {
                    @for outage in outages {
                        tr {
                            td.number { (format!("{:.1}", outage.at_seconds)) }
                            td.number { (until(outage)) }
                            td.text { (text::sentence(&outage.because)) }
                        }
                    }
                }
            } }
        }
    }
}

fn failures(failed: &[FileFailure]) -> Markup {
    html! {
        @if !failed.is_empty() {
            h2 { "Files that were not copied" }
            div.table { table {
                thead { tr { th { "file" } th { "what happened" } th { "what to do" } } }
                tbody {
                    @for failure in failed {
                        tr {
                            td.text { (text::plain(&failure.name)) }
                            td.text { (text::sentence(&failure.what)) }
                            td.text { (text::sentence(failure.hint.as_deref().unwrap_or_default())) }
                        }
                    }
                }
            } }
        }
    }
}
