//! How far metrics moved.

use stats::{Shift, median, shift};

use crate::drift::Trend;
use crate::series::{BEFORE, Series};
use crate::{Event, Metric, Moved};

/// A visit this far out is part of an excursion.
pub(super) const EXCURSION: f64 = 3.5;

/// What an event's metrics went on to.
pub(super) fn join(event: &mut Event, shifts: &[Moved]) {
    for further in shifts {
        match event
            .shifts
            .iter_mut()
            .find(|one| one.metric == further.metric)
        {
            Some(moved) => {
                let shift = Shift {
                    value: scaled_size(moved) + scaled_size(further),
                    interval: None,
                    confidence: 0.0,
                };
                let after = moved.metric.scaled(further.after);
                *moved = Moved {
                    strength: moved.strength,
                    ..ending_at(moved.metric, after, &shift)
                };
            }
            None => event.shifts.push(*further),
        }
    }
}

/// How far a metric moved with a visit.
pub(super) fn moved(series: &Series, first: u64) -> Option<Moved> {
    let (before, after) = series.sides(first);
    // Rank sums are exact for up to fifty values on either side.
    let near = &before[before.len().saturating_sub(48)..];
    let shift = shift(near, &after[..after.len().min(48)])?;
    let since = series.points().iter().filter(|p| p.visit >= first);
    let since: Vec<f64> = since.map(|p| p.value).collect();
    let after = median(&since[since.len().saturating_sub(BEFORE)..])?;
    Some(ending_at(series.metric, after, &shift))
}

/// A shift that ends at a level.
fn ending_at(metric: Metric, after: f64, shift: &Shift) -> Moved {
    let before = (after - shift.value).max(metric.scaled(0.0));
    let shift = Shift {
        value: after - before,
        ..*shift
    };
    in_units(metric, before, after, &shift)
}

/// How far the excursions of a metric lead.
pub(super) fn excursion(series: &Series) -> Option<Moved> {
    let (before, out) = series.excursion_sides(EXCURSION);
    let shift = shift(&before[before.len().saturating_sub(48)..], &out)?;
    let level = median(&series.points().iter().map(|p| p.value).collect::<Vec<_>>())?;
    Some(in_units(series.metric, level, level + shift.value, &shift))
}

fn in_units(metric: Metric, before: f64, after: f64, shift: &Shift) -> Moved {
    let size = |shift: f64| metric.size_of(before, shift);
    Moved {
        metric,
        before: metric.unscaled(before),
        after: metric.unscaled(after),
        size: size(shift.value),
        size_low: shift.interval.map(|interval| size(interval.low)),
        size_high: shift.interval.map(|interval| size(interval.high)),
        strength: 0.0,
    }
}

/// The size of a shift on the scale of its metric.
pub(super) fn scaled_size(moved: &Moved) -> f64 {
    match moved.metric {
        Metric::Goodput => moved.size.max(-0.999_999).ln_1p(),
        metric => metric.scaled(moved.before + moved.size) - metric.scaled(moved.before),
    }
}

pub(super) fn concerns(series: &Series, moved: &Moved) -> bool {
    let level = series.metric.scaled(moved.before);
    scaled_size(moved).abs() >= series.smallest_shift(level)
}

pub(super) fn of_trend(series: &Series, trend: &Trend) -> Option<Moved> {
    let after = series.points().back()?.value;
    let shift = Shift {
        value: trend.total,
        interval: None,
        confidence: 0.0,
    };
    let moved = in_units(series.metric, after - trend.total, after, &shift);
    Some(Moved {
        strength: trend.strength,
        ..moved
    })
}
