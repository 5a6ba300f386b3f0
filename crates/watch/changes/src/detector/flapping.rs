//! Changes to and fro: one event from the third on, over after a quiet time.

use std::collections::VecDeque;

use super::Detector;
use super::life::Known;
use crate::series::{RECENT, Series};
use crate::{Event, Metric, UnixTime};

/// A visit this far out is part of an excursion.
pub(super) const EXCURSION: f64 = 3.5;
/// So many changes within two days, each with its end, make the next one flapping.
const CHANGES_BEFORE: usize = 2;
const WITHIN: u64 = 96;
/// A shift the same way that is this large beside the first is another turn.
const AGAIN: f64 = 0.5;
/// Turns that are kept: what is usual for the path now.
const TURNS_KEPT: usize = 8;
/// It is over after this many of its longest times between two turns without one.
const QUIET: u64 = 3;
/// Bounds of that time in visits: half a day and two days of half-hourly ones.
const QUIET_MIN: u64 = RECENT as u64;
const QUIET_MAX: u64 = WITHIN;

impl Known {
    /// Notes a turn at the visit of this number.
    pub fn turn(&mut self, visit: u64) {
        self.turned.push_back(visit);
        if self.turned.len() > TURNS_KEPT {
            self.turned.pop_front();
        }
    }

    fn last_turn(&self) -> u64 {
        self.turned.back().copied().unwrap_or(self.first)
    }

    /// Visits without a turn after which it flaps no more.
    fn quiet(&self) -> u64 {
        let turns: Vec<u64> = self.turned.iter().copied().collect();
        let gaps = turns.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
        let longest = gaps.max().unwrap_or(QUIET_MAX);
        longest.saturating_mul(QUIET).clamp(QUIET_MIN, QUIET_MAX)
    }
}

impl Detector {
    /// The turns of the changes before one, where they make it flapping.
    pub(super) fn turns_before(&self, metric: Metric, size: f64) -> Option<VecDeque<u64>> {
        let recent = self.events.iter().filter(|known| {
            let same = known.event.shifts.iter();
            let mut same = same.filter(|one| one.metric == metric);
            same.any(|one| (AGAIN..1.0 / AGAIN).contains(&(one.size / size)))
                && known.back.is_some()
                && known.first + WITHIN >= self.pushed
        });
        let turns = recent.flat_map(|known| [Some(known.first), known.back]);
        let mut turns: Vec<u64> = turns.flatten().collect();
        turns.sort_unstable();
        (turns.len() >= 2 * CHANGES_BEFORE).then(|| turns.into())
    }

    /// The event to and fro of a metric that is back for now and goes away again since `first`.
    pub(super) fn flaps(&self, series: &Series, first: u64) -> Option<u64> {
        let again = series.shift_since(first)?;
        let own = self.events.iter().rev();
        let mut own = own.filter(|known| known.is_flapping() && series.has(known.event.id));
        let found = own.find(|known| {
            let share = again / series.shift_of(known.event.id);
            series.away().all(|away| away != known.event.id) && share > AGAIN
        });
        found.map(|known| known.event.id)
    }

    /// Whether a metric flaps, or changed within the last two days.
    pub(super) fn is_unsettled(&self, metric: Metric) -> bool {
        self.events.iter().any(|known| {
            known.has_metric(metric) && (known.is_flapping() || known.first + WITHIN >= self.pushed)
        })
    }

    /// Ends the flapping that has been quiet for three of its longest times between two turns.
    pub(super) fn settled_flapping(&mut self) -> Vec<Event> {
        let pushed = self.pushed;
        for known in self.events.iter_mut().filter(|known| known.is_flapping()) {
            let own = known.event.shifts.iter().filter_map(|moved| {
                let mut series = self.series.iter();
                Some((series.find(|one| one.metric == moved.metric)?, moved))
            });
            let mut own = own.map(|(series, moved)| {
                let shift = moved.metric.scaled(moved.after) - moved.metric.scaled(moved.before);
                series.goes_out(EXCURSION, AGAIN * shift)
            });
            // An excursion comes back by itself.
            if own.any(|is_out| is_out) {
                known.turn(pushed);
                known.back = Some(pushed);
            }
        }
        let calm = self.events.iter().filter(|known| {
            known.is_flapping()
                && pushed.saturating_sub(known.last_turn()) > known.quiet()
                && !self.is_away(known.event.id)
        });
        let calm: Vec<(u64, u64)> = calm
            .map(|known| (known.event.id, known.back.unwrap_or(known.first)))
            .collect();
        let ends = calm.into_iter().filter_map(|(id, back)| {
            for series in &mut self.series {
                series.release(id, back);
            }
            let at: UnixTime = self.time_of(back)?;
            self.end(id, at)
        });
        ends.collect()
    }
}
