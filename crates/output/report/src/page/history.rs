//! Kept documents as a list, and two of them side by side.

use archive::{Comparison, Entry, Essence, Listed, Outcome, SweepEntry};

use super::beside;
use crate::rows::known;
use crate::text;
use draw::format::{self, ABSENT, RateUnit, or_absent};
use draw::page::{Block, Cell, Column, Page, Row, Standing, Table};

/// The list, in the order of `entries`. Where the target stands is the one column that may break.
pub fn list(entries: &[Listed]) -> Table {
    let headings = [
        "id", "date", "target", "kind", "setting", "goodput", "limit",
    ];
    let columns = headings.map(|heading| match heading {
        "target" => Column::text(heading),
        "goodput" => Column::number(heading),
        heading => Column::words(heading),
    });
    let row = |entry: &Listed| match entry {
        Listed::Run(entry) => Row::new(row(entry)),
        Listed::Sweep(sweep) => Row::new(sweep_row(sweep)),
    };
    Table::new(columns, entries.iter().map(row)).tight()
}

/// Two documents side by side.
pub fn comparison(comparison: &Comparison) -> Page {
    let (from, to) = (comparison.from.id, comparison.to.id);
    let headings = [String::new(), format!("run {from}"), format!("run {to}")];
    let table = Table::new(headings.map(Column::words), rows(comparison));
    let mut blocks = vec![Block::Table(table), Block::Why(sentences(comparison))];
    blocks.extend(beside::figure(&comparison.beside));
    blocks.extend(beside::tables(&comparison.beside));
    Page::new("history", format!("run {from} and run {to}"), blocks)
}

/// Everything that two documents are compared by, in the order in which it is shown; what differs
/// is marked.
fn rows(comparison: &Comparison) -> Vec<Row> {
    let both = [&comparison.from.essence, &comparison.to.essence];
    let row = |(name, cell): (&str, CellText)| {
        let [from, to] = both.map(|essence| shown(&cell(essence)));
        let (differs, is_known) = (from != to, from != ABSENT || to != ABSENT);
        let to = Cell {
            text: to,
            is_strong: differs,
            ..Cell::default()
        };
        let standing = match differs {
            true => Standing::Differs,
            false => Standing::Other,
        };
        let row = Row::new([Cell::from(name), Cell::from(from), to]).standing(standing);
        is_known.then_some(row)
    };
    CELLS.into_iter().filter_map(row).collect()
}

/// Runs that differ by this factor are not compared in percent.
const FAR_APART: f64 = 10.0;

type CellText = fn(&Essence) -> String;

const CELLS: [(&str, CellText); 12] = [
    ("date", |e| date(&e.created)),
    ("target", |e| e.target.name.clone()),
    ("path", |e| known(e.target.path_digest.as_ref())),
    ("sought", |e| known(e.objective.as_ref())),
    ("setting", |e| text::point_in_full(&e.outcome.setting)),
    ("goodput", |e| goodput(&e.outcome)),
    ("RTT idle", |e| milliseconds(e.outcome.rtt_unloaded_seconds)),
    ("RTT loaded", |e| milliseconds(e.outcome.rtt_loaded_seconds)),
    ("resent", |e| {
        or_absent(e.outcome.retransmitted_ratio, format::percent)
    }),
    ("limit", |e| known(e.outcome.limit.as_ref())),
    ("host", host),
    ("trunkline", |e| e.trunkline_version.clone()),
];

/// A sweep has no operating point: how many cells its grid has and how many visits were made stands
/// in its place.
fn sweep_row(sweep: &SweepEntry) -> [String; 7] {
    let failed = match sweep.failed {
        0 => ABSENT.to_owned(),
        failed => format!("{failed} failed"),
    };
    [
        sweep.id.to_string(),
        date(&sweep.created),
        sweep.target.name.clone(),
        "sweep".to_owned(),
        format!("{} cells", sweep.settings),
        format!("{} of {}", sweep.measured, sweep.visits()),
        failed,
    ]
}

fn row(entry: &Entry) -> [String; 7] {
    let essence = &entry.essence;
    let outcome = &essence.outcome;
    [
        entry.id.to_string(),
        date(&essence.created),
        essence.target.name.clone(),
        essence.schema.kind().to_owned(),
        text::streams_and_window(&outcome.setting),
        format::rate(outcome.goodput_bits_per_second),
        outcome.limit.as_deref().unwrap_or(ABSENT).to_owned(),
    ]
}

/// `2026-11-22 07:10` of `2026-11-22T07:10:00Z`.
fn date(created: &str) -> String {
    let minutes: String = created.chars().take("2026-11-22T07:10".len()).collect();
    minutes.replace('T', " ")
}

