//! What stands out in the latest visits.

use stats::median;

use super::{Candidate, RECENT, Series, VISITS_MIN};
use crate::usual::LENGTHS;

/// Of three visits the weakest shows this share of what the middle one does.
const WEAKEST: f64 = 0.5;

/// Others' traffic comes for hours and goes: what takes many visits to be told has to stand out
/// more.
fn doubt_of(visits: usize) -> f64 {
    match visits {
        0..6 => 1.0,
        6..16 => 1.4,
        _ => 1.8,
    }
}

impl Series {
    /// The shift of the latest visits that stands out most.
    pub fn candidate(&self) -> Option<Candidate> {
        if !self.is_known() {
            return None;
        }
        let free = self.free();
        let tried = LENGTHS
            .iter()
            .copied()
            .filter(|m| *m <= free && self.usual.knows(*m));
        let strengths = tried.map(|m| (self.strength(m) / doubt_of(m), m));
        let (strength, m) = strengths.max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()))?;
        let length = self.beginning(strength.signum(), m, free);
        Some(Candidate {
            visit: self.points[self.points.len() - length].visit,
            strength,
        })
    }

    /// Latest points behind the last change. A new level has to be known before the next change.
    fn free(&self) -> usize {
        let later = self.points.iter().rev().take(RECENT + VISITS_MIN);
        let later = later.take_while(|p| p.visit >= self.level.since()).count();
        let settled = match self.level.is_new() {
            true => VISITS_MIN,
            false => 0,
        };
        later.saturating_sub(settled).min(RECENT)
    }

    /// How far the median of the latest `m` points lies from the level before them, in units of
    /// what is usual; zero where the points do not agree.
    fn strength(&self, m: usize) -> f64 {
        let Some(before) = self.points.len().checked_sub(m + 1) else {
            return 0.0;
        };
        let levels = &self.points[before].levels;
        let latest: Vec<f64> = self
            .points
            .range(before + 1..)
            .map(|p| p.residual)
            .collect();
        let (off, scatter) = self.usual.off(&latest, levels);
        let level = self.usual.level(m, levels);
        let share = |value: &f64| (value - level) / off;
        let beside = latest.iter().filter(|value| share(value) < WEAKEST).count();
        match off == 0.0 || beside * 5 > m {
            true => 0.0,
            false => off / scatter / self.doubt(),
        }
    }

    /// How much less is known of the level after a recent change, and of what is usual from few
    /// points.
    fn doubt(&self) -> f64 {
        let known_from = self.level.known_from();
        (1.0 + 3.0 / known_from).sqrt() * self.youth()
    }

    /// Where a shift in the direction of `sign`, seen in `m` points, most likely began, as a
    /// number of points from the end: the cut with the largest squared sum of distances for its
    /// length.
    fn beginning(&self, sign: f64, m: usize, free: usize) -> usize {
        let end = self.points.len();
        let before = end - free.min(m + VISITS_MIN);
        let before = before.saturating_sub(1);
        let level = self.usual.level(m, &self.points[before].levels);
        let latest: Vec<f64> = self.points.range(end - m..).map(|p| p.residual).collect();
        let shift = (median(&latest).unwrap_or(level) - level).abs();
        let mut sum = 0.0;
        let mut best = (0.0, m);
        for length in 1..=free.min(m + VISITS_MIN) {
            let off = (self.points[end - length].residual - level) * sign;
            sum += off.clamp(-shift, 1.5 * shift);
            let gain = sum.max(0.0).powi(2) / length as f64;
            if length >= VISITS_MIN && gain > best.0 {
                best = (gain, length);
            }
        }
        best.1
    }

    /// How far the visits from `visit` on stand out together, whatever was found elsewhere.
    pub fn strength_since(&self, visit: u64) -> f64 {
        let later = self.points.iter().rev().take(RECENT + 1);
        let count = later.take_while(|p| p.visit >= visit).count();
        match (2..=RECENT).contains(&count) && self.is_known() {
            true => self.strength(count),
            false => 0.0,
        }
    }

    /// Where the latest visits went out of the usual range `most` times or more to one side, each
    /// time back again, the visit of the first time. A visit is out from a score of `out` on and
    /// back below `back`.
    pub fn excursions(&self, out: f64, back: f64, most: usize) -> Option<u64> {
        if !self.is_settled() || self.free() < RECENT {
            return None;
        }
        let count = |sign: f64| {
            let (mut begun, mut is_out) = (Vec::new(), false);
            for point in self.points.range(self.points.len() - RECENT..) {
                let score = point.score * sign;
                if score >= out && !is_out {
                    begun.push(point.visit);
                }
                is_out = score >= out || (is_out && score >= back);
            }
            (begun.len() >= most).then(|| begun[0])
        };
        count(1.0).or_else(|| count(-1.0))
    }
}
