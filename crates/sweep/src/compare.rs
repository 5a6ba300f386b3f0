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
use stats::{Shift, Spread};

use crate::Cell;
use crate::analysis::setting::{Visited, visited};

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

/// One setting in both sweeps.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingChange {
    /// The setting.
    pub setting: Setting,
    /// Goodput in the first, bit/s.
    pub from: Spread,
    /// Goodput in the second.
    pub to: Spread,
    /// Goodput of the second less that of the first.
    pub goodput: Change,
    /// dRTT of the second less that of the first, in seconds.
    pub rtt_added: Option<Change>,
}

/// A shift among several.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// As if it were the only one.
    pub shift: Shift,
    /// Its confidence corrected for the number of settings.
    pub confidence_corrected: f64,
}

impl Change {
    /// Whether it is sure, with 95 % over all settings.
    pub fn is_sure(&self) -> bool {
        self.confidence_corrected > stats::CONFIDENCE
    }
}

/// All settings of one direction together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DirectionChange {
    /// Which way.
    pub direction: Direction,
    /// Settings that changed for sure in goodput.
    pub changed: usize,
    /// Median goodput of the second over that of the first, less 1, over settings.
    pub goodput_relative: Spread,
    /// Median dRTT of the second less that of the first, over settings, in seconds.
    pub rtt_added: Option<Spread>,
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
            Some(SettingChange {
                setting: from.figures.setting.clone(),
                from: from.figures.goodput?,
                to: to.figures.goodput?,
                goodput: goodput?,
                rtt_added,
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
    let ratios = settings
        .iter()
        .filter(|change| change.from.median > 0.0)
        .map(|change| change.to.median / change.from.median - 1.0);
    let added = settings
        .iter()
        .filter_map(|change| Some(change.rtt_added?.shift.value));
    Some(DirectionChange {
        direction: settings.first()?.setting.direction,
        changed: settings
            .iter()
            .filter(|change| change.goodput.is_sure())
            .count(),
        goodput_relative: stats::spread(&ratios.collect::<Vec<_>>())?,
        rtt_added: stats::spread(&added.collect::<Vec<_>>()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::made::{Truth, made, toy};

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
            .filter(|c| c.goodput.is_sure())
            .collect();
        assert_eq!(sure.len(), 1);
        assert_eq!(sure[0].setting.streams.get(), 8);
        let shift = sure[0].goodput.shift;
        // 10 % of 40 Mbit/s; noise of 3 % on 21 visits leaves 0.4 Mbit/s.
        assert!((shift.value + 4e6).abs() < 1.2e6, "{shift:?}");
        assert!(shift.interval.unwrap().high < 0.0);
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
            assert!((together.median - 0.02).abs() < 0.012, "{together:?}");
            assert!(together.interval.unwrap().low > 0.0, "{together:?}");
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
