//! Two sweeps compared: what changed, by how much, how sure.
//!
//! Settings that both visited are compared one by one, by the order of their visits
//! ([`stats::shift`]). Where many are looked at, some differ by chance: a setting counts as changed
//! when its odds of that, corrected for the number of settings, are below 5 % ([`stats::holm`]). A
//! change that moves all settings a little may be too small to be seen in any of them;
//! [`DirectionChange`] takes them together.
//!
//! Left out: what the path itself did between the two, which belongs to the difference.

use observe::{Direction, Setting};
use schemars::JsonSchema;
use serde::Serialize;
use stats::Shift;

use crate::Cell;
use crate::analysis::setting::{Visited, visited};
use crate::{RateShift, RateSpread, RatioSpread, TimeShift, TimeSpread};

/// What changed from one sweep to another.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepChange {
    /// Each direction in which a setting was compared.
    pub directions: Vec<DirectionChange>,
    /// Settings that both measured, in the order of the analysis.
    pub settings: Vec<SettingChange>,
    /// Settings that only the first measured.
    pub only_from: Vec<Setting>,
    /// Settings that only the second measured.
    pub only_to: Vec<Setting>,
}

/// A shift among several.
#[derive(Debug, Clone, Copy)]
struct Change {
    /// As if it were the only one.
    shift: Shift,
    /// Its confidence corrected for the number of settings.
    confidence_corrected: f64,
}

impl Change {
    /// Whether it is sure, with 95 % over all settings.
    fn is_sure(&self) -> bool {
        self.confidence_corrected > stats::CONFIDENCE
    }
}

/// All settings of one direction together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct DirectionChange {
    /// Which way.
    pub direction: Direction,
    /// Settings that were compared.
    pub compared: u64,
    /// Settings whose goodput changed for sure.
    pub changed: u64,
    /// Goodput of the second over that of the first less 1, over settings.
    pub goodput_relative: RatioSpread,
    /// dRTT of the second less that of the first, over settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_added: Option<TimeSpread>,
}

/// One setting in both.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SettingChange {
    /// The setting.
    pub setting: Setting,
    /// Goodput in the first.
    pub from: RateSpread,
    /// Goodput in the second.
    pub to: RateSpread,
    /// The second less the first.
    pub goodput: RateShift,
    /// Its confidence, corrected for the number of settings.
    pub goodput_confidence_corrected: f64,
    /// Whether that is above 95 %.
    pub goodput_changed: bool,
    /// dRTT of the second less that of the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_added: Option<TimeShift>,
    /// Its confidence, corrected for the number of settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_added_confidence_corrected: Option<f64>,
    /// Whether that is above 95 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_added_changed: Option<bool>,
}

/// Compares two sweeps.
pub fn compare(from: &[Cell], to: &[Cell]) -> SweepChange {
    let (from, to) = (visited(from), visited(to));
    let known = |list: &'_ [Visited<'_>], setting: &Setting| {
        let found = list.iter().position(|one| one.figures.setting == *setting);
        found.filter(|index| list[*index].goodput().is_some())
    };
    let pairs = from.iter().filter_map(|one| {
        let other = known(&to, &one.figures.setting)?;
        one.goodput().is_some().then_some((one, &to[other]))
    });
    let settings = settings(&pairs.collect::<Vec<_>>());
    let only = |list: &[Visited<'_>], others: &[Visited<'_>]| -> Vec<Setting> {
        let here = list.iter().filter(|one| one.goodput().is_some());
        here.map(|one| one.figures.setting.clone())
            .filter(|setting| known(others, setting).is_none())
            .collect()
    };
    SweepChange {
        directions: settings
            .chunk_by(|a, b| a.setting.direction == b.setting.direction)
            .filter_map(direction)
            .collect(),
        settings,
        only_from: only(&from, &to),
        only_to: only(&to, &from),
    }
}

fn settings(pairs: &[(&Visited<'_>, &Visited<'_>)]) -> Vec<SettingChange> {
    let added = |setting: &Visited<'_>| -> Vec<f64> {
        setting.visits.iter().filter_map(|v| v.added()).collect()
    };
    let goodputs = pairs
        .iter()
        .map(|(from, to)| stats::shift(&from.goodputs(), &to.goodputs()));
    let goodputs = corrected(&goodputs.collect::<Vec<_>>());
    let added = pairs
        .iter()
        .map(|(from, to)| stats::shift(&added(from), &added(to)));
    let added = corrected(&added.collect::<Vec<_>>());
    let changes = pairs.iter().zip(goodputs.into_iter().zip(added));
    changes
        .filter_map(|((from, to), (goodput, rtt_added))| {
            let goodput = goodput?;
            Some(SettingChange {
                setting: from.figures.setting.clone(),
                from: from.figures.goodput?,
                to: to.figures.goodput?,
                goodput: goodput.shift.into(),
                goodput_confidence_corrected: goodput.confidence_corrected,
                goodput_changed: goodput.is_sure(),
                rtt_added: rtt_added.map(|added| added.shift.into()),
                rtt_added_confidence_corrected: rtt_added.map(|added| added.confidence_corrected),
                rtt_added_changed: rtt_added.map(|added| added.is_sure()),
            })
        })
        .collect()
}

