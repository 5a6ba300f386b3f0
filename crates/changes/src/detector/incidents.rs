//! Events that were reported: new ones, revisions, which belong together.

use std::collections::{BTreeMap, VecDeque};

use super::sizes::scaled_size;
use super::{Detector, EVENTS_KEPT, Known};
use crate::{Event, EventKind, Metric, Moved, UnixTime};

/// Metrics whose first visits lie this close show the same event.
const TOGETHER: u64 = 3;
/// Changes to and fro within two days are flapping, and it is over after as long without one.
const FLAPPING: u64 = 96;
/// Until a day after a change, smaller ones are part of it: another rate has another season.
const SETTLES: u64 = 48;
/// A shift back is the shift away but for this share.
const BACK: f64 = 0.4;
/// A shift that is larger than the one before by this factor is a change of its own.
const LARGER: f64 = 1.6;

impl Detector {
    pub(super) fn open(&mut self, kind: EventKind, first: UnixTime, now: UnixTime) -> Event {
        let id = self.next_id;
        self.next_id += 1;
        Event {
            id,
            revision: 0,
            kind,
            first_visit: first,
            confirmed: now,
            recovered: None,
            shifts: Vec::new(),
            causes: Vec::new(),
            failures: BTreeMap::new(),
        }
    }

    pub(super) fn remember(&mut self, event: Event, first: u64) -> Event {
        self.events.push_back(Known {
            event: event.clone(),
            first,
            touched: self.pushed,
            turns: 1,
            turned: VecDeque::from([first]),
            is_away: true,
        });
        if self.events.len() > EVENTS_KEPT {
            self.events.pop_front();
        }
        event
    }

    /// Changes an event that is still known, and gives its next revision.
    pub(super) fn revise(&mut self, id: u64, change: impl FnOnce(&mut Event)) -> Option<Event> {
        let known = self.events.iter_mut().find(|known| known.event.id == id)?;
        change(&mut known.event);
        known.event.revision += 1;
        known.touched = self.pushed;
        Some(known.event.clone())
    }

    /// Changes the causes of an event that is still known. It does not count as a change of the
    /// path.
    pub(super) fn revise_causes(
        &mut self,
        id: u64,
        change: impl FnOnce(&mut Event),
    ) -> Option<Event> {
        let known = self.events.iter_mut().find(|known| known.event.id == id)?;
        change(&mut known.event);
        known.event.revision += 1;
        Some(known.event.clone())
    }

    /// The event that a change with this first visit belongs to.
    pub(super) fn together(&self, first: u64) -> Option<u64> {
        let near = |known: &&Known| {
            known.first.abs_diff(first) <= TOGETHER && known.event.kind != EventKind::NoData
        };
        self.events
            .iter()
            .rev()
            .find(near)
            .map(|known| known.event.id)
    }

    /// The latest event of these metrics and the number of its turns, if it changed within the
    /// last two days or flaps still.
    pub(super) fn unsettled(&self, metrics: &[Metric]) -> Option<(u64, u32)> {
        let concerns = |known: &&Known| {
            known.event.kind != EventKind::NoData
                && self.pushed.saturating_sub(known.touched) <= FLAPPING
                && known
                    .event
                    .shifts
                    .iter()
                    .any(|moved| metrics.contains(&moved.metric))
        };
        let known = self.events.iter().rev().find(concerns)?;
        Some((known.event.id, known.turns))
    }

    /// Counts another change of level, away from where the event began or back.
    pub(super) fn turn(&mut self, id: u64, is_away: bool) {
        let pushed = self.pushed;
        if let Some(known) = self.events.iter_mut().find(|known| known.event.id == id) {
            known.turns += 1;
            known.turned(pushed, is_away);
        }
    }

    /// Whether shifts go the way that the event with this number went.
    pub(super) fn leads_away(&self, id: u64, shifts: &[Moved]) -> bool {
        let known = self.events.iter().find(|known| known.event.id == id);
        known.is_none_or(|known| {
            let mut same = shifts.iter().filter_map(|moved| {
                let first = known
                    .event
                    .shifts
                    .iter()
                    .find(|one| one.metric == moved.metric)?;
                Some(first.size * moved.size > 0.0)
            });
            same.next().unwrap_or(true)
        })
    }

    /// The latest event of the metric that moved most.
    fn latest_of(&self, shifts: &[Moved]) -> Option<(&Known, &Moved)> {
        let metric = shifts.first()?.metric;
        self.events.iter().rev().find_map(|known| {
            let moved = known.event.shifts.iter().find(|one| one.metric == metric)?;
            Some((known, moved))
        })
    }

    /// The event that these shifts undo: within two days by two fifths or more, since hours of the
    /// day differ; later nearly all of it.
    pub(super) fn undone(&self, shifts: &[Moved]) -> Option<u64> {
        let (known, away) = self.latest_of(shifts)?;
        let share = -scaled_size(shifts.first()?) / scaled_size(away);
        let is_back = match self.pushed.saturating_sub(known.touched) <= FLAPPING {
            true => (BACK..LARGER).contains(&share),
            false => (1.0 - BACK..1.0 + BACK).contains(&share),
        };
        (known.event.recovered.is_none() && is_back).then_some(known.event.id)
    }

    /// Whether these shifts are of the size that the latest event of the metric has.
    pub(super) fn is_no_larger(&self, shifts: &[Moved]) -> bool {
        let sizes = self.latest_of(shifts).zip(shifts.first());
        sizes.is_none_or(|((_, away), again)| {
            scaled_size(again).abs() < LARGER * scaled_size(away).abs()
        })
    }

    /// The event of the last day that these smaller shifts go on with.
    pub(super) fn continued(&self, shifts: &[Moved]) -> Option<u64> {
        let (known, away) = self.latest_of(shifts)?;
        let further = scaled_size(shifts.first()?).abs() < scaled_size(away).abs();
        let soon = self.pushed.saturating_sub(known.touched) <= SETTLES;
        (further && soon).then_some(known.event.id)
    }
}
