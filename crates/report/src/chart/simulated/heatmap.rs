//! The settings of one variant as a map: streams down, windows across.

use crate::chart::PlotError;
use crate::chart::heatmap::{self, Field, Framed, Table};
use crate::format;
use crate::grid::Grid;

/// The settings of one variant as a map; best and knee framed.
///
/// # Errors
/// When the drawing library fails. `Ok(None)` for fewer than two windows or numbers of streams, and for
/// more rows than can be told apart.
pub fn heatmap(grid: &Grid<'_>, title: &str) -> Result<Option<String>, PlotError> {
    heatmap::heatmap(&table(grid, title))
}

fn table(grid: &Grid<'_>, title: &str) -> Table {
    let field = |streams: u32, window: record::Window| Field {
        value: grid.throughput(streams, window),
        number: grid.number(streams, window),
    };
    let row = |streams: &u32| grid.windows.iter().map(|w| field(*streams, *w)).collect();
    Table {
        title: format!("{title} [{}]: window across, streams down", grid.unit.name),
        rows: grid.streams.iter().map(u32::to_string).collect(),
        columns: grid.windows.iter().map(|w| format::window(*w)).collect(),
        fields: grid.streams.iter().map(row).collect(),
        chosen: framed(grid, "best", |streams, window| {
            grid.is_best(streams, window)
        }),
        other: framed(grid, "knee", |streams, window| {
            grid.is_knee(streams, window)
        }),
    }
}

fn framed(
    grid: &Grid<'_>,
    name: &'static str,
    is: impl Fn(u32, record::Window) -> bool,
) -> Option<Framed> {
    let rows = grid.streams.iter().enumerate();
    let mut places = rows.flat_map(|(row, streams)| {
        let columns = grid.windows.iter().enumerate();
        columns.map(move |(column, window)| ((row, column), (*streams, *window)))
    });
    let found = places.find(|(_, (streams, window))| is(*streams, *window));
    found.map(|(place, _)| Framed { name, place })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::grids;
    use record::synthetic;

    #[test]
    fn every_setting_is_a_field() {
        let campaign = synthetic::campaign().body;
        let grids = grids(&campaign);
        let svg = heatmap(&grids[0], "goodput").unwrap().unwrap();
        assert_eq!(svg.matches("<rect").count(), 18);
        // Two frames, and what they mean.
        assert_eq!(svg.matches("<polyline").count(), 2 + 2);
        assert!(svg.contains("64KiB") && svg.contains("[Mbit/s]"));
    }

    #[test]
    fn one_window_is_no_map() {
        let mut campaign = synthetic::campaign().body;
        campaign
            .cells
            .retain(|cell| cell.setting.window == record::Window::Auto);
        assert_eq!(heatmap(&grids(&campaign)[0], "goodput"), Ok(None));
    }
}
