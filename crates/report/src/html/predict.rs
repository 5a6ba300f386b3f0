//! The pages of a prediction and of curves through measured points.

use maud::{Markup, html};
use record::{Fit, Predict};

use super::parts::{self, Tile};
use crate::chart::{PlotError, predicted as plot};
use crate::format;
use crate::predicted::{self, Rows};
use crate::text;

pub fn predict(body: &Predict) -> Result<Markup, PlotError> {
    Ok(html! {
        p.setting { (text::plain(&body.path.description)) }
        p.lead { (predicted::recommendation(body)) }
        (parts::tiles(&tiles(body)))
        section.why { (parts::sentences(&predicted::assumptions(body))) }
        (parts::plot(&chart::throughput(body)?, "Throughput against the number of streams by each formula."))
        (parts::plot(&chart::round_trip(body)?, "Round trip with the queue that the streams build, by the equilibrium."))
        h2 { "Streams" }
        (table(&predicted::points(body)))
        (parts::legend(&predicted::points_legend(body)))
        h2 { "One stream" }
        (table(&predicted::one_stream(body)))
        h2 { "Buffers per stream" }
        (table(&predicted::buffers(body)))
    })
}

fn tiles(body: &Predict) -> Vec<Tile> {
    let link = &body.link;
    vec![
        Tile {
            name: "Streams",
            value: body.knee.at.streams.to_string(),
            note: format!(
                "for {} of the highest",
                format::percent(body.knee.share_ratio)
            ),
        },
        Tile {
            name: "Throughput",
            value: format::rate(body.knee.at.goodput_bits_per_second),
            note: format!(
                "of {} on the link",
                format::rate(link.payload_bits_per_second)
            ),
        },
        Tile {
            name: "Round trip",
            value: format!("{} ms", format::milliseconds(link.rtt_seconds)),
            note: format!(
                "a full queue adds {} ms",
                format::milliseconds(link.queue_seconds)
            ),
        },
    ]
}

pub fn fit(body: &Fit) -> Result<Markup, PlotError> {
    let coefficients = predicted::coefficients(body);
    Ok(html! {
        p.lead { (predicted::optimum(body)) }
        section.why { (parts::sentences(&predicted::remarks(body))) }
        (parts::plot(&chart::curves(body)?, "Measured points, and the curves through them, the best first."))
        h2 { "Forms" }
        (table(&predicted::models(body)))
        @if !coefficients.is_empty() {
            h2 { "Coefficients" }
            p.note { "For throughput in Mbit/s, with standard errors." }
            dl.settings {
                @for (form, text) in &coefficients { dt { (form) } dd { (text) } }
            }
        }
        (parts::sentences(&predicted::problems(body)))
    })
}

pub(super) fn table(rows: &Rows) -> Markup {
    html! {
        div.table {
            table {
                thead { tr {
                    @for (place, name) in rows.names.iter().enumerate() { th.number[place >= rows.words] { (name) } }
                } }
                tbody {
                    @for (marked, cells) in &rows.rows {
                        tr.chosen[*marked] {
                            @for (place, cell) in cells.iter().enumerate() { td.number[place >= rows.words] { (cell) } }
                        }
                    }
                }
            }
        }
    }
}
