//! Slow changes: the trend of daily medians.

use serde::{Deserialize, Serialize};
use stats::median;

use crate::UnixTime;
use crate::series::Series;

/// Days over which a trend is sought, and the fewest that show one.
const DAYS_MAX: usize = 21;
const DAYS_MIN: usize = 8;
/// Enough half-hourly ones for those days.
const POINTS_MAX: usize = 48 * (DAYS_MAX + 1);
/// Visits without which a day has no median.
const VISITS_OF_A_DAY: usize = 6;

/// A trend over some days.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Trend {
    /// Its first visit.
    pub visit: u64,
    pub since: UnixTime,
    /// Mann-Kendall's statistic in standard deviations; the sign is the direction.
    pub strength: f64,
    /// How far the metric went over these days, on its scale.
    pub total: f64,
}

/// The trend of the latest days, whole ones from `from` on and before `until`: the one of 8, 12,
/// 16 or 21 days that stands out most.
///
/// Sources: Mann, "Nonparametric tests against trend", Econometrica 13 (1945); Sen, "Estimates of
/// the regression coefficient based on Kendall's tau", JASA 63 (1968).
pub(crate) fn trend(series: &Series, from: u64, until: u64) -> Option<Trend> {
    let days = days(series, from, until);
    let lengths = [DAYS_MIN, 12, 16, DAYS_MAX];
    let tails = lengths.iter().filter(|length| **length <= days.len());
    let trends = tails.filter_map(|length| of_days(&days[days.len() - length..]));
    trends.max_by(|a, b| a.strength.abs().total_cmp(&b.strength.abs()))
}

struct Day {
    visit: u64,
    at: UnixTime,
    median: f64,
}

fn days(series: &Series, from: u64, until: u64) -> Vec<Day> {
    let profile = series.profile();
    let mut days = Vec::new();
    let points = series.points().iter().rev();
    let points = points.skip_while(|p| p.visit >= until);
    let points = points.take_while(|p| p.visit >= from);
    let points: Vec<_> = points.take(POINTS_MAX).collect();
    for day in points.chunk_by(|a, b| a.at.day() == b.at.day()) {
        let values: Vec<f64> = day
            .iter()
            .map(|p| p.usual() - profile.center(p.at))
            .collect();
        let is_full = day.len() >= VISITS_OF_A_DAY;
        if let (true, Some(first), Some(median)) = (is_full, day.last(), median(&values)) {
            days.push(Day {
                visit: first.visit,
                at: first.at,
                median,
            });
        }
    }
    days.reverse();
    days
}

fn of_days(days: &[Day]) -> Option<Trend> {
    let first = days.first()?;
    let mut sum = 0.0;
    let mut slopes = Vec::new();
    for (index, day) in days.iter().enumerate() {
        for (gap, later) in days[index + 1..].iter().enumerate() {
            let rise = later.median - day.median;
            sum += match rise == 0.0 {
                true => 0.0,
                false => rise.signum(),
            };
            slopes.push(rise / (gap + 1) as f64);
        }
    }
    let n = days.len() as f64;
    let slope = median(&slopes)?;
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0 * wandering(days, slope)).sqrt();
    Some(Trend {
        visit: first.visit,
        since: first.at,
        strength: sum / deviation,
        total: slope * (n - 1.0),
    })
}

/// By how much days that depend on each other widen the statistic: `(1 + r) / (1 - r)` for the
/// correlation `r` of neighbouring days without the trend. Some days tell little of it, so it
/// counts as 0.3 at least.
fn wandering(days: &[Day], slope: f64) -> f64 {
    let left = days.iter().enumerate();
    let left: Vec<f64> = left.map(|(n, day)| day.median - slope * n as f64).collect();
    let mean = stats::mean(&left).unwrap_or(0.0);
    let own: f64 = left.iter().map(|value| (value - mean).powi(2)).sum();
    let next = left
        .windows(2)
        .map(|pair| (pair[0] - mean) * (pair[1] - mean));
    let correlation = (next.sum::<f64>() / own.max(f64::MIN_POSITIVE)).clamp(0.3, 0.7);
    (1.0 + correlation) / (1.0 - correlation)
}

#[cfg(test)]
mod tests;
