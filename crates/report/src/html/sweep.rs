//! The page of a sweep: what it came to, the figures, every setting and every visit.

mod tables;

use maud::{Markup, html};
use record::{Measure, Sweep};

use super::parts::{self, Tile};
use crate::chart::PlotError;
use crate::chart::sweep::{Section, one_visit, section};
use crate::format;
use crate::swept::metric::{self, Metric};
use crate::swept::{Group, groups};
use crate::text;

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
            section.why { p { "It ended early: " (text::sentence(cut)) } }
        }
        @for figure in &visit { (parts::plot(&figure.svg, &figure.caption)) }
        @for section in &sections { (figures(section)) }
        @for group in &groups { (tables::settings(group)) }
        (tables::failures(sweep))
        (tables::visits(sweep))
    })
}

/// The setting to use, where the analysis found one.
fn lead(group: &Group<'_>) -> Option<String> {
    let found = group.analysis?.recommended.as_ref()?;
    let (streams, window) = group.recommended()?;
    let at = &found.at;
    let added = at
        .rtt_added_seconds
        .map(|added| format!(", with {} ms of added delay", format::milliseconds(added)));
    let apart = match group.name.as_str() {
        "" => String::new(),
        name => format!("{name}: "),
    };
    let text = format!(
        "{apart}recommended: {}. {}, {} of the highest median{}",
        text::point(streams, window),
        format::rate(at.goodput.median_bits_per_second),
        format::percent(found.share_of_highest_ratio),
        added.unwrap_or_default(),
    );
    Some(text::sentence(&text))
}

fn plan(sweep: &Sweep) -> String {
    let plan = &sweep.plan;
    let plural = if plan.cycles == 1 { "" } else { "s" };
    format!(
        "{} settings in {} cycle{plural}, shuffled with seed {}; streams run for {}, the idle path is probed for {} before",
        plan.settings.len(),
        plan.cycles,
        plan.seed,
        text::sweep::times(&plan.durations_seconds),
        format::time(plan.unloaded_seconds),
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
        value: format::rate(spread.middle as u64),
        note: format!("{apart}{}", text::point(streams, window)),
    })
}

/// The median of all visits.
fn median(group: &Group<'_>, metric: &Metric) -> Option<f64> {
    let values: Vec<f64> = group.all().filter_map(|(_, _, f)| (metric.of)(f)).collect();
    stats::median(&values)
}

fn round_trip_tile(group: &Group<'_>) -> Option<Tile> {
    let added = median(group, &metric::ADDED_DELAY)
        .map(|added| format!("median; the streams add {} ms", format::milliseconds(added)));
    Some(Tile {
        name: "Idle round trip",
        value: format!("{} ms", format::milliseconds(median(group, &metric::IDLE)?)),
        note: added.unwrap_or_else(|| "median".to_owned()),
    })
}

fn variability_tile(group: &Group<'_>) -> Option<Tile> {
    let metric = &metric::VARIABILITY_LOADED;
    let idle = median(group, &metric::VARIABILITY_IDLE);
    let idle = idle.map(|idle| format!(", {} on the idle path", format::percent(idle)));
    Some(Tile {
        name: "Rate variability, loaded",
        value: format::percent(median(group, metric)?),
        note: format!("median{}", idle.unwrap_or_default()),
    })
}

fn figures(section: &Section) -> Markup {
    html! {
        @if !section.name.is_empty() { h2 { (text::sentence(&section.name).trim_end_matches('.')) } }
        @for figure in &section.figures { (parts::plot(&figure.svg, &figure.caption)) }
        @if !section.left_out.is_empty() {
            div.note { @for reason in &section.left_out { p { (reason) } } }
        }
    }
}
