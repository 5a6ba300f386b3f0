//! Every setting as a field: streams down, windows across.

use super::{Drawing, figure};
use crate::figure as number;
use crate::figure::RateUnit;
use crate::plot::PlotError;
use crate::plot::heatmap::{Field, Table, heatmap};
use crate::swept::Group;
use crate::swept::metric::GOODPUT;

pub(super) fn map(group: &Group<'_>) -> Result<Drawing, PlotError> {
    let unit = RateUnit::fitting(group.best().map_or(0.0, |(_, _, median)| median));
    let Some(svg) = heatmap(&table(group, unit))? else {
        return Ok(Drawing::LeftOut(
            "A map of streams and windows takes at least two of each.".to_owned(),
        ));
    };
    let caption =
        "Median goodput of every setting; the deeper the colour, the more. Grey was not measured.";
    Ok(figure(group, "heatmap", svg, caption.to_owned()))
}

fn table(group: &Group<'_>, unit: RateUnit) -> Table {
    let field = |streams: u16, window: record::Window| {
        let spread = group.spread(streams, window, &GOODPUT);
        Field {
            value: spread.map(|spread| spread.middle),
            number: number::or_absent(spread, |spread| unit.number(spread.middle)),
        }
    };
    let row = |streams: &u16| group.windows.iter().map(|w| field(*streams, *w)).collect();
    let best = group.best().and_then(|(streams, window, _)| {
        let row = group.streams.iter().position(|s| *s == streams)?;
        Some((row, group.windows.iter().position(|w| *w == window)?))
    });
    Table {
        title: format!("goodput [{}]: window across, streams down", unit.name),
        rows: group.streams.iter().map(u16::to_string).collect(),
        columns: group.windows.iter().map(|w| number::window(*w)).collect(),
        fields: group.streams.iter().map(row).collect(),
        best,
        knee: None,
    }
}