fn shown(text: &str) -> String {
    match text.trim() {
        "" => ABSENT.to_owned(),
        text => text.to_owned(),
    }
}

fn goodput(outcome: &Outcome) -> String {
    format::rate_with_margin(outcome.goodput_bits_per_second, outcome.interval.as_ref())
}

fn milliseconds(seconds: Option<f64>) -> String {
    format::or_absent(seconds, |s| format!("{} ms", format::milliseconds(s)))
}

fn host(essence: &Essence) -> String {
    let parts = [essence.host.as_deref(), essence.kernel.as_deref()];
    let known: Vec<&str> = parts.into_iter().flatten().collect();
    known.join(", ")
}

/// What the comparison says: by how much, how surely, and what else differs.
fn sentences(comparison: &Comparison) -> Vec<String> {
    let mut sentences = vec![by_how_much(comparison), how_surely(comparison)];
    let (from, to) = (&comparison.from.essence, &comparison.to.essence);
    if from.target != to.target {
        sentences.push(
            "The two ran over different paths, so the difference is that of the paths too."
                .to_owned(),
        );
    }
    sentences
}

fn by_how_much(comparison: &Comparison) -> String {
    let change = &comparison.goodput;
    let ids = (comparison.from.id, comparison.to.id);
    let difference = change.difference_bits_per_second;
    let size = format::rate(difference.abs() as u64);
    let share = change.difference_ratio.unwrap_or(0.0);
    let goodputs = [&comparison.from, &comparison.to]
        .map(|entry| format::rate(entry.essence.outcome.goodput_bits_per_second));
    if let Some(sentence) = multiple(ids, 1.0 + share, &goodputs) {
        return sentence;
    }
    let share = change.difference_ratio.map(f64::abs).map(format::percent);
    let share = share.map(|share| format!(" ({share})")).unwrap_or_default();
    match difference {
        0.0 => format!("Run {} carried as much as run {}.", ids.1, ids.0),
        more if more > 0.0 => format!(
            "Run {} carried {size}{share} more than run {}.",
            ids.1, ids.0
        ),
        _ => format!(
            "Run {} carried {size}{share} less than run {}.",
            ids.1, ids.0
        ),
    }
}

/// How many times one carried what the other did, where they are too far apart for percents.
///
/// * `ratio`: goodput of the second as a share of that of the first.
fn multiple(ids: (i64, i64), ratio: f64, goodputs: &[String; 2]) -> Option<String> {
    let [first, second] = goodputs;
    let told = |more: i64, less: i64, times: f64| {
        format!("Run {more} carried {times:.0} times what run {less} did: {first}, then {second}.")
    };
    match ratio {
        many if many >= FAR_APART => Some(told(ids.1, ids.0, many)),
        few if few > 0.0 && few <= 1.0 / FAR_APART => Some(told(ids.0, ids.1, 1.0 / few)),
        _ => None,
    }
}

fn how_surely(comparison: &Comparison) -> String {
    let change = &comparison.goodput;
    let Some((interval, confidence)) = change.interval.zip(change.confidence) else {
        return format!(
            "How sure that is cannot be told: {}.",
            without_interval(comparison)
        );
    };
    let (low, high) = (interval.low_bits_per_second, interval.high_bits_per_second);
    let unit = RateUnit::fitting(low.abs().max(high.abs()));
    let range = format!(
        "The 95 % interval of the difference is {} to {} {}",
        signed(low, &unit),
        signed(high, &unit),
        unit.name
    );
    let sure = match confidence {
        sure if sure > 0.999 => "more than 99.9 %".to_owned(),
        sure => format::percent(sure),
    };
    match low > 0.0 || high < 0.0 {
        true => format!("{range}; that there is one is sure to {sure}."),
        false => format!("{range}: it may be chance. That there is one is sure to only {sure}."),
    }
}

fn without_interval(comparison: &Comparison) -> String {
    let both = [&comparison.from, &comparison.to];
    let bare = both
        .into_iter()
        .filter(|entry| entry.essence.outcome.mean().is_none());
    let ids: Vec<String> = bare.map(|entry| entry.id.to_string()).collect();
    match ids.as_slice() {
        [one] => format!("run {one} did not settle or was too short for an interval"),
        _ => format!(
            "runs {} did not settle or were too short for an interval",
            ids.join(" and ")
        ),
    }
}

fn signed(bits_per_second: f64, unit: &RateUnit) -> String {
    let number = unit.number(bits_per_second);
    match bits_per_second > 0.0 {
        true => format!("+{number}"),
        false => number,
    }
}

#[cfg(test)]
mod tests;
