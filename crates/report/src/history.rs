//! Kept documents as lists, and two of them side by side.
//!
//! Here is what terminal and page share; `terminal/history.rs` and `html/comparison.rs` lay it out.
//! `csv.rs` has the list as comma-separated values.

mod csv;
mod visits;

use record::archive::{Comparison, Entry, Essence, Listed, Outcome, Point, SweepEntry};
use record::{Direction, Setting};

use crate::format::{self, ABSENT, RateUnit};
use crate::text;

pub use csv::{csv, run_csv};
pub use visits::visits_csv;

/// What is unknown is empty.
pub(crate) fn known(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "forward",
        Direction::Reverse => "reverse",
        Direction::Both => "both",
    }
}

/// The columns of the list for people.
pub const COLUMNS: [&str; 7] = [
    "id", "date", "target", "kind", "setting", "goodput", "limit",
];

/// The cells of one entry, in the order of [`COLUMNS`].
pub fn listed(entry: &Listed) -> [String; 7] {
    match entry {
        Listed::Run(entry) => row(entry),
        Listed::Sweep(sweep) => sweep_row(sweep),
    }
}

/// A sweep has no operating point: how many cells its grid has and how many visits were made stands in its place.
fn sweep_row(sweep: &SweepEntry) -> [String; 7] {
    let failed = match sweep.failed {
        0 => ABSENT.to_owned(),
        failed => format!("{failed} failed"),
    };
    [
        sweep.id.to_string(),
        date(&sweep.created),
        text::plain(&sweep.target.name),
        "sweep".to_owned(),
        format!("{} cells", sweep.settings),
        format!("{} of {}", sweep.measured, sweep.visits()),
        failed,
    ]
}

/// A setting as it was asked for: `8 x 64KiB, reverse`.
pub fn asked(setting: &Setting) -> String {
    self::setting(&Point {
        streams: setting.streams.into(),
        window: setting.window,
        direction: setting.direction,
        congestion: setting.congestion.clone(),
        pacing_bits_per_second: setting.pacing_bits_per_second,
        mss_bytes: setting.mss_bytes,
    })
}

fn row(entry: &Entry) -> [String; 7] {
    let essence = &entry.essence;
    let outcome = &essence.outcome;
    [
        entry.id.to_string(),
        date(&essence.created),
        text::plain(&essence.target.name),
        essence.schema.kind().to_owned(),
        streams_and_window(&outcome.setting),
        format::rate(outcome.goodput_bits_per_second),
        text::plain(outcome.limit.as_deref().unwrap_or(ABSENT)),
    ]
}

/// `2026-11-22 07:10` of `2026-11-22T07:10:00Z`.
fn date(created: &str) -> String {
    let minutes: String = created.chars().take("2026-11-22T07:10".len()).collect();
    text::plain(&minutes.replace('T', " "))
}

/// One line of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// What it is.
    pub name: &'static str,
    /// Of the first document.
    pub from: String,
    /// Of the second.
    pub to: String,
}

impl Compared {
    /// Whether the two documents differ in it.
    pub fn differs(&self) -> bool {
        self.from != self.to
    }
}

type Cell = fn(&Essence) -> String;

/// Everything that two documents are compared by, in the order in which it is shown.
pub fn compared(comparison: &Comparison) -> Vec<Compared> {
    let rows: [(&'static str, Cell); 12] = [
        ("date", |e| date(&e.created)),
        ("target", |e| text::plain(&e.target.name)),
        ("path", |e| known(e.target.path_digest.as_ref())),
        ("sought", |e| known(e.objective.as_ref())),
        ("setting", |e| setting(&e.outcome.setting)),
        ("goodput", |e| goodput(&e.outcome)),
        ("RTT idle", |e| milliseconds(e.outcome.rtt_unloaded_seconds)),
        ("RTT loaded", |e| milliseconds(e.outcome.rtt_loaded_seconds)),
        ("resent", |e| {
            format::or_absent(e.outcome.retransmitted_ratio, format::percent)
        }),
        ("limit", |e| known(e.outcome.limit.as_ref())),
        ("host", host),
        ("trunkline", |e| e.trunkline_version.clone()),
    ];
    let (from, to) = (&comparison.from.essence, &comparison.to.essence);
    let rows = rows.into_iter().map(|(name, cell)| Compared {
        name,
        from: shown(&cell(from)),
        to: shown(&cell(to)),
    });
    rows.filter(|row| row.from != ABSENT || row.to != ABSENT)
        .collect()
}

fn shown(text: &str) -> String {
    match text.trim() {
        "" => ABSENT.to_owned(),
        text => text::plain(text),
    }
}

fn goodput(outcome: &Outcome) -> String {
    format::rate_with_margin(outcome.goodput_bits_per_second, outcome.interval.as_ref())
}

fn milliseconds(seconds: Option<f64>) -> String {
    format::or_absent(seconds, |s| format!("{} ms", format::milliseconds(s)))
}

/// `8 x 64KiB`.
fn streams_and_window(point: &Point) -> String {
    format!("{} x {}", point.streams, format::window(point.window))
}

fn setting(point: &Point) -> String {
    let way = match point.direction {
        Direction::Forward => "",
        Direction::Reverse => ", reverse",
        Direction::Both => ", both ways",
    };
    let congestion = point.congestion.as_ref();
    let congestion = congestion.map(|name| format!(", {name}"));
    let pacing = point.pacing_bits_per_second;
    let pacing = pacing.map(|rate| format!(", paced at {}", format::rate(rate)));
    format!(
        "{}{way}{}{}",
        streams_and_window(point),
        congestion.unwrap_or_default(),
        pacing.unwrap_or_default()
    )
}

fn host(essence: &Essence) -> String {
    let parts = [essence.host.as_deref(), essence.kernel.as_deref()];
    let known: Vec<&str> = parts.into_iter().flatten().collect();
    known.join(", ")
}

/// What the comparison says: by how much, how surely, and what else differs.
pub fn sentences(comparison: &Comparison) -> Vec<String> {
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
