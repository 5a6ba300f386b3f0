//! The page of a sweep: what it came to, the figures, every setting and every visit.
//!
//! Reading order: this file, `groups.rs` (which visits belong together), `tables.rs`, `charts.rs`.

pub mod charts;
mod column;
mod groups;
pub mod metric;
mod tables;

use record::sweep::{Curve, DirectionAnalysis, SettingFigures};
use record::{AnyDocument, Measure, Sweep, SweepAnalysis};

use super::{beside, run};
use crate::text;
use crate::text::sweep as say;
pub(super) use charts::streams_axis;
use draw::format::{self, RateUnit};
use draw::page::{Block, Fact, Medium, Page};
pub(super) use groups::{Group, groups};
use metric::{GOODPUT, Metric};

/// A browser folds away the tables of sweeps with more settings than this.
const SETTINGS_OPEN: usize = 40;

/// `visit` is the measurement of one visit, with its readings.
pub fn page(sweep: &Sweep, visit: Option<&Measure>) -> Page {
    let analysis = sweep.analysis();
    let groups = groups(sweep, &analysis);
    let mut blocks = vec![
        Block::wide([Block::About(plan(sweep))]),
        Block::Sentences(say::visited(sweep)),
    ];
    blocks.extend(say::directions(&analysis).map(Block::lead));
    blocks.push(Block::wide([Block::Facts(facts(sweep, &groups))]));
    blocks.extend(visit.iter().flat_map(|visit| run::one_visit(&visit.run)));
    blocks.extend(beside::tables(&sweep.beside));
    for way in &analysis.directions {
        blocks.extend(direction(sweep, &analysis, way, &groups));
    }
    let believe = text::which_to_believe(sweep.target.kind);
    blocks.extend(believe.map(|sentence| Block::Sentences(vec![sentence.to_owned()])));
    let unmeasured = groups.iter().filter(|group| group.analysis.is_none());
    blocks.push(Block::wide(unmeasured.flat_map(charts::section)));
    blocks.push(Block::wide(
        tables::failures(sweep)
            .into_iter()
            .chain(tables::visits(sweep)),
    ));
    Page::new("sweep", &sweep.target.name, blocks)
}

/// The number under which the archive keeps a visit that stands for the others: of the recommended
/// setting, or of the one with the highest median, the visit that comes nearest to the median.
/// `None` for other documents, and where no readings were kept.
pub fn representative(document: &AnyDocument) -> Option<i64> {
    let AnyDocument::Sweep(sweep) = document else {
        return None;
    };
    let analysis = sweep.body.analysis();
    let groups = groups(&sweep.body, &analysis);
    let group = groups.first()?;
    let (streams, window) = group.recommended().or_else(|| group.best_setting())?;
    let median = group.spread(streams, window, &GOODPUT)?.middle;
    let cells = sweep.body.cells.iter();
    let visits = cells.filter_map(|cell| {
        let figures = cell.figures.as_ref()?;
        let mut ours = group.visits(streams, window).iter();
        let is_ours = ours.any(|visit| std::ptr::eq(*visit, figures));
        let off = (figures.goodput_bits_per_second as f64 - median).abs();
        Some((cell.run.filter(|_| is_ours)?, off))
    });
    let nearest = visits.min_by(|a, b| a.1.total_cmp(&b.1));
    nearest.map(|(run, _)| run)
}

fn plan(sweep: &Sweep) -> String {
    let plan = &sweep.plan;
    format!(
        "{} settings in {}, shuffled with seed {}; streams run for {}, the idle path is probed for \
            {} before",
        plan.settings.len(),
        text::count(plan.cycles.into(), "cycle"),
        plan.seed,
        say::times(&plan.durations),
        format::time(plan.unloaded.as_secs_f64()),
    )
}