/// With the correction for the number of those that could be compared.
fn corrected(shifts: &[Option<Shift>]) -> Vec<Option<Change>> {
    let known = shifts.iter().flatten();
    let odds: Vec<f64> = known.map(|shift| 1.0 - shift.confidence).collect();
    let mut corrected = stats::holm(&odds).into_iter();
    let mut change = |shift: &Shift| {
        Some(Change {
            shift: *shift,
            confidence_corrected: 1.0 - corrected.next()?,
        })
    };
    let with = shifts
        .iter()
        .map(|shift| shift.as_ref().and_then(&mut change));
    with.collect()
}

fn direction(settings: &[SettingChange]) -> Option<DirectionChange> {
    let median = |spread: RateSpread| spread.median_bits_per_second as f64;
    let ratios = settings
        .iter()
        .filter(|change| median(change.from) > 0.0)
        .map(|change| median(change.to) / median(change.from) - 1.0);
    let added = settings
        .iter()
        .filter_map(|change| Some(change.rtt_added?.difference_seconds));
    Some(DirectionChange {
        direction: settings.first()?.setting.direction,
        compared: settings.len() as u64,
        changed: settings.iter().filter(|one| one.goodput_changed).count() as u64,
        goodput_relative: stats::spread(&ratios.collect::<Vec<_>>())?.into(),
        rtt_added: stats::spread(&added.collect::<Vec<_>>()).map(TimeSpread::from),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixtures::{Truth, made, toy};

    const GRID: [(u16, u64); 8] = [
        (1, 64),
        (2, 64),
        (4, 64),
        (8, 64),
        (1, 256),
        (2, 256),
        (4, 256),
        (8, 256),
    ];

    fn sweep(seed: u64, truth: impl Fn(u16, u64) -> Truth) -> Vec<Cell> {
        made(seed).cells(&GRID, truth)
    }

    fn scaled(factor: f64) -> impl Fn(u16, u64) -> Truth {
        move |streams, window| Truth {
            goodput: factor * toy(streams, window).goodput,
            ..toy(streams, window)
        }
    }

    #[test]
    fn a_sweep_and_its_repeat_do_not_differ() {
        let mut alarms = 0;
        for seed in 1..=20 {
            let change = compare(&sweep(seed, toy), &sweep(seed + 100, toy));
            assert_eq!(change.settings.len(), GRID.len());
            alarms += change.directions[0].changed;
        }
        // One sweep in twenty may have one.
        assert!(alarms <= 4, "{alarms}");
    }

    #[test]
    fn one_setting_that_changed_is_found_among_others() {
        let slower = |streams, window| match (streams, window) {
            (8, 64) => scaled(0.9)(streams, window),
            _ => toy(streams, window),
        };
        let change = compare(&sweep(1, toy), &sweep(2, slower));
        let sure: Vec<&SettingChange> = change
            .settings
            .iter()
            .filter(|c| c.goodput_changed)
            .collect();
        assert_eq!(sure.len(), 1);
        assert_eq!(sure[0].setting.streams.get(), 8);
        let shift = sure[0].goodput;
        // 10 % of 40 Mbit/s; noise of 3 % on 21 visits leaves 0.4 Mbit/s.
        assert!(
            (shift.difference_bits_per_second + 4e6).abs() < 1.2e6,
            "{shift:?}"
        );
        assert!(shift.high_bits_per_second.unwrap() < 0.0);
    }

    /// Two per cent are about two standard errors of a single setting's 21 visits, too little to be
    /// sure of after the correction; over 24 settings they are six.
    #[test]
    fn a_small_change_of_all_shows_in_all_together() {
        let grid: Vec<(u16, u64)> = (1..=8)
            .flat_map(|streams| [64, 128, 256].map(|window| (streams, window)))
            .collect();
        for seed in 1..=5 {
            let before = made(seed).cells(&grid, toy);
            let change = compare(&before, &made(seed + 100).cells(&grid, scaled(1.02)));
            let together = change.directions[0].goodput_relative;
            assert!((together.median_ratio - 0.02).abs() < 0.012, "{together:?}");
            assert!(together.low_ratio.unwrap() > 0.0, "{together:?}");
            assert!(change.directions[0].changed < 12, "seed {seed}");
        }
    }

    #[test]
    fn settings_of_one_sweep_only_are_named() {
        let mut shorter = sweep(2, toy);
        shorter.retain(|cell| cell.setting.streams.get() != 8);
        let change = compare(&sweep(1, toy), &shorter);
        assert_eq!((change.only_from.len(), change.only_to.len()), (2, 0));
        assert_eq!(change.settings.len(), 6);
        let change = compare(&[], &shorter);
        assert_eq!((change.only_to.len(), change.directions.len()), (6, 0));
    }
}
