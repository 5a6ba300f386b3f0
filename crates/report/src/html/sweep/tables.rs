//! Every setting, every failure and every visit as rows.

use maud::{Markup, html};
use record::{Sweep, SweepCell, Window};

use crate::format;
use crate::swept::Group;
use crate::swept::metric::{self, Metric};
use crate::text;

/// What a table of settings tells: the metric and its heading.
const COLUMNS: [(&str, &Metric); 8] = [
    ("goodput", &metric::GOODPUT),
    ("dRTT [ms]", &metric::ADDED_DELAY),
    ("RV loaded", &metric::VARIABILITY_LOADED),
    ("resent", &metric::SENT_AGAIN),
    ("probes lost", &metric::PROBES_LOST),
    ("Jain", &metric::FAIRNESS),
    ("kernel", &metric::KERNEL),
    ("program", &metric::USER),
];

pub(super) fn settings(group: &Group<'_>) -> Markup {
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
                p.note { "Medians of the visits; of the goodput also the quartiles, of lost probes the mean: the same small share at several settings is one lost probe at each. dRTT: what the streams added to the mean round trip; RV: rate variability of round trips, 1 - shortest / mean; Jain: 1 where all streams got the same; kernel and program: time of a processor." }
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
                                td.number { (format::window(window)) }
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
    format::or_absent(spread, |spread| {
        let middle = spread.middle;
        match metric.scale {
            metric::Scale::Rate => {
                let unit = format::RateUnit::fitting(middle);
                let number = |bits| unit.number(bits);
                let (low, high) = (number(spread.low), number(spread.high));
                format!("{} {} ({low} to {high})", number(middle), unit.name)
            }
            metric::Scale::Time => format::added_milliseconds(middle),
            metric::Scale::Share => format::percent(middle),
            metric::Scale::Number | metric::Scale::ShareOfRate => format!("{middle:.3}"),
        }
    })
}

pub(super) fn failures(sweep: &Sweep) -> Markup {
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
                                td { (text::setting(&cell.setting)) }
                                td { (text::plain(&cell.started)) }
                                td.text { (text::sentence(why)) }
                            }
                        } }
                    }
                }
            }
        }
    }
}

pub(super) fn visits(sweep: &Sweep) -> Markup {
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
        format::or_absent(value, format::milliseconds)
    };
    let goodput = figures.map(|figures| {
        format::rate_with_margin(figures.goodput_bits_per_second, figures.interval.as_ref())
    });
    let limit = figures.and_then(|figures| figures.limit);
    html! {
        tr {
            td.number { (cell.number) }
            td.number { (cell.cycle) }
            td.number { (cell.setting.streams) }
            td.number { (format::window_with(&cell.setting, None)) }
            td { (text::direction(cell.setting.direction)) }
            td { (text::plain(&cell.started)) }
            td.number { (format::or_absent(cell.run, |run| run.to_string())) }
            td.number { (goodput.unwrap_or_else(|| "failed".to_owned())) }
            td.number { (milliseconds(&metric::IDLE)) }
            td.number { (milliseconds(&metric::LOADED)) }
            td { (limit.map_or(format::ABSENT, |limit| limit.name())) }
        }
    }
}
