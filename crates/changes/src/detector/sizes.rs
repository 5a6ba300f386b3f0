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
                let scaled = scaled_size(moved) + scaled_size(further);
                let metric = moved.metric;
                let before = metric.scaled(moved.before);
                moved.after = further.after;
                moved.size = metric.size_of(before, scaled);
                (moved.size_low, moved.size_high) = (None, None);
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
    let values = |from: bool| {
        let points = series
            .points()
            .iter()
            .filter(|p| (p.visit >= first) == from);
        let values: Vec<f64> = points.map(|p| p.value).collect();
        median(&values[values.len().saturating_sub(BEFORE)..])
    };
    Some(in_units(
        series.metric,
        values(false)?,
        values(true)?,
        &shift,
    ))
}

/// How far the excursions of a metric lead.
pub(super) fn excursion(series: &Series) -> Option<Moved> {
    let (before, out) = series.excursion_sides(EXCURSION);
    let shift = shift(&before[before.len().saturating_sub(48)..], &out)?;
    let level = median(&series.points().iter().map(|p| p.value).collect::<Vec<_>>())?;
    Some(in_units(series.metric, level, level + shift.value, &shift))
}

pub(super) fn in_units(metric: Metric, before: f64, after: f64, shift: &Shift) -> Moved {
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
    scaled_size(moved).abs() >= series.metric.smallest_shift(level)
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
