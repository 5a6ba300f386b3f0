//! The page of a path document.

use maud::{Markup, html};
use record::Characteristics;
use record::characteristics::{LeftOut, Way};

use super::parts::{self, Tile};
use super::predict::table;
use crate::chart::{self, PlotError};
use crate::{characteristic, format};

pub fn body(document: &Characteristics) -> Result<Markup, PlotError> {
    let hops = chart::loaded::hops(document)?;
    let rates = chart::loaded::rates(document)?;
    Ok(html! {
        p.lead { (characteristic::verdict(document)) }
        (parts::tiles(&tiles(document)))
        section.why { (parts::sentences(&characteristic::queues(document))) }
        dl.facts {
            @for (name, value) in characteristic::facts(document) { dt { (name) } dd { (value) } }
        }
        @if let Some(svg) = rates {
            (parts::plot(&svg, "Capacity, the range of available bandwidth and what one stream got, in each direction."))
        }
        @if let Some(svg) = hops {
            (parts::plot(&svg, "Median round trip to each hop on the idle path and beside eight streams."))
        }
        @for group in characteristic::trace_groups(document) {
            h2 { (characteristic::group_title(&group)) }
            (table(&characteristic::hops(group[0], &document.loads)))
        }
        @for buffers in &document.buffers {
            h2 { "Socket buffers " (buffers.way.name()) }
            (table(&characteristic::buffers(buffers)))
        }
        @if !document.buffers.is_empty() { (parts::legend(characteristic::BUFFERS_LEGEND)) }
        (left_out(&document.left_out))
        h2 { "What it took" }
        p { (characteristic::cost(document)) }
        (table(&characteristic::costs(document)))
    })
}

/// What could not be measured, and what would make it possible.
pub(super) fn left_out(left_out: &[LeftOut]) -> Markup {
    html! {
        @if !left_out.is_empty() {
            h2 { "Left out" }
            ul { @for left in characteristic::left_out(left_out) { li { (left) } } }
        }
    }
}

fn tiles(document: &Characteristics) -> Vec<Tile> {
    let ms = |seconds: f64| format!("{} ms", format::milliseconds(seconds));
    let series = document.round_trips.as_ref().map(|seen| &seen.series);
    let mut tiles = vec![Tile {
        name: "Round trip",
        value: format::or_absent(series.and_then(|series| series.min_seconds), ms),
        note: series
            .and_then(|series| series.loss_ratio)
            .map(|lost| format!("{} lost", format::percent(lost)))
            .unwrap_or_default(),
    }];
    tiles.extend(document.mtu.map(|mtu| Tile {
        name: "Path MTU",
        value: format!("{} B", mtu.bytes.get()),
        note: String::new(),
    }));
    let capacities = document.capacities.iter().map(|capacity| Tile {
        name: match capacity.way {
            Way::Forward => "Capacity, forward",
            Way::Reverse => "Capacity, reverse",
        },
        value: format::rate(capacity.bits_per_second),
        note: available(document, capacity.way, capacity.bits_per_second),
    });
    tiles.extend(capacities);
    tiles
}

fn available(document: &Characteristics, way: Way, most: u64) -> String {
    let of_way = document
        .available
        .iter()
        .find(|available| available.way == way);
    let range = of_way.and_then(|seen| seen.low_bits_per_second.zip(seen.high_bits_per_second));
    let text = |(low, high): (u64, u64)| {
        let ends = [low, high].map(|end| format::rate(end.min(most)));
        format!("{} left", ends.join(" to "))
    };
    range.map(text).unwrap_or_default()
}
