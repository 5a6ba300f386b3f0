//! The page of a responsiveness document.

use maud::{Markup, html};
use record::Responsiveness;
use record::responsiveness::ResponsivenessWay;

use super::characteristics::left_out;
use super::parts::{self, Tile};
use crate::chart::{self, PlotError};
use crate::format;
use crate::responsive;

pub fn body(document: &Responsiveness) -> Result<Markup, PlotError> {
    let ways: Result<Vec<Markup>, PlotError> = document.ways.iter().map(way).collect();
    Ok(html! {
        @for way in ways? { (way) }
        (left_out(&document.left_out))
        h2 { "How to read it" }
        p { (responsive::NOT_FOLLOWED) }
    })
}

fn way(way: &ResponsivenessWay) -> Result<Markup, PlotError> {
    let round_trips = chart::loaded::round_trips(way)?;
    let goodput = chart::loaded::goodput(way)?;
    Ok(html! {
        h2 { (responsive::title(way)) }
        (parts::tiles(&tiles(way)))
        section.why { (parts::sentences(&responsive::sentences(way))) }
        (parts::plot(&round_trips, "Mean round trip of each second, while one stream after another was added."))
        (parts::plot(&goodput, "Goodput of all streams in the same seconds: where it no longer rises, the path is full."))
        dl.facts {
            @for (name, value) in responsive::facts(way) { dt { (name) } dd { (value) } }
        }
    })
}

fn tiles(way: &ResponsivenessWay) -> Vec<Tile> {
    let ms = |seconds: f64| format!("{} ms", format::milliseconds(seconds));
    let idle = way.idle.as_ref().and_then(|idle| idle.median_seconds);
    vec![
        Tile {
            name: "Round trips a minute",
            value: format::or_absent(way.round_trips_per_minute, |rpm| format!("{rpm:.0}")),
            note: format!("{} confidence", way.confidence.name()),
        },
        Tile {
            name: "Beside the streams",
            value: format::or_absent(way.foreign, |foreign| ms(foreign.mean_seconds)),
            note: idle
                .map(|idle| format!("{} before", ms(idle)))
                .unwrap_or_default(),
        },
        Tile {
            name: "The streams' own",
            value: format::or_absent(way.loaded, |loaded| ms(loaded.mean_seconds)),
            note: "round trip".to_owned(),
        },
        Tile {
            name: "Goodput",
            value: format::rate(way.goodput_bits_per_second),
            note: format!("{} streams", way.streams),
        },
    ]
}
