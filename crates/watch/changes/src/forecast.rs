//! What goodput the next hours will bring, from what such hours brought before.
//!
//! The past gives the futures: every visit of the last weeks that began at this time of the day
//! (at any time, once the season is known) starts one possible course, with the same steps to and
//! fro that were seen then. Courses begin at what the path shows now and return to the usual as
//! fast as the past did. Quantiles over the courses are the forecast; a copy's end is taken from
//! each course as a whole, so that good and bad hours that go together stay together.
//!
//! Left out: changes to come. An interval holds while the path stays as it is.

use errors::{Fault, Hint};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{median, quantile};
use thiserror::Error;
use units::{Bytes, Rate, Span};

use crate::series::{Point, Series};
use crate::{Metric, UnixTime};

/// Values without which nothing is forecast: a day of half-hourly ones.
const VALUES_MIN: usize = 48;
/// Courses start within so many hours of the present time of the day where no season is known.
const SAME_HOURS: f64 = 1.5;
/// Values of the present level.
const NOW: usize = 3;
/// Shares of courses below the ends of the interval. Four weeks hold few courses that know nothing
/// of each other: these ends held 90 % of what came, those at 5 and 95 % held 83 %
/// (docs/decisions/014-watching-paths.md).
const LOW: f64 = 0.02;
const HIGH: f64 = 0.98;
/// No copy is followed for longer.
const STEPS_MAX: usize = 100_000;
const LONGEST: Span = Span::from_secs(60 * 86_400);

/// What the goodput of a path will be while nothing changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    now: UnixTime,
    step: Span,
    courses: Vec<Course>,
    /// Without season, on the scale of the metric, at today's level.
    history: Vec<f64>,
    season: crate::profile::Profile,
    /// The share of a deviation that is left after a step.
    remains: f64,
}

/// One possible future: where in the history it runs, and how far off the present is from there.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Course {
    start: usize,
    offset: f64,
}

/// Goodput of an hour to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hour {
    /// Its beginning.
    #[serde(rename = "at_unix_seconds")]
    pub at: UnixTime,
    /// One of twenty hours like it has less.
    #[serde(rename = "low_bits_per_second")]
    pub low: Rate,
    /// Half of them have less.
    #[serde(rename = "median_bits_per_second")]
    pub median: Rate,
    /// One of twenty has more.
    #[serde(rename = "high_bits_per_second")]
    pub high: Rate,
}

/// When a copy ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finish {
    /// One of twenty such copies ends sooner.
    #[serde(rename = "early_unix_seconds")]
    pub early: UnixTime,
    /// Half of them do.
    #[serde(rename = "median_unix_seconds")]
    pub median: UnixTime,
    /// One of twenty ends later.
    #[serde(rename = "late_unix_seconds")]
    pub late: UnixTime,
}

/// A copy that would take longer than two months.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{} at the forecast goodput take more than 60 days: copy less, or over another path",
    bytes.human())]
pub struct TooLong {
    /// Its size.
    pub bytes: Bytes,
}

impl Hint for TooLong {
    fn fault(&self) -> Fault {
        Fault::Request
    }

    fn hint(&self) -> Option<String> {
        None
    }
}

impl Forecast {
    pub(crate) fn of(series: &Series) -> Option<Self> {
        let points = series.points();
        let (first, last) = (points.front()?, points.back()?);
        let day = last.at.since(first.at) >= Span::from_secs(86_400 - 3_600);
        if !day || points.len() < VALUES_MIN {
            return None;
        }
        let season = series.profile().clone();
        let now = series.offset();
        let free = |point: &Point| point.usual() + now - season.center(point.at);
        let history: Vec<f64> = points.iter().map(free).collect();
        let present = median(&history[history.len() - NOW..])?;
        let alike = |point: &Point| {
            let apart = (point.at.hour() - last.at.hour()).abs();
            season.is_known() || apart.min(24.0 - apart) <= SAME_HOURS
        };
        let starts = points
            .iter()
            .enumerate()
            .skip(NOW)
            .take(history.len() - NOW - 1);
        let courses = starts
            .filter(|(_, point)| alike(point))
            .filter_map(|(start, _)| {
                let then = median(&history[start + 1 - NOW..=start])?;
                Some(Course {
                    start,
                    offset: present - then,
                })
            });
        Some(Forecast {
            now: last.at,
            step: usual_step(points.iter().map(|point| point.at)),
            courses: courses.collect(),
            remains: correlation(&history),
            history,
            season,
        })
    }

