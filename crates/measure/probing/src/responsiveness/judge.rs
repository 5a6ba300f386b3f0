//! The figure, and whether it stands still.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Span};

use super::{Growth, INTERVALS_AVERAGED, Interval, Responsiveness, TOLERANCE, TRIMMED};
use observe::{Peer, ProbeSeries, Way};

/// Milliseconds of a minute.
const MINUTE_MS: f64 = 60_000.0;

/// How far a figure can be trusted, by the draft's rules.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// There were too few intervals for one moving average.
    Low,
    /// There were enough, and goodput or responsiveness still changed.
    Medium,
    /// Goodput and then responsiveness had stopped changing.
    High,
}

/// Round trips, the longest left out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trimmed {
    /// Mean of the lowest 95 %.
    #[serde(rename = "mean_seconds")]
    pub mean: Span,
    /// Of how many.
    pub samples: usize,
}

impl Confidence {
    /// Its name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}

impl Trimmed {
    /// The trimmed mean of round trips in seconds; `None` of none.
    ///
    /// ```
    /// # use probing::responsiveness::Trimmed;
    /// // Twenty round trips of 40 ms of which one took a second: it is left out.
    /// let mut seconds = [0.040; 20];
    /// seconds[7] = 1.0;
    /// assert_eq!(Trimmed::of(&seconds).unwrap().mean, units::Span::from_millis(40));
    /// ```
    pub fn of(seconds: &[f64]) -> Option<Self> {
        let mean = stats::mean_of_lowest(seconds, TRIMMED)?;
        Some(Trimmed {
            mean: Span::from_secs_f64(mean),
            samples: seconds.len(),
        })
    }

    /// So many such round trips fit into a minute, one after another.
    pub fn per_minute(&self) -> f64 {
        MINUTE_MS / (self.mean.as_secs_f64() * 1e3)
    }
}

/// The figure and what it comes from. At least one of the two is there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Formula {
    /// Of probes beside the streams.
    pub foreign: Option<Trimmed>,
    /// Of the streams themselves.
    pub loaded: Option<Trimmed>,
}

impl Formula {
    /// Over the last [`INTERVALS_AVERAGED`] of `intervals`.
    pub fn of(intervals: &[Interval]) -> Option<Self> {
        let last = last(intervals);
        let all = |of: fn(&Interval) -> &Vec<f64>| -> Vec<f64> {
            last.iter().flat_map(of).copied().collect()
        };
        let formula = Formula {
            foreign: Trimmed::of(&all(|interval| &interval.foreign)),
            loaded: Trimmed::of(&all(|interval| &interval.loaded)),
        };
        (formula.foreign.is_some() || formula.loaded.is_some()).then_some(formula)
    }

    /// Round trips a minute: the mean of those beside the streams and those of the streams; of one
    /// alone where the other is not known.
    ///
    /// Source: draft-ietf-ippm-responsiveness, "Aggregating the Measurements", its foreign part by
    /// one kind of probe instead of three.
    ///
    /// ```
    /// # use probing::responsiveness::{Formula, Trimmed};
    /// let trimmed = |ms| Some(Trimmed { mean: units::Span::from_millis(ms), samples: 80 });
    /// let formula = Formula { foreign: trimmed(40), loaded: trimmed(60) };
    /// // (60000/40 + 60000/60) / 2 = (1500 + 1000) / 2
    /// assert_eq!(formula.per_minute(), 1250.0);
    /// ```
    pub fn per_minute(&self) -> f64 {
        let known = [self.foreign, self.loaded];
        let rates: Vec<f64> = known.iter().flatten().map(Trimmed::per_minute).collect();
        stats::mean(&rates).unwrap_or(0.0)
    }
}

pub(super) fn judge(way: Way, seen: Loaded) -> Responsiveness {
    let saturated_after = saturated_after(&seen.intervals);
    let stable = saturated_after.is_some_and(|from| is_settled(&seen.intervals, from));
    let goodputs = goodputs(last(&seen.intervals));
    Responsiveness {
        way,
        peer: seen.peer,
        formula: Formula::of(&seen.intervals),
        confidence: confidence(seen.intervals.len(), stable),
        saturated_after,
        stable,
        growth: seen.growth,
        goodput: Rate::from_f64(stats::mean(&goodputs).unwrap_or(0.0)),
        idle: seen.idle,
        intervals: seen.intervals,
        delivered: seen.delivered,
        elapsed: seen.elapsed,
        cut_because: seen.cut_because,
    }
}

fn confidence(intervals: usize, stable: bool) -> Confidence {
    match (intervals < INTERVALS_AVERAGED, stable) {
        (true, _) => Confidence::Low,
        (false, false) => Confidence::Medium,
        (false, true) => Confidence::High,
    }
}

fn last(intervals: &[Interval]) -> &[Interval] {
    &intervals[intervals.len().saturating_sub(INTERVALS_AVERAGED)..]
}

fn goodputs(intervals: &[Interval]) -> Vec<f64> {
    let goodputs = intervals.iter().map(|interval| interval.goodput.as_f64());
    goodputs.collect()
}

/// Intervals after which goodput had stopped growing: the last [`INTERVALS_AVERAGED`] moving
/// averages differed by less than [`TOLERANCE`].
pub(super) fn saturated_after(intervals: &[Interval]) -> Option<usize> {
    let goodputs = goodputs(intervals);
    let averages: Vec<f64> = goodputs
        .windows(INTERVALS_AVERAGED)
        .filter_map(stats::mean)
        .collect();
    let first = averages
        .windows(INTERVALS_AVERAGED)
        .position(stands_still)?;
    Some(first + 2 * INTERVALS_AVERAGED - 1)
}

/// Whether responsiveness, followed since goodput had stopped growing after `from` intervals,
/// stands still.
pub(super) fn is_settled(intervals: &[Interval], from: usize) -> bool {
    let at = |end: usize| Some(Formula::of(&intervals[..end])?.per_minute());
    let figures: Option<Vec<f64>> = (from..=intervals.len()).map(at).collect();
    let figures = figures.unwrap_or_default();
    let last = figures.len().checked_sub(INTERVALS_AVERAGED);
    last.is_some_and(|first| stands_still(&figures[first..]))
}

/// Their standard deviation is within [`TOLERANCE`] of the last of them.
fn stands_still(values: &[f64]) -> bool {
    let (Some(spread), Some(last)) = (stats::standard_deviation(values), values.last()) else {
        return false;
    };
    *last > 0.0 && spread < TOLERANCE * last
}

/// What was seen while one direction was loaded.
pub(super) struct Loaded {
    pub peer: Peer,
    pub growth: Growth,
    pub idle: Option<ProbeSeries>,
    pub intervals: Vec<Interval>,
    pub delivered: Bytes,
    pub elapsed: Span,
    pub cut_because: Option<String>,
}
