//! The page of a sweep: what it came to, the figures, every setting and every visit.

use maud::{Markup, html};
use record::{Measure, Sweep, SweepCell, Window};

use super::parts::{self, Tile};
use crate::figure;
use crate::plot::PlotError;
use crate::plot::sweep::{Section, one_visit, section};
use crate::swept::metric::{self, Metric};
use crate::swept::{Group, groups};
use crate::words;

pub fn body(sweep: &Sweep, visit: Option<&Measure>) -> Result<Markup, PlotError> {
    let analysis = sweep.analysis();
    let groups = groups(sweep, &analysis);
    let sections: Vec<Section> = groups.iter().map(section).collect::<Result<_, _>>()?;
    let visit = visit.map(one_visit).transpose()?.unwrap_or_default();
    Ok(html! {
        p.setting { (plan(sweep)) }
        @for lead in groups.iter().filter_map(lead) { p.lead { (lead) } }
        (parts::tiles(&tiles(sweep, &groups)))
        @if let Some(cut) = &sweep.cut_because {
            section.why { p { "It ended early: " (words::sentence(cut)) } }
        }
        @for figure in &visit { (parts::plot(&figure.svg, &figure.caption)) }
        @for section in &sections { (figures(section)) }
        @for group in &groups { (settings(group)) }
        (failures(sweep))
        (visits(sweep))
    })
}

/// The setting to use, where the analysis found one.
fn lead(group: &Group<'_>) -> Option<String> {
    let found = group.analysis?.recommended.as_ref()?;
    let (streams, window) = group.recommended()?;
    let at = &found.at;
    let added = at
        .rtt_added_seconds
        .map(|added| format!(", with {} ms of added delay", figure::milliseconds(added)));
    let apart = match group.name.as_str() {
        "" => String::new(),
        name => format!("{name}: "),
    };
    let text = format!(
        "{apart}recommended: {}. {}, {} of the highest median{}",
        words::point(streams, window),
        figure::rate(at.goodput.median_bits_per_second),
        figure::percent(found.share_of_highest_ratio),
        added.unwrap_or_default(),
    );
    Some(words::sentence(&text))
}

fn plan(sweep: &Sweep) -> String {
    let plan = &sweep.plan;
    let plural = if plan.cycles == 1 { "" } else { "s" };
    format!(
        "{} settings in {} cycle{plural}, shuffled with seed {}; streams run for {}, the idle path is probed for {} before",
        plan.settings.len(),
        plan.cycles,
        plan.seed,
        figure::time(plan.duration_seconds),
        figure::time(plan.unloaded_seconds),
    )
}

