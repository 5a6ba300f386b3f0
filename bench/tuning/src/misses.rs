//! The paths on which a strategy did worst, with all that it saw there.

use observe::{Setting, Window};

use crate::grid::Grid;
use crate::score::Row;
use crate::search::{Found, Tried};

/// The `count` rows with the highest regret, each with its path, its grid and its samples.
pub fn misses(rows: &[&Row], grids: &[Grid], count: usize) -> String {
    let mut worst: Vec<&Row> = rows.to_vec();
    worst.sort_by(|a, b| badness(b).total_cmp(&badness(a)));
    let told = worst.into_iter().take(count);
    let told = told.filter_map(|row| Some(miss(row, grids.get(row.label.place)?)));
    told.collect::<Vec<_>>().join("\n")
}

/// What the objective minds most.
fn badness(row: &Row) -> f64 {
    match row.label.objective {
        "knee" => (row.regret - 0.12).max(0.0) * 100.0 + (row.streams_over[1] - 2.0).max(0.0),
        "gentle" => {
            (row.added - crate::grid::GENTLE).max(0.0) * 100.0 + row.regret_gentle.unwrap_or(0.0)
        }
        _ => row.regret,
    }
}

fn miss(row: &Row, grid: &Grid) -> String {
    let mut text = format!(
        "{} {} seed {}: regret {:.1} %, best {} = {:.2} Mbit/s, added {:.1} ms\n  {}{}\n",
        row.label.strategy,
        row.label.objective,
        row.label.seed,
        row.regret * 100.0,
        name(&grid.best.setting),
        grid.best.outcome.goodput / 1e6,
        row.added * 1e3,
        grid.path,
        beside(grid),
    );
    match &row.found {
        Err(error) => text += &format!("  nothing recommended: {error}\n"),
        Ok(found) => text += &details(grid, found, row.given.goodput),
    }
    text
}

/// What settings carry in the grid, and what a search saw whose recommendation carries `given`.
pub fn details(grid: &Grid, found: &Found, given: f64) -> String {
    let mut text = format!("  grid, Mbit/s (added ms):\n{}", grid_lines(grid));
    text += &format!(
        "  recommended {}, which gives {:.2} Mbit/s: {}\n",
        name(&found.setting),
        given / 1e6,
        found.because
    );
    found.tried.iter().for_each(|one| text += &line(one));
    text += &format!("  {:.1} s\n", found.seconds);
    text
}

/// Buffers and cross traffic, which a path's own line leaves out.
fn beside(grid: &Grid) -> String {
    let hosts = &grid.path.hosts;
    let mut text = format!(
        ", product {}, buffers {} and {}",
        grid.path.bandwidth_delay_product().human(),
        hosts.send_buffer_max.human(),
        hosts.receive_buffer_max.human()
    );
    for group in &grid.path.cross {
        text += &format!(
            ", {:?} alone at {:.2} Mbit/s",
            group.traffic,
            grid.alone.cross / 1e6
        );
    }
    text
}

/// For each number of streams the automatic window, and the best three fixed ones.
fn grid_lines(grid: &Grid) -> String {
    let mut text = String::new();
    let mut counts: Vec<u16> = grid
        .cells
        .iter()
        .map(|cell| cell.setting.streams.get())
        .collect();
    counts.dedup();
    for count in counts {
        let of = grid
            .cells
            .iter()
            .filter(|cell| cell.setting.streams.get() == count);
        let one = |cell: &crate::grid::Cell| {
            let added = grid.added(&cell.outcome) * 1e3;
            format!(
                "{} {:.2} ({added:.0})",
                cell.setting.window,
                cell.outcome.goodput / 1e6
            )
        };
        let cells: Vec<String> = of.map(one).collect();
        text += &format!("    {count:>3}: {}\n", cells.join(", "));
    }
    text
}

fn line(one: &Tried) -> String {
    let margin = one
        .goodput
        .1
        .map_or("?".to_owned(), |half| format!("{:.2}", half / 1e6));
    let rtt = one
        .rtt
        .map_or("?".to_owned(), |rtt| format!("{:.1}", rtt * 1e3));
    let resent = one
        .resent
        .map_or("?".to_owned(), |share| format!("{:.3}", share * 100.0));
    let promise = one.promise.map_or("?".to_owned(), |promise| {
        let (low, high) = promise.interval.unwrap_or_default();
        let [middle, low, high] = [promise.goodput, low, high].map(|rate| rate / 1e6);
        format!("{middle:.2} ({low:.2} to {high:.2})")
    });
    format!(
        "    {:<12} {:>9.2} +- {margin} Mbit/s, promised {promise}, {:.1} s, RTT {rtt} ms, resent \
         {resent} %, {}: {}\n",
        name(&one.setting),
        one.goodput.0 / 1e6,
        one.seconds,
        one.purpose,
        one.why
    )
}

/// Streams and window, and what else was set.
pub fn name(setting: &Setting) -> String {
    let mut text = match setting.window {
        Window::Auto => format!("{} x auto", setting.streams),
        Window::Fixed(bytes) => format!("{} x {bytes}", setting.streams),
    };
    if let Some(congestion) = &setting.congestion {
        text += &format!(" {congestion}");
    }
    if let Some(pacing) = setting.pacing {
        text += &format!(" paced at {pacing}");
    }
    text
}
