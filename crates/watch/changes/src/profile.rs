//! What a path shows by the hour of the day, and how much it scatters then.

use crate::UnixTime;
use crate::order::Sorted;
use serde::{Deserialize, Serialize};

const HOURS: usize = 24;
/// With fewer whole days a profile would be the noise of those days.
const DAYS_MIN: u64 = 4;
/// Four weekend days at least, so that one odd Saturday is no season.
const DAYS_WITH_WEEKEND: u64 = 14;
/// A profile that narrows the scatter less is noise.
const GAIN_MIN: f64 = 0.9;
/// Bounds of an hour's scatter as a share of that of all hours: some dozens of values tell no
/// more.
const SCATTER: (f64, f64) = (0.5, 2.5);

/// Expected value and scatter for each hour of weekdays and of weekends (UTC).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Profile {
    /// Empty until there are enough days; then weekdays, and from fourteen days on weekends too.
    kinds: Vec<Vec<Hour>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Hour {
    center: f64,
    scatter: f64,
}

impl Profile {
    /// From values with their times, in order; without seasons where there are too few days or
    /// where hours explain next to nothing.
    pub(crate) fn of(values: &[(UnixTime, f64)]) -> Self {
        let days = match (values.first(), values.last()) {
            (Some(first), Some(last)) => last.0.since(first.0).as_secs_f64() / 86_400.0,
            _ => 0.0,
        };
        if days < DAYS_MIN as f64 {
            return Profile::default();
        }
        let with_weekend = days >= DAYS_WITH_WEEKEND as f64;
        let kind = |weekend: bool| -> Vec<(UnixTime, f64)> {
            let of_kind = |at: &UnixTime| !with_weekend || at.is_weekend() == weekend;
            values
                .iter()
                .copied()
                .filter(|(at, _)| of_kind(at))
                .collect()
        };
        let mut kinds = vec![hours(&kind(false))];
        if with_weekend {
            kinds.push(hours(&kind(true)));
        }
        let profile = Profile {
            kinds: kinds.into_iter().flatten().collect(),
        };
        match profile.explains(values) {
            true => profile,
            false => Profile::default(),
        }
    }

    /// Whether hours differ at all, as far as is known.
    pub(crate) fn is_known(&self) -> bool {
        !self.kinds.is_empty()
    }

    fn explains(&self, values: &[(UnixTime, f64)]) -> bool {
        match (Profile::default().left_of(values), self.left_of(values)) {
            (Some(all), Some(left)) => left < GAIN_MIN * all,
            _ => false,
        }
    }

    /// The middle half of values without the season.
    fn left_of(&self, values: &[(UnixTime, f64)]) -> Option<f64> {
        let left = values.iter().map(|(at, value)| value - self.center(*at));
        Sorted::of(left.collect()).middle_half()
    }

    /// What this time of the day adds to the level.
    pub(crate) fn center(&self, at: UnixTime) -> f64 {
        let (Some((one, other)), part) = self.around(at) else {
            return 0.0;
        };
        one.center + (other.center - one.center) * part
    }

    /// Scatter at this time as a share of that of all hours.
    pub(crate) fn scatter(&self, at: UnixTime) -> f64 {
        let (Some((one, other)), part) = self.around(at) else {
            return 1.0;
        };
        one.scatter + (other.scatter - one.scatter) * part
    }

    /// The hours whose middles lie around a time, and how far it lies between them.
    fn around(&self, at: UnixTime) -> (Option<(Hour, Hour)>, f64) {
        let kind = usize::from(at.is_weekend()).min(self.kinds.len().saturating_sub(1));
        let Some(hours) = self.kinds.get(kind) else {
            return (None, 0.0);
        };
        let place = (at.hour() + HOURS as f64 - 0.5) % HOURS as f64;
        let before = place as usize % HOURS;
        let pair = (hours[before], hours[(before + 1) % HOURS]);
        (Some(pair), place.fract())
    }
}

/// The hours of one kind of day; `None` where most hours have too few values.
fn hours(values: &[(UnixTime, f64)]) -> Option<Vec<Hour>> {
    let mut bins = vec![Vec::new(); HOURS];
    for (at, value) in values {
        bins[at.hour() as usize % HOURS].push(*value);
    }
    let level = Sorted::of(values.iter().map(|(_, value)| *value).collect()).quantile(0.5)?;
    let bins: Vec<Sorted> = bins.into_iter().map(Sorted::of).collect();
    let centers: Vec<Option<f64>> = bins.iter().map(|bin| bin.quantile(0.5)).collect();
    if centers.iter().flatten().count() < HOURS * 2 / 3 {
        return None;
    }
    let smooth = |hour: usize, reach: usize, of: &[Option<f64>]| {
        let near = (HOURS - reach..=HOURS + reach).filter_map(|step| of[(hour + step) % HOURS]);
        stats::mean(&near.collect::<Vec<_>>())
    };
    let scatters: Vec<Option<f64>> = bins.iter().map(Sorted::middle_half).collect();
    let usual = stats::mean(&scatters.iter().flatten().copied().collect::<Vec<_>>())?;
    let hour = |hour: usize| {
        let scatter = smooth(hour, 2, &scatters).unwrap_or(usual) / usual;
        Hour {
            center: smooth(hour, 1, &centers).unwrap_or(level),
            scatter: match scatter.is_finite() {
                true => scatter.clamp(SCATTER.0, SCATTER.1),
                false => 1.0,
            },
        }
    };
    Some((0..HOURS).map(hour).collect())
}

#[cfg(test)]
mod tests;