fn tiles(sweep: &Sweep, groups: &[Group<'_>]) -> Vec<Tile> {
    let mut tiles = vec![visits_tile(sweep)];
    for group in groups {
        tiles.extend(best_tile(group));
    }
    if let [group] = groups {
        tiles.extend(round_trip_tile(group));
        tiles.extend(variability_tile(group));
    }
    tiles
}

fn visits_tile(sweep: &Sweep) -> Tile {
    let failed = sweep
        .cells
        .iter()
        .filter(|cell| cell.failed_because.is_some());
    let planned = sweep
        .plan
        .settings
        .len()
        .saturating_mul(sweep.plan.cycles as usize);
    let failed = match failed.count() {
        0 => "none failed".to_owned(),
        failed => format!("{failed} failed"),
    };
    Tile {
        name: "Visits",
        value: sweep.cells.len().to_string(),
        note: format!("of {planned} planned, {failed}"),
    }
}

fn best_tile(group: &Group<'_>) -> Option<Tile> {
    let (streams, window, _) = group.best()?;
    let spread = group.spread(streams, window, &metric::GOODPUT)?;
    let apart = match group.name.as_str() {
        "" => String::new(),
        name => format!("{name}: "),
    };
    Some(Tile {
        name: "Highest median goodput",
        value: figure::rate(spread.middle as u64),
        note: format!("{apart}{}", words::point(streams, window)),
    })
}

/// The median of all visits.
fn median(group: &Group<'_>, metric: &Metric) -> Option<f64> {
    let values: Vec<f64> = group.all().filter_map(|(_, _, f)| (metric.of)(f)).collect();
    stats::median(&values)
}

fn round_trip_tile(group: &Group<'_>) -> Option<Tile> {
    let added = median(group, &metric::ADDED_DELAY)
        .map(|added| format!("median; the streams add {} ms", figure::milliseconds(added)));
    Some(Tile {
        name: "Idle round trip",
        value: format!("{} ms", figure::milliseconds(median(group, &metric::IDLE)?)),
        note: added.unwrap_or_else(|| "median".to_owned()),
    })
}

fn variability_tile(group: &Group<'_>) -> Option<Tile> {
    let metric = &metric::VARIABILITY_LOADED;
    let idle = median(group, &metric::VARIABILITY_IDLE);
    let idle = idle.map(|idle| format!(", {} on the idle path", figure::percent(idle)));
    Some(Tile {
        name: "Rate variability, loaded",
        value: figure::percent(median(group, metric)?),
        note: format!("median{}", idle.unwrap_or_default()),
    })
}

fn figures(section: &Section) -> Markup {
    html! {
        @if !section.name.is_empty() { h2 { (words::sentence(&section.name).trim_end_matches('.')) } }
        @for figure in &section.figures { (parts::plot(&figure.svg, &figure.caption)) }
        @if !section.left_out.is_empty() {
            div.note { @for reason in &section.left_out { p { (reason) } } }
        }
    }
}

/// What a table of settings tells: the metric and its heading.
const COLUMNS: [(&str, &Metric); 8] = [
    ("goodput", &metric::GOODPUT),
    ("dRTT [ms]", &metric::ADDED_DELAY),
    ("RV loaded", &metric::VARIABILITY_LOADED),
    ("sent again", &metric::SENT_AGAIN),
    ("probes lost", &metric::PROBES_LOST),
    ("Jain", &metric::FAIRNESS),
    ("kernel", &metric::KERNEL),
    ("program", &metric::USER),
];

fn settings(group: &Group<'_>) -> Markup {
    let settings = group.windows.iter();
    let settings = settings.flat_map(|w| group.streams.iter().map(move |s| (*s, *w)));
    let settings = settings.filter(|(s, w)| !group.visits(*s, *w).is_empty());
    let settings: Vec<_> = settings.collect();
    html! {
        @if !settings.is_empty() {
            details open[settings.len() <= 40] {
                summary {
                    "Settings" @if !group.name.is_empty() { ", " (group.name) } " (" (settings.len()) ")"
                }
                p.note { "Medians of the visits; of the goodput also the quartiles. dRTT is what the streams added to the mean round trip." }
                div.table {
                    table {
                        thead { tr {
                            th.number { "streams" }
                            th.number { "window" }
                            th.number { "visits" }
                            @for (heading, _) in COLUMNS { th.number { (heading) } }
                            th { "" }
                        } }
                        tbody { @for (streams, window) in settings {
                            tr.chosen[group.recommended() == Some((streams, window))] {
                                td.number { (streams) }
                                td.number { (figure::window(window)) }
                                td.number { (group.visits(streams, window).len()) }
                                @for (_, metric) in COLUMNS {
                                    td.number { (middle(group, streams, window, metric)) }
                                }
                                td { (marks(group, streams, window)) }
                            }
                        } }
                    }
                }
            }
        }
    }
}

fn marks(group: &Group<'_>, streams: u16, window: Window) -> String {
    let here = Some((streams, window));
    let is_knee = group
        .knee(window)
        .is_some_and(|knee| knee.streams == streams);
    let marks = [
        ("recommended", group.recommended() == here),
        ("highest", group.best_setting() == here),
        ("knee", is_knee),
    ];
    let names = marks
        .into_iter()
        .filter(|(_, is)| *is)
        .map(|(name, _)| name);
    names.collect::<Vec<_>>().join(", ")
}

fn middle(group: &Group<'_>, streams: u16, window: Window, metric: &Metric) -> String {
    let spread = group.spread(streams, window, metric);
    figure::or_absent(spread, |spread| {
        let middle = spread.middle;
        match metric.scale {
            metric::Scale::Rate => {
                let unit = figure::RateUnit::fitting(middle);
                let number = |bits| unit.number(bits);
                let (low, high) = (number(spread.low), number(spread.high));
                format!("{} {} ({low} to {high})", number(middle), unit.name)
            }
            metric::Scale::Time => figure::added_milliseconds(middle),
            metric::Scale::Share => figure::percent(middle),
            metric::Scale::Number | metric::Scale::ShareOfRate => format!("{middle:.3}"),
        }
    })
}

fn failures(sweep: &Sweep) -> Markup {
    let failed = sweep.cells.iter();
    let failed = failed.filter_map(|cell| Some((cell, cell.failed_because.as_deref()?)));
    let failed: Vec<(&SweepCell, &str)> = failed.collect();
    html! {
        @if !failed.is_empty() {
            details open[failed.len() <= 10] {
                summary { "Visits that failed (" (failed.len()) ")" }
                div.table {
                    table {
                        thead { tr {
                            th.number { "visit" }
                            th.number { "cycle" }
                            th { "setting" }
                            th { "began" }
                            th { "why" }
                        } }
                        tbody { @for (cell, why) in failed {
                            tr {
                                td.number { (cell.number) }
                                td.number { (cell.cycle) }
                                td { (words::setting(&cell.setting)) }
                                td { (words::plain(&cell.started)) }
                                td.text { (words::sentence(why)) }
                            }
                        } }
                    }
                }
            }
        }
    }
}

fn visits(sweep: &Sweep) -> Markup {
    html! {
        @if !sweep.cells.is_empty() {
            details {
                summary { "Every visit (" (sweep.cells.len()) ")" }
                div.table {
                    table {
                        thead { tr {
                            th.number { "visit" }
                            th.number { "cycle" }
                            th.number { "streams" }
                            th.number { "window" }
                            th { "direction" }
                            th { "began" }
                            th.number { "run" }
                            th.number { "goodput" }
                            th.number { "RTT unloaded [ms]" }
                            th.number { "RTT loaded [ms]" }
                            th { "limit" }
                        } }
                        tbody { @for cell in &sweep.cells { (visit(cell)) } }
                    }
                }
            }
        }
    }
}

fn visit(cell: &SweepCell) -> Markup {
    let figures = cell.figures.as_ref();
    let milliseconds = |metric: &Metric| {
        let value = figures.and_then(|figures| (metric.of)(figures));
        figure::or_absent(value, figure::milliseconds)
    };
    let goodput = figures.map(|figures| {
        figure::rate_with_margin(figures.goodput_bits_per_second, figures.interval.as_ref())
    });
    let limit = figures.and_then(|figures| figures.limit);
    html! {
        tr {
            td.number { (cell.number) }
            td.number { (cell.cycle) }
            td.number { (cell.setting.streams) }
            td.number { (figure::window_with(&cell.setting, None)) }
            td { (words::direction(cell.setting.direction)) }
            td { (words::plain(&cell.started)) }
            td.number { (figure::or_absent(cell.run, |run| run.to_string())) }
            td.number { (goodput.unwrap_or_else(|| "failed".to_owned())) }
            td.number { (milliseconds(&metric::IDLE)) }
            td.number { (milliseconds(&metric::LOADED)) }
            td { (limit.map_or(figure::ABSENT, |limit| limit.name())) }
        }
    }
}
