//! The settings of one variant as a map: streams down, windows across.

use record::Window;

use super::grid::Grid;
use draw::chart::{Chart, Field, Framed, Map};

/// The settings of one variant as a map; best and knee framed. `None` for fewer than two windows or
/// numbers of streams, and for more rows than can be told apart.
pub fn chart(grid: &Grid<'_>, title: &str) -> Option<Chart> {
    let field = |streams: u32, window: Window| Field {
        value: grid.throughput(streams, window),
        number: grid.number(streams, window),
    };
    let row = |streams: &u32| grid.windows.iter().map(|w| field(*streams, *w)).collect();
    Chart::map(Map {
        title: format!("{title} [{}]: window across, streams down", grid.unit.name),
        rows: grid.streams.iter().map(u32::to_string).collect(),
        columns: grid.windows.iter().map(|w| w.to_string()).collect(),
        fields: grid.streams.iter().map(row).collect(),
        chosen: framed(grid, "best", |streams, window| {
            grid.is_best(streams, window)
        }),
        other: framed(grid, "knee", |streams, window| {
            grid.is_knee(streams, window)
        }),
    })
}

fn framed(grid: &Grid<'_>, name: &'static str, is: impl Fn(u32, Window) -> bool) -> Option<Framed> {
    let (streams, window) = grid
        .settings()
        .find(|(streams, window)| is(*streams, *window))?;
    let row = grid.streams.iter().position(|one| *one == streams)?;
    let column = grid.windows.iter().position(|one| *one == window)?;
    let place = (row, column);
    Some(Framed { name, place })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::campaign::grid::grids;
    use record::synthetic;

    #[test]
    fn every_setting_is_a_field() {
        let campaign = synthetic::campaign().body;
        let grids = grids(&campaign);
        let svg = chart(&grids[0], "goodput").unwrap().svg().unwrap();
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
        assert_eq!(chart(&grids(&campaign)[0], "goodput"), None);
    }
}