fn facts(sweep: &Sweep, groups: &[Group<'_>]) -> Vec<Fact> {
    let mut facts = vec![visits(sweep)];
    facts.extend(groups.iter().filter_map(best));
    if let [group] = groups {
        facts.extend(round_trip(group));
        facts.extend(variability(group));
    }
    facts
}

fn visits(sweep: &Sweep) -> Fact {
    let failed = sweep
        .cells
        .iter()
        .filter(|cell| cell.failed_because.is_some());
    let cycles = sweep.plan.cycles as usize;
    let planned = sweep.plan.settings.len().saturating_mul(cycles);
    let failed = match failed.count() {
        0 => "none failed".to_owned(),
        failed => format!("{failed} failed"),
    };
    Fact::new("visits", sweep.cells.len().to_string())
        .after(format!("of {planned} planned, {failed}"))
}

fn best(group: &Group<'_>) -> Option<Fact> {
    let (streams, window, median) = group.best()?;
    let apart = match group.name.as_str() {
        "" => String::new(),
        name => format!("{name}: "),
    };
    let after = format!("{apart}{}", text::point(streams, window));
    Some(Fact::new("highest median goodput", format::rate(median as u64)).after(after))
}

/// The median of all visits.
fn median(group: &Group<'_>, metric: &Metric) -> Option<f64> {
    let values: Vec<f64> = group.all().filter_map(|(_, _, f)| (metric.of)(f)).collect();
    stats::median(&values)
}

fn round_trip(group: &Group<'_>) -> Option<Fact> {
    let added = median(group, &metric::ADDED_DELAY);
    let added = added.map(|added| format!("; the streams add {} ms", format::milliseconds(added)));
    let idle = format::milliseconds(median(group, &metric::IDLE)?);
    let after = format!("median{}", added.unwrap_or_default());
    Some(Fact::new("idle round trip", format!("{idle} ms")).after(after))
}

fn variability(group: &Group<'_>) -> Option<Fact> {
    let loaded = format::percent(median(group, &metric::VARIABILITY_LOADED)?);
    let idle = median(group, &metric::VARIABILITY_IDLE);
    let idle = idle.map(|idle| format!(", {} on the idle path", format::percent(idle)));
    let after = format!("median{}", idle.unwrap_or_default());
    Some(Fact::new("rate variability, loaded", loaded).after(after))
}

/// What the visits of one direction show.
fn direction(
    sweep: &Sweep,
    analysis: &SweepAnalysis,
    way: &DirectionAnalysis,
    groups: &[Group<'_>],
) -> Vec<Block> {
    let title = text::sentence(text::direction(way.direction));
    let mut blocks = vec![Block::heading(title.trim_end_matches('.'))];
    let recommended = way.recommended.as_ref();
    blocks.extend(recommended.map(|found| Block::lead(say::recommendation(found))));
    blocks.push(Block::Why(say::because(way)));
    let ours = groups.iter().filter(|group| group.is_of(way.direction));
    blocks.push(Block::wide(ours.flat_map(charts::section)));
    let highest = way.highest.as_ref();
    let highest = highest.map_or(0, |point| point.goodput.median_bits_per_second);
    let unit = RateUnit::fitting(highest as f64);
    let count = analysis.settings.iter();
    let count = count
        .filter(|one| one.setting.direction == way.direction)
        .count();
    for curve in &way.curves {
        let granted = sweep.target.window_granted(curve.window, way.direction);
        let title = say::curve_title(curve, granted);
        let settings = analysis
            .settings
            .iter()
            .filter(|one| is_on(one, way, curve));
        let chosen = recommended.map(|found| &found.at.setting);
        let table = tables::settings(&settings.collect::<Vec<_>>(), unit, chosen, groups);
        let title_in_terminal = vec![Block::heading(title.clone())];
        blocks.push(Block::Only(Medium::Terminal, title_in_terminal));
        blocks.push(Block::Details {
            title,
            is_open: count <= SETTINGS_OPEN,
            blocks: vec![Block::Table(table), Block::Sentences(say::curve(curve))],
        });
    }
    blocks.push(Block::note(say::LEGEND));
    let ours = groups.iter().filter(|group| group.is_of(way.direction));
    if let Some(table) = tables::variability(&ours.collect::<Vec<_>>()) {
        blocks.push(Block::heading("How visits vary"));
        blocks.push(Block::Table(table));
        blocks.push(Block::note(say::VARIABILITY));
    }
    let fits = say::fits(way);
    if !fits.is_empty() {
        blocks.push(Block::heading("All visits together"));
        blocks.push(Block::Sentences(fits));
    }
    blocks
}

fn is_on(figures: &SettingFigures, way: &DirectionAnalysis, curve: &Curve) -> bool {
    let setting = &figures.setting;
    let same_curve = curve.window == setting.window && curve.congestion == setting.congestion;
    setting.direction == way.direction && same_curve
}
