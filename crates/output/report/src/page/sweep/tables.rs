//! Every setting, every failure and every visit as rows.

use record::sweep::{RatioSpread, SettingFigures};
use record::{Setting, Sweep, SweepCell};

use super::charts::goodput;
use super::groups::Group;
use super::metric::{self, Metric};
use crate::text;
use crate::text::sweep as say;
use draw::format::{self, ABSENT, RateUnit, or_absent};
use draw::page::{Block, Column, Row, Standing, Table};

/// A browser folds away more failures than this.
const FAILURES_OPEN: usize = 10;

/// The settings of one curve, the `chosen` one marked.
pub fn settings(
    settings: &[&SettingFigures],
    unit: RateUnit,
    chosen: Option<&Setting>,
    groups: &[Group<'_>],
) -> Table {
    let numbers = [
        "streams", unit.name, "\u{b1}", "IQR", "dRTT ms", "RV", "resent", "Jain", "starved",
        "failed",
    ];
    let wide = ["visits", "probes lost", "kernel", "program"];
    let columns = numbers.map(Column::number).into_iter();
    let columns = columns.chain(wide.map(|heading| Column::number(heading).wide()));
    let columns = columns.chain([Column::words("").wide()]);
    let row = |figures: &&SettingFigures| {
        let setting = &figures.setting;
        let group = groups.iter().find(|group| group.has(setting));
        let cells = row(figures, unit).into_iter().chain(more(figures, group));
        Row::new(cells).standing(Standing::chosen(chosen == Some(setting)))
    };
    Table::new(columns, settings.iter().map(row)).marked()
}

fn row(figures: &SettingFigures, unit: RateUnit) -> [String; 10] {
    let goodput = figures.goodput.as_ref();
    let range = goodput.map(|spread| {
        let (low, high) = (
            spread.quartile1_bits_per_second,
            spread.quartile3_bits_per_second,
        );
        high.saturating_sub(low) as f64
    });
    let fairness = figures.fairness.as_ref();
    let failed = match figures.failures {
        0 => String::new(),
        failures => failures.to_string(),
    };
    let rate = |bits: f64| unit.number(bits);
    [
        figures.setting.streams.to_string(),
        or_absent(goodput, |spread| rate(spread.median_bits_per_second as f64)),
        or_absent(goodput.and_then(say::half_width), rate),
        or_absent(range, rate),
        or_absent(figures.rtt_added.as_ref(), |added| {
            format::added_milliseconds(added.median_seconds)
        }),
        share(figures.rate_variability_loaded.as_ref()),
        share(figures.retransmitted.as_ref()),
        or_absent(fairness, |index| format!("{:.3}", index.median_ratio)),
        say::starved(figures.starvation.as_ref()),
        failed,
    ]
}

/// What a terminal has no room for.
fn more(figures: &SettingFigures, group: Option<&Group<'_>>) -> [String; 5] {
    let marks = group.map(|group| marks(group, &figures.setting));
    [
        figures.visits.to_string(),
        or_absent(figures.probe_loss_loaded_ratio, format::percent),
        share(figures.cpu_kernel.as_ref()),
        share(figures.cpu_user.as_ref()),
        marks.unwrap_or_default(),
    ]
}

fn marks(group: &Group<'_>, setting: &Setting) -> String {
    let here = Some((setting.streams.get(), setting.window));
    let knee = group.knee(setting.window);
    let marks = [
        ("recommended", group.recommended() == here),
        ("highest", group.best_setting() == here),
        (
            "knee",
            knee.is_some_and(|knee| knee.streams == setting.streams.get()),
        ),
    ];
    let marks = marks.into_iter().filter(|(_, is)| *is);
    marks.map(|(name, _)| name).collect::<Vec<_>>().join(", ")
}

/// The median of a share.
fn share(spread: Option<&RatioSpread>) -> String {
    or_absent(spread, |spread| format::percent(spread.median_ratio))
}

/// How goodput and round trips of the visits of some groups vary; nothing below three visits.
pub fn variability(groups: &[&Group<'_>]) -> Option<Table> {
    let of = |metric: &Metric| -> Vec<f64> {
        let visits = groups.iter().flat_map(|group| group.all());
        let values = visits.filter_map(|(_, _, figures)| (metric.of)(figures));
        values.map(|share| share * 100.0).collect()
    };
    let relative = groups.iter().flat_map(|group| goodput::relative(group));
    let kinds = [
        ("goodput by its median", relative.collect()),
        ("RV, unloaded", of(&metric::VARIABILITY_IDLE)),
        ("RV, loaded", of(&metric::VARIABILITY_LOADED)),
    ];
    let numbers = ["visits", "mean", "sd", "median", "IQR", "min", "max"];
    let mut columns = vec![Column::name("%")];
    columns.extend(numbers.map(Column::number));
    let rows = kinds.into_iter().filter_map(|(name, values)| {
        let at = |p| stats::quantile(&values, p);
        let figures = [
            stats::mean(&values)?,
            stats::standard_deviation(&values)?,
            at(0.5)?,
            stats::interquartile_range(&values)?,
            at(0.0)?,
            at(1.0)?,
        ];
        let mut cells = vec![name.to_owned(), values.len().to_string()];
        cells.extend(figures.map(|figure| format!("{figure:.1}")));
        (values.len() > 2).then(|| Row::new(cells))
    });
    let rows: Vec<Row> = rows.collect();
    (!rows.is_empty()).then(|| Table::new(columns, rows))
}

pub fn failures(sweep: &Sweep) -> Option<Block> {
    let columns = [
        Column::number("visit"),
        Column::number("cycle"),
        Column::words("setting"),
        Column::words("began"),
        Column::text("why"),
    ];
    let row = |cell: &SweepCell| {
        let why = cell.failed_because.as_deref()?;
        Some(Row::new([
            cell.number.to_string(),
            cell.cycle.to_string(),
            text::setting(&cell.setting),
            cell.started.clone(),
            text::sentence(why),
        ]))
    };
    let rows: Vec<Row> = sweep.cells.iter().filter_map(row).collect();
    folded(
        "Visits that failed",
        FAILURES_OPEN,
        Table::new(columns, rows),
    )
}

pub fn visits(sweep: &Sweep) -> Option<Block> {
    let columns = [
        Column::number("visit"),
        Column::number("cycle"),
        Column::number("streams"),
        Column::number("window"),
        Column::words("direction"),
        Column::words("began"),
        Column::number("run"),
        Column::number("goodput"),
        Column::number("RTT unloaded [ms]"),
        Column::number("RTT loaded [ms]"),
        Column::words("limit"),
    ];
    folded(
        "Every visit",
        0,
        Table::new(columns, sweep.cells.iter().map(visit)),
    )
}

/// Nothing without rows.
fn folded(title: &str, open_to: usize, table: Table) -> Option<Block> {
    let rows = table.rows.len();
    (rows > 0).then(|| Block::details(title, rows, open_to, vec![Block::Table(table)]))
}

fn visit(cell: &SweepCell) -> Row {
    let figures = cell.figures.as_ref();
    let milliseconds = |metric: &Metric| {
        let value = figures.and_then(|figures| (metric.of)(figures));
        or_absent(value, format::milliseconds)
    };
    let goodput = figures.map(|figures| {
        format::rate_with_margin(figures.goodput_bits_per_second, figures.interval.as_ref())
    });
    let limit = figures.and_then(|figures| figures.limit);
    Row::new([
        cell.number.to_string(),
        cell.cycle.to_string(),
        cell.setting.streams.to_string(),
        format::window_with(&cell.setting, None),
        text::direction(cell.setting.direction).to_owned(),
        cell.started.clone(),
        or_absent(cell.run, |run| run.to_string()),
        goodput.unwrap_or_else(|| "failed".to_owned()),
        milliseconds(&metric::IDLE),
        milliseconds(&metric::LOADED),
        limit.map_or(ABSENT, |limit| limit.name()).to_owned(),
    ])
}
