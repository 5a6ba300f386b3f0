//! The page of many simulated settings.

use maud::{Markup, html};
use record::simulate::Cell;
use record::{Campaign, Window};

use super::parts::{self, Tile};
use crate::chart::{PlotError, simulated as plot};
use crate::format;
use crate::grid::{Grid, grids};
use crate::text::{self, simulated};

pub fn body(campaign: &Campaign) -> Result<Markup, PlotError> {
    let grids = grids(campaign);
    let sections: Result<Vec<Markup>, PlotError> =
        grids.iter().map(|grid| section(campaign, grid)).collect();
    let choices = campaign.choices.iter();
    let choices = choices.filter_map(|choice| simulated::choice(campaign, choice));
    Ok(html! {
        p.setting { (text::plain(&campaign.path.description)) "; " (simulated::terms(&campaign.scenario)) }
        @for choice in choices { p.lead { (choice) } }
        (parts::tiles(&tiles(campaign)))
        @for section in sections? { (section) }
        (table(campaign))
    })
}

fn tiles(campaign: &Campaign) -> Vec<Tile> {
    let runs: usize = campaign.cells.iter().map(|cell| cell.runs.len()).sum();
    vec![
        Tile {
            name: "Settings",
            value: campaign.cells.len().to_string(),
            note: format!("{runs} runs"),
        },
        Tile {
            name: "Processor time",
            value: format::time(campaign.cost.cpu_seconds),
            note: format!("{} runs were kept from before", campaign.cost.cached_runs),
        },
    ]
}

fn section(campaign: &Campaign, grid: &Grid<'_>) -> Result<Markup, PlotError> {
    let measure = simulated::measure(&campaign.scenario);
    let title = simulated::title(&campaign.scenario);
    let (curves, map) = (
        chart::against_streams(grid, title)?,
        chart::heatmap(grid, title)?,
    );
    Ok(html! {
        h2 { (text::plain(grid.variant)) }
        @if let Some(svg) = curves {
            (parts::plot(&svg, &format!("{}: {measure} against the number of streams, mean over the seeds with its standard deviation.", text::plain(grid.variant))))
        }
        @if let Some(svg) = map {
            (parts::plot(&svg, &format!("{}: {measure} of every setting; the deeper the colour, the more.", text::plain(grid.variant))))
        }
    })
}

fn table(campaign: &Campaign) -> Markup {
    let has_end = campaign.scenario.data_bytes(1).is_some();
    let has_taken = has_taken(campaign);
    html! {
        details open[campaign.cells.len() <= 60] {
            summary { "Every setting (" (campaign.cells.len()) ")" }
            div.table {
                table {
                    thead { tr {
                        th { "variant" }
                        th.number { "streams" }
                        th.number { "window" }
                        th.number { "goodput" }
                        th.number { "cross traffic" }
                        @if has_taken { th.number { "taken from it" } }
                        th.number { "dropped" }
                        th.number { "Jain" }
                        th.number { "mean RTT [ms]" }
                        @if has_end { th.number { "done in" } }
                        th { "" }
                    } }
                    tbody {
                        @for (place, cell) in campaign.cells.iter().enumerate() { (row(campaign, place, cell, has_end)) }
                    }
                }
            }
        }
    }
}

/// Whether what the streams took from the cross traffic is known of any setting.
fn has_taken(campaign: &Campaign) -> bool {
    let mut cells = campaign.cells.iter();
    cells.any(|cell| cell.figures.cross.taken_ratio.is_some())
}

fn row(campaign: &Campaign, place: usize, cell: &Cell, has_end: bool) -> Markup {
    let figures = &cell.figures;
    let marks = marks(campaign, place);
    let window: Window = cell.setting.window;
    html! {
        tr.chosen[!marks.is_empty()] {
            td { (text::plain(&cell.setting.variant)) }
            td.number { (cell.setting.streams) }
            td.number { (format::window(window)) }
            td.number { (simulated::spread(figures.aggregate.goodput_bits_per_second, figures.aggregate.standard_deviation_bits_per_second)) }
            td.number { (format::rate(figures.cross.goodput_bits_per_second)) }
            @if has_taken(campaign) { td.number { (format::or_absent(figures.cross.taken_ratio, simulated::taken_share)) } }
            td.number { (format!("{:.0}", figures.drops)) }
            td.number { (format::or_absent(figures.jain, |jain| format!("{jain:.3}"))) }
            td.number { (format::or_absent(figures.rtt, |rtt| format::milliseconds(rtt.mean_seconds))) }
            @if has_end { td.number { (format::or_absent(figures.completion.completion_seconds, format::time)) } }
            td { (marks) }
        }
    }
}

fn marks(campaign: &Campaign, place: usize) -> String {
    let choices = || campaign.choices.iter();
    let best = choices()
        .any(|choice| choice.best_cell == place)
        .then_some("best");
    let knee = choices()
        .any(|choice| choice.knee_cell == place)
        .then_some("knee");
    let marks: Vec<&str> = best.into_iter().chain(knee).collect();
    marks.join(", ")
}
