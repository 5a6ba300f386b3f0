//! How far visits usually lie from the level before them.
//!
//! A path wanders: what its visits of this morning showed tells more of the next one than those of
//! last week, how much more differs between paths. Three local levels follow the values at three
//! speeds. The distance of the median of `m` visits from the level before them is taken for the
//! ten days before, and for each `m` that level counts whose distances scatter least. Their
//! quantiles are what is usual: a change has to stand out from what the path does by itself,
//! seasons that are not known yet and bursts of others included.

use serde::{Deserialize, Serialize};
use stats::median;

use crate::order::Sorted;

/// Numbers of visits that are looked at together.
pub(crate) const LENGTHS: [usize; 3] = [3, 6, 16];
/// Shares of its distance by which a level follows a value: a fifth of a day, two hours, one.
const SPEEDS: [f64; 3] = [0.08, 0.2, 0.5];
/// Medians of `m` are known from this many times `m` values.
const WINDOWS_MIN: usize = 2;
/// Below this count of values the spread of medians is at least this share of that of single
/// values: 0.67 holds for normal values that do not wander.
const FEW: usize = 40;
const FEW_SHARE: f64 = 0.7;
/// A value moves the levels by no more than if it were this many usual distances away.
const STEPS_MAX: f64 = 2.5;

/// Local levels at the three speeds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Levels([f64; SPEEDS.len()]);

impl Levels {
    pub fn at(value: f64) -> Self {
        Levels([value; SPEEDS.len()])
    }

    /// After another value; `usual` is how far values usually lie off.
    pub fn with(&self, value: f64, usual: f64) -> Self {
        let most = STEPS_MAX * usual;
        let follow = |index: usize| {
            let level = self.0[index];
            level + SPEEDS[index] * (value - level).clamp(-most, most)
        };
        Levels(std::array::from_fn(follow))
    }
}

/// What is usual for the distances of medians of one to sixteen visits.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Usual {
    one: Distance,
    /// Of single values from the slow level: with what the path wanders in between.
    #[serde(default)]
    wide: Distance,
    several: Vec<Distance>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Distance {
    /// The speed of its level.
    speed: usize,
    /// As a standard deviation, below the level and above it.
    below: f64,
    above: f64,
}

impl Usual {
    /// From residuals in order, each with the levels behind it.
    pub fn of(latest: &[(f64, Levels)], scatter_min: f64) -> Self {
        let distance = |m: usize| {
            let medians = medians(latest, m);
            let speeds = (0..SPEEDS.len()).filter_map(|speed| {
                let off = medians
                    .iter()
                    .map(|(median, before)| median - before.0[speed]);
                let off = Sorted::of(off.collect());
                let distance = Distance::of(&off, speed, scatter_min)?;
                Some((distance.below + distance.above, distance))
            });
            speeds
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .map(|(_, distance)| distance)
        };
        let from_slow = latest.windows(2).map(|pair| pair[1].0 - pair[0].1.0[0]);
        let wide = Distance::of(&Sorted::of(from_slow.collect()), 0, scatter_min);
        let known = LENGTHS.iter().filter(|m| latest.len() >= WINDOWS_MIN * **m);
        match distance(1) {
            Some(one) => Usual {
                one,
                wide: wide.unwrap_or(one),
                several: known
                    .map_while(|m| Some(distance(*m)?.at_least(&one, latest.len())))
                    .collect(),
            },
            None => Usual::default(),
        }
    }

    pub fn is_known(&self) -> bool {
        !self.several.is_empty()
    }

    /// Whether it is known of `m` visits, one of [`LENGTHS`].
    pub fn knows(&self, m: usize) -> bool {
        LENGTHS
            .iter()
            .take(self.several.len())
            .any(|length| *length == m)
    }

    /// How far single values usually lie from their level; without bound where that is not known.
    pub fn step(&self) -> f64 {
        match self.is_known() {
            true => (self.one.below + self.one.above) / 2.0,
            false => f64::MAX,
        }
    }

    /// How far single values usually lie from the level of some hours.
    pub fn scatter(&self) -> f64 {
        let both = |one: &Distance| (one.below + one.above) / 2.0;
        both(&self.one).max(both(&self.wide))
    }

    /// How far a value lies from the level before it, in usual distances.
    pub fn score(&self, value: f64, before: &Levels) -> f64 {
        match self.is_known() {
            true => self.one.strength(value - before.0[self.one.speed]),
            false => 0.0,
        }
    }

    /// The level that `m` visits are compared with.
    pub fn level(&self, m: usize, before: &Levels) -> f64 {
        before.0[self.for_length(m).speed]
    }

    /// The distance of the median of `latest` from the level before, and what is usual for it.
    pub fn off(&self, latest: &[f64], before: &Levels) -> (f64, f64) {
        let usual = self.for_length(latest.len());
        let off = median(latest).unwrap_or(0.0) - before.0[usual.speed];
        (off, usual.scatter(off))
    }

    fn for_length(&self, m: usize) -> Distance {
        let place = LENGTHS.iter().rposition(|length| *length <= m).unwrap_or(0);
        let place = place.min(self.several.len().saturating_sub(1));
        self.several.get(place).copied().unwrap_or(self.one)
    }
}

impl Distance {
    /// Medians of several scatter less than single values, but from few values that is not seen.
    fn at_least(self, one: &Distance, count: usize) -> Self {
        let share = match count < FEW {
            true => FEW_SHARE,
            false => 0.0,
        };
        Distance {
            speed: self.speed,
            below: self.below.max(share * one.below),
            above: self.above.max(share * one.above),
        }
    }

    /// `None` without distances.
    fn of(distances: &Sorted, speed: usize, scatter_min: f64) -> Option<Self> {
        let at = |share: f64| distances.quantile(share);
        let middle = distances.middle_half()? / 1.349;
        // The 2.5th and 97.5th percentile lie 1.96 standard deviations off.
        Some(Distance {
            speed,
            below: middle.max(-at(0.025)? / 1.96).max(scatter_min),
            above: middle.max(at(0.975)? / 1.96).max(scatter_min),
        })
    }

    fn scatter(&self, off: f64) -> f64 {
        match off < 0.0 {
            true => self.below,
            false => self.above,
        }
    }

    fn strength(&self, off: f64) -> f64 {
        off / self.scatter(off)
    }
}

/// The medians of `m` values each, with the levels before them.
fn medians(latest: &[(f64, Levels)], m: usize) -> Vec<(f64, Levels)> {
    // Neighbouring medians of many values hardly differ.
    let every = m.div_ceil(4);
    let mut values = Vec::with_capacity(m);
    let windows = latest.windows(m + 1).step_by(every);
    let median = |window: &[(f64, Levels)]| {
        values.clear();
        values.extend(window[1..].iter().map(|(value, _)| *value));
        let middle = values.len() / 2;
        let (_, median, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
        (*median, window[0].1)
    };
    windows.map(median).collect()
}

#[cfg(test)]
mod tests;
