//! The page that sets two sweeps side by side.

use record::SweepComparison;
use record::sweep::{DirectionChange, SettingChange};
use record::sweep_comparison::ComparedSweep;

use super::beside;
use crate::text;
use crate::text::sweep::{sure, times};
use draw::format::{self, RateUnit, or_absent, percent};
use draw::page::{Block, Column, Page, Row, Standing, Table};

/// Settings without a sure change are left out of longer tables.
const ROWS_ALL: usize = 24;

pub fn page(comparison: &SweepComparison) -> Page {
    let (from, to) = (&comparison.from.target, &comparison.to.target);
    let title = match from == to {
        true => from.clone(),
        false => format!("{from} and {to}"),
    };
    let mut blocks = vec![Block::Sentences(sentences(comparison))];
    let (unit, table) = table(comparison);
    if !table.rows.is_empty() {
        let note = format!(
            "Rates in {}; \"sure\" is corrected for the number of settings.",
            unit.name
        );
        blocks.extend([Block::Table(table), Block::note(note)]);
    }
    blocks.extend(beside::figure(&comparison.beside));
    blocks.extend(beside::tables(&comparison.beside));
    Page::new("history", title, blocks)
}

/// What changed, by how much, how sure.
fn sentences(comparison: &SweepComparison) -> Vec<String> {
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
        let started = sweep.started.as_deref();
        let started = started.map_or(String::new(), |at| format!(" from {at}"));
        format!("{} visits of {}{started}", sweep.visits, sweep.target)
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
    if from.durations != to.durations {
        sentences.push(format!(
            "Visits took {} before and {} after.",
            times(&from.durations),
            times(&to.durations)
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
        "{moved}, {name}: {} in the middle of {} settings{interval}; {changed} sure to have \
            changed.",
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

/// The settings, sure changes marked; of many only those, the largest first. With the unit of the
/// rates.
fn table(comparison: &SweepComparison) -> (RateUnit, Table) {
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
    let numbers = [
        "streams", "window", "before", "after", "change", "sure", "dRTT ms",
    ];
    let columns = [Column::words("direction")]
        .into_iter()
        .chain(numbers.map(Column::number));
    (
        unit,
        Table::new(columns, changes.iter().map(|change| row(change, unit))),
    )
}

fn is_sure(change: &SettingChange) -> bool {
    change.goodput_changed || change.rtt_added_changed == Some(true)
}

fn row(change: &SettingChange, unit: RateUnit) -> Row {
    let rate = |bits: f64| unit.number(bits);
    let goodput = &change.goodput;
    let difference = goodput.difference_bits_per_second;
    let ends = goodput
        .low_bits_per_second
        .zip(goodput.high_bits_per_second);
    let half = ends.map_or(String::new(), |(low, high)| {
        let half = (difference - low).max(high - difference);
        format!(" \u{b1} {}", rate(half))
    });
    let sign = if difference >= 0.0 { "+" } else { "" };
    let added = change.rtt_added.as_ref();
    let standing = match is_sure(change) {
        true => Standing::Differs,
        false => Standing::Other,
    };
    let row = Row::new([
        text::direction(change.setting.direction).to_owned(),
        change.setting.streams.to_string(),
        change.setting.window.to_string(),
        rate(change.from.median_bits_per_second as f64),
        rate(change.to.median_bits_per_second as f64),
        format!("{sign}{}{half}", rate(difference)),
        sure(change.goodput_confidence_corrected),
        or_absent(added, |added| {
            format::added_milliseconds(added.difference_seconds)
        }),
    ]);
    row.standing(standing)
}

#[cfg(test)]
mod tests {
    use record::Sweep;
    use record::synthetic::{self, SweepCase};

    use super::*;

    fn swept(seed: u64) -> Sweep {
        let case = SweepCase {
            streams: vec![1, 2, 4, 8, 16, 32],
            cycles: 8,
            ..SweepCase::windows_against_streams(seed)
        };
        synthetic::sweep(&case).body
    }

    #[test]
    fn a_sweep_and_its_repeat_are_about_the_same() {
        let comparison = SweepComparison::new(&swept(7), &swept(8));
        let text = sentences(&comparison).join(" ");
        assert!(text.contains("no setting by itself is sure"), "{text}");
        assert!(!text.contains("different paths"), "{text}");
    }

    #[test]
    fn half_the_goodput_is_told_with_its_interval() {
        let mut slower = swept(8);
        for figures in slower
            .cells
            .iter_mut()
            .filter_map(|cell| cell.figures.as_mut())
        {
            figures.goodput_bits_per_second /= 2;
        }
        let comparison = SweepComparison::new(&swept(7), &slower);
        let text = sentences(&comparison).join(" ");
        assert!(text.contains("Goodput fell, sending: -5"), "{text}");
        let (_, table) = table(&comparison);
        assert_eq!(table.rows.len(), 24);
        let mut rows = table.rows.iter();
        assert!(rows.all(|row| row.standing == Standing::Differs));
    }

    #[test]
    fn sweeps_without_a_common_setting_say_so() {
        let mut other = swept(8);
        other.cells.retain(|cell| cell.setting.streams.get() == 1);
        let mut one = swept(7);
        one.cells.retain(|cell| cell.setting.streams.get() == 2);
        let text = sentences(&SweepComparison::new(&one, &other)).join(" ");
        assert!(text.contains("No setting was measured in both"), "{text}");
        assert!(
            text.contains("4 settings were measured in the second sweep only"),
            "{text}"
        );
    }
}