    /// The next hours, of which the first begins now: with the latest visit.
    pub fn hours(&self, count: usize) -> Vec<Hour> {
        let hour = |number: usize| {
            let at = self.now + Span::from_secs(number as u64 * 3600);
            let middle = at + Span::from_secs(1800);
            let values = self
                .courses
                .iter()
                .map(|course| self.goodput(course, middle));
            let values: Vec<f64> = values.collect();
            let rate = |share| quantile(&values, share).map(Rate::from_f64);
            Some(Hour {
                at,
                low: rate(LOW)?,
                median: rate(0.5)?,
                high: rate(HIGH)?,
            })
        };
        (0..count).filter_map(hour).collect()
    }

    /// When `bytes` that start to flow at `start` have arrived, at the goodput that visits
    /// measure.
    ///
    /// # Errors
    /// Where a late copy would take more than 60 days.
    pub fn finish(&self, bytes: Bytes, start: UnixTime) -> Result<Finish, TooLong> {
        let ends = self
            .courses
            .iter()
            .map(|course| self.end(course, bytes, start));
        let ends: Vec<f64> = ends.map(|end| end.unwrap_or(f64::MAX)).collect();
        let end = |share: f64| {
            let seconds = quantile(&ends, share).filter(|s| *s <= LONGEST.as_secs_f64());
            let seconds = seconds.ok_or(TooLong { bytes })?;
            Ok(start + Span::from_secs_f64(seconds))
        };
        Ok(Finish {
            early: end(LOW)?,
            median: end(0.5)?,
            late: end(HIGH)?,
        })
    }

    /// Seconds that `bytes` take on a course; `None` beyond the longest.
    fn end(&self, course: &Course, bytes: Bytes, start: UnixTime) -> Option<f64> {
        let mut left = bytes.as_f64() * 8.0;
        let step = self.step.as_secs_f64();
        for number in 0..STEPS_MAX {
            let middle = start + Span::from_secs_f64((number as f64 + 0.5) * step);
            let rate = self.goodput(course, middle);
            if left <= rate * step {
                return Some(number as f64 * step + left / rate);
            }
            left -= rate * step;
        }
        None
    }

    /// Goodput of a course at a time to come.
    fn goodput(&self, course: &Course, at: UnixTime) -> f64 {
        let steps = at.since(self.now).as_secs_f64() / self.step.as_secs_f64();
        let place = (course.start + steps.round() as usize) % self.history.len();
        let offset = course.offset * self.remains.powf(steps);
        Metric::Goodput.unscaled(self.history[place] + offset + self.season.center(at))
    }
}

/// The median gap between visits, a second at least.
fn usual_step(times: impl Iterator<Item = UnixTime>) -> Span {
    let times: Vec<UnixTime> = times.collect();
    let gaps = times
        .windows(2)
        .map(|pair| pair[1].since(pair[0]).as_secs_f64());
    let gap = median(&gaps.collect::<Vec<_>>()).unwrap_or(1800.0);
    Span::from_secs_f64(gap.max(1.0))
}

/// How much of a deviation is left after a step: the autocorrelation at lag one of values within
/// two interquartile ranges of the median, others counted as there.
fn correlation(history: &[f64]) -> f64 {
    let middle = median(history).unwrap_or(0.0);
    let spread = stats::interquartile_range(history).unwrap_or(0.0).max(1e-9);
    let clipped = history
        .iter()
        .map(|value| (value - middle).clamp(-2.0 * spread, 2.0 * spread));
    let clipped: Vec<f64> = clipped.collect();
    let own: f64 = clipped.iter().map(|value| value * value).sum();
    let next: f64 = clipped.windows(2).map(|pair| pair[0] * pair[1]).sum();
    match own > 0.0 {
        true => (next / own).clamp(0.0, 0.98),
        false => 0.0,
    }
}

#[cfg(test)]
mod tests;
