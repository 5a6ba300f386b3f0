//! When flapping is over.

use super::sizes::EXCURSION;
use super::{Detector, Known};
use crate::series::RECENT;
use crate::{Event, EventKind, UnixTime};

/// Turns that are kept: what is usual for the path now.
const TURNS_KEPT: usize = 8;
/// It is over after this many of its longest times between two turns without one.
const QUIET: u64 = 3;
/// Bounds of that time in visits: half a day and two days of half-hourly ones.
const QUIET_MIN: u64 = RECENT as u64;
const QUIET_MAX: u64 = 96;

impl Known {
    /// Notes a turn at the visit of this number.
    pub(super) fn turned(&mut self, visit: u64, is_away: bool) {
        self.turned.push_back(visit);
        if self.turned.len() > TURNS_KEPT {
            self.turned.pop_front();
        }
        self.is_away = is_away;
        self.touched = visit;
    }

    /// Visits without a turn after which it flaps no more.
    fn quiet(&self) -> u64 {
        let turns: Vec<u64> = self.turned.iter().copied().collect();
        let gaps = turns.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
        let longest = gaps.max().unwrap_or(QUIET_MAX);
        longest.saturating_mul(QUIET).clamp(QUIET_MIN, QUIET_MAX)
    }

    fn is_flapping(&self) -> bool {
        self.event.kind == EventKind::Flapping && self.event.recovered.is_none()
    }
}

impl Detector {
    /// Flapping that has been quiet for three of its longest times between two turns is over: a
    /// step where its last turn led away, and recovered where it led back.
    pub(super) fn settled_flapping(&mut self, now: UnixTime) -> Vec<Event> {
        let pushed = self.pushed;
        for known in self.events.iter_mut().filter(|known| known.is_flapping()) {
            let metrics = known.event.shifts.iter().map(|moved| moved.metric);
            let metrics: Vec<_> = metrics.collect();
            let mut own = self
                .series
                .iter()
                .filter(|one| metrics.contains(&one.metric));
            // An excursion comes back by itself.
            if own.any(|series| series.goes_out(EXCURSION)) {
                let is_away = known.is_away;
                known.turned(pushed, is_away);
            }
        }
        let over = self.events.iter().filter(|known| known.is_flapping());
        let over = over.filter(|known| pushed.saturating_sub(known.touched) > known.quiet());
        let over: Vec<(u64, u64, bool)> = over
            .map(|known| (known.event.id, known.touched, known.is_away))
            .collect();
        let ends = over.into_iter().filter_map(|(id, last, is_away)| {
            let at = self.time_of(last).unwrap_or(now);
            self.revise(id, |event| match is_away {
                true => event.kind = EventKind::Step,
                false => event.recovered = Some(at.max(event.first_visit)),
            })
        });
        ends.collect()
    }
}
