//! What changed from one sweep to another.

use record::SweepComparison;
use record::sweep_comparison::{ComparedSweep, DirectionChange, SettingChange};

use crate::format::{self, ABSENT, RateUnit, percent};
use crate::text;
use crate::text::sweep::times;

/// The columns of the table of settings, in the order of [`rows`].
pub const COLUMNS: [&str; 9] = [
    "",
    "direction",
    "streams",
    "window",
    "before",
    "after",
    "change",
    "sure",
    "dRTT ms",
];

/// Settings without a sure change are left out of longer tables.
const ROWS_ALL: usize = 24;

/// What changed, by how much, how sure.
pub fn sentences(comparison: &SweepComparison) -> Vec<String> {
    let mut sentences = vec![ends(&comparison.from, &comparison.to)];
    sentences.extend(unlike(&comparison.from, &comparison.to));
    if comparison.directions.is_empty() {
        sentences.push("No setting was measured in both, so nothing can be compared.".to_owned());
    }
    for way in &comparison.directions {
        sentences.extend(direction(way));
    }
    let only = [
        (&comparison.only_from, "first"),
        (&comparison.only_to, "second"),
    ];
    for (settings, which) in only {
        match settings.len() {
            0 => {}
            1 => sentences.push(format!(
                "One setting was measured in the {which} sweep only."
            )),
            n => sentences.push(format!(
                "{n} settings were measured in the {which} sweep only."
            )),
        }
    }
    sentences
}

fn ends(from: &ComparedSweep, to: &ComparedSweep) -> String {
    let one = |sweep: &ComparedSweep| {
        let started = sweep.started.as_deref().map(text::plain);
        let started = started.map_or(String::new(), |at| format!(" from {at}"));
        format!(
            "{} visits of {}{started}",
            sweep.visits,
            text::plain(&sweep.target)
        )
    };
    format!("Before: {}; after: {}.", one(from), one(to))
}

/// What makes the two hard to compare.
fn unlike(from: &ComparedSweep, to: &ComparedSweep) -> Vec<String> {
    let mut sentences = Vec::new();
    if from.target != to.target || from.path_digest != to.path_digest {
        sentences
            .push("The two measured different paths: part of what changed is that.".to_owned());
    }
    if from.durations_seconds != to.durations_seconds {
        sentences.push(format!(
            "Visits took {} before and {} after.",
            times(&from.durations_seconds),
            times(&to.durations_seconds)
        ));
    }
    sentences
}

fn direction(way: &DirectionChange) -> Vec<String> {
    let change = &way.goodput_relative;
    let name = text::direction(way.direction);
    let interval = match (change.low_ratio, change.high_ratio, change.confidence) {
        (Some(low), Some(high), Some(confidence)) => format!(
            " (between {} and {} with {})",
            signed(low),
            signed(high),
            percent(confidence)
        ),
        _ => String::new(),
    };
    let moved = match (change.low_ratio, change.high_ratio) {
        (Some(low), _) if low > 0.0 => "Goodput rose",
        (_, Some(high)) if high < 0.0 => "Goodput fell",
        (Some(_), Some(_)) => "Goodput stayed, as far as can be told",
        _ => "Goodput changed, with too few settings to say how surely",
    };
    let changed = match way.changed {
        0 => "no setting by itself is".to_owned(),
        1 => "one setting by itself is".to_owned(),
        n => format!("{n} settings by themselves are"),
    };
    let mut sentences = vec![format!(
        "{moved}, {name}: {} in the middle of {} settings{interval}; {changed} sure to have changed.",
        signed(change.median_ratio),
        way.compared
    )];
    if let Some(added) = &way.rtt_added {
        sentences.push(format!(
            "dRTT, {name}: {} ms in the middle of the settings.",
            format::added_milliseconds(added.median_seconds)
        ));
    }
    sentences
}

/// A relative change with its sign.
fn signed(share: f64) -> String {
    match share >= 0.0 {
        true => format!("+{}", percent(share)),
        false => percent(share),
    }
}

/// The settings, sure changes marked; of many only those, the largest first. Gives the unit of the rates as well.
pub fn rows(comparison: &SweepComparison) -> (RateUnit, Vec<[String; 9]>) {
    let rates = comparison.settings.iter();
    let top = rates.map(|change| change.from.median_bits_per_second).max();
    let unit = RateUnit::fitting(top.unwrap_or(0) as f64);
    let mut changes: Vec<&SettingChange> = comparison.settings.iter().collect();
    if changes.len() > ROWS_ALL {
        changes.retain(|change| is_sure(change));
        let size = |change: &SettingChange| change.goodput.difference_bits_per_second.abs();
        changes.sort_by(|a, b| size(b).total_cmp(&size(a)));
        changes.truncate(ROWS_ALL);
    }
    (
        unit,
        changes.iter().map(|change| row(change, unit)).collect(),
    )
}

fn is_sure(change: &SettingChange) -> bool {
    change.goodput_changed || change.rtt_added_changed == Some(true)
}

fn row(change: &SettingChange, unit: RateUnit) -> [String; 9] {
    let rate = |bits: f64| unit.number(bits);
    let difference = change.goodput.difference_bits_per_second;
    let half = change
        .goodput
        .low_bits_per_second
        .zip(change.goodput.high_bits_per_second);
    let half = half.map_or(String::new(), |(low, high)| {
        let half = (difference - low).max(high - difference);
        format!(" \u{b1} {}", rate(half))
    });
    let sign = if difference >= 0.0 { "+" } else { "" };
    let added = change.rtt_added.as_ref();
    [
        if is_sure(change) { "*" } else { "" }.to_owned(),
        text::direction(change.setting.direction).to_owned(),
        change.setting.streams.to_string(),
        format::window(change.setting.window),
        rate(change.from.median_bits_per_second as f64),
        rate(change.to.median_bits_per_second as f64),
        format!("{sign}{}{half}", rate(difference)),
        super::sure(change.goodput_confidence_corrected),
        added.map_or(ABSENT.to_owned(), |added| {
            format::added_milliseconds(added.difference_seconds)
        }),
    ]
}
