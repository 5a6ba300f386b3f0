//! Every setting as a field: streams down, windows across.

use super::{Drawing, figure};
use crate::page::sweep::groups::{Column, Group};
use crate::page::sweep::metric::GOODPUT;
use draw::chart::{Chart, Field, Framed, Map};
use draw::format as number;
use draw::format::RateUnit;

pub(super) fn map(group: &Group<'_>) -> Drawing {
    let unit = RateUnit::fitting(group.best().map_or(0.0, |(_, _, median)| median));
    let Some(chart) = Chart::map(table(group, unit)) else {
        return Drawing::LeftOut(
            "A map of streams and windows takes at least two of each.".to_owned(),
        );
    };
    let caption =
        "Median goodput of every setting; the deeper the colour, the more. Grey was not measured.";
    figure(group, "heatmap", chart, caption.to_owned())
}

fn table(group: &Group<'_>, unit: RateUnit) -> Map {
    let field = |streams: u16, column: &Column| {
        let window = column.windows.get(&streams);
        let spread = window.and_then(|window| group.spread(streams, *window, &GOODPUT));
        Field {
            value: spread.map(|spread| spread.middle),
            number: number::or_absent(spread, |spread| unit.number(spread.middle)),
        }
    };
    let row = |streams: &u16| group.columns.iter().map(|c| field(*streams, c)).collect();
    let framed = |name: &'static str, (streams, window): (u16, record::Window)| {
        let row = group.streams.iter().position(|s| *s == streams)?;
        let mut columns = group.columns.iter();
        let column = columns.position(|column| column.has(streams, window))?;
        Some(Framed {
            name,
            place: (row, column),
        })
    };
    let across = if group.has_windows() {
        "window"
    } else {
        "streams x window"
    };
    let recommended = group.recommended();
    let best = group.best_setting();
    Map {
        title: format!("goodput [{}]: {across} across, streams down", unit.name),
        rows: group.streams.iter().map(u16::to_string).collect(),
        columns: group
            .columns
            .iter()
            .map(|column| column.short.clone())
            .collect(),
        fields: group.streams.iter().map(row).collect(),
        chosen: recommended.and_then(|setting| framed("recommended", setting)),
        other: best.and_then(|setting| framed("highest", setting)),
    }
}
