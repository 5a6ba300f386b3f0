//! Tables of months: the figures of groups of paths, and what became of them over years.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{Pings, UnixTime};

/// Fewer months say nothing of a year: seasons repeat once in it.
const MONTHS_LEAST: usize = 12;
const SECONDS_OF_YEAR: f64 = 365.25 * 86_400.0;

/// A figure of probes in a table of months.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PingFigure {
    /// Shortest round trip, in seconds.
    Min,
    /// Median round trip, in seconds.
    Median,
    /// Mean round trip, in seconds.
    Mean,
    /// Variation from probe to probe, in seconds.
    Variation,
    /// Share of the probes that was lost.
    Loss,
    /// Share of the lost probes whose next was lost, too.
    ConditionalLoss,
    /// Unpredictability, 0 to 1.
    Unpredictability,
    /// Share of the visits without a loss.
    Quiescence,
    /// Share of the visits without an answer.
    Unreachability,
    /// Probes that were answered more than once: a number, since large packets show none.
    Duplicates,
    /// Probes whose answer was overtaken: a number, too.
    Reordering,
    /// What one TCP stream carries by Mathis's formula, in bits per second.
    Derived,
    /// Mean opinion score of a call, 1 to 4.4.
    OpinionScore,
    /// What the slowest link carries at the least, in bits per second.
    SlowestLink,
}

impl PingFigure {
    /// All of them.
    pub const ALL: [PingFigure; 14] = [
        PingFigure::Min,
        PingFigure::Median,
        PingFigure::Mean,
        PingFigure::Variation,
        PingFigure::Loss,
        PingFigure::ConditionalLoss,
        PingFigure::Unpredictability,
        PingFigure::Quiescence,
        PingFigure::Unreachability,
        PingFigure::Duplicates,
        PingFigure::Reordering,
        PingFigure::Derived,
        PingFigure::OpinionScore,
        PingFigure::SlowestLink,
    ];

    /// Its name in documents, with its unit.
    pub fn name(self) -> &'static str {
        match self {
            PingFigure::Min => "rtt_min_seconds",
            PingFigure::Median => "rtt_median_seconds",
            PingFigure::Mean => "rtt_mean_seconds",
            PingFigure::Variation => "ipdv_seconds",
            PingFigure::Loss => "loss_ratio",
            PingFigure::ConditionalLoss => "conditional_loss_ratio",
            PingFigure::Unpredictability => "unpredictability_ratio",
            PingFigure::Quiescence => "lossless_visits_ratio",
            PingFigure::Unreachability => "unreachable_visits_ratio",
            PingFigure::Duplicates => "probes_duplicated",
            PingFigure::Reordering => "probes_reordered",
            PingFigure::Derived => "derived_bits_per_second",
            PingFigure::OpinionScore => "mean_opinion_score",
            PingFigure::SlowestLink => "slowest_link_bits_per_second",
        }
    }

    /// Of a path and a month.
    pub fn of(self, pings: &Pings) -> Option<f64> {
        let seconds = |span: Option<units::Span>| span.map(units::Span::as_secs_f64);
        let count = |count: u64| pings.is_answered().then_some(count as f64);
        match self {
            PingFigure::Min => seconds(pings.min),
            PingFigure::Median => seconds(pings.median),
            PingFigure::Mean => seconds(pings.mean),
            PingFigure::Variation => seconds(pings.variation),
            PingFigure::Loss => pings.loss(),
            PingFigure::ConditionalLoss => pings.conditional_loss(),
            PingFigure::Unpredictability => pings.unpredictability.map(f64::from),
            PingFigure::Quiescence => pings.quiescence(),
            PingFigure::Unreachability => pings.unreachability(),
            PingFigure::Duplicates => count(pings.duplicated),
            PingFigure::Reordering => count(pings.reordered),
            PingFigure::Derived => Some(pings.derived()?.rate.as_f64()),
            PingFigure::OpinionScore => pings.opinion_score(),
            PingFigure::SlowestLink => pings.slowest_link.map(units::Rate::as_f64),
        }
    }

    /// The same where it is no bound but was measured.
    pub fn measured(self, pings: &Pings) -> Option<f64> {
        let is_bound = match self {
            PingFigure::Derived => pings.lost == 0,
            PingFigure::SlowestLink => true,
            _ => false,
        };
        self.of(pings).filter(|_| !is_bound)
    }
}

/// A figure of several paths in a month.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct OfPairs {
    /// Mean over the paths.
    pub mean: f64,
    /// Paths that have it.
    pub pairs: u64,
    /// Visits of these paths that sent probes.
    pub visits: u64,
}

/// The mean of a figure over paths; `None` where none has it.
///
/// A path whose host answered nothing in the month is left out, as PingER does: the host was not
/// there, which is no loss of the path. So is a rate of which only a bound is known.
pub fn mean_of_pairs<'a>(
    figure: PingFigure,
    pings: impl IntoIterator<Item = &'a Pings>,
) -> Option<OfPairs> {
    let answered = pings.into_iter().filter(|pings| pings.is_answered());
    let known = answered.filter_map(|pings| Some((figure.measured(pings)?, pings.visits)));
    let (values, visits): (Vec<f64>, Vec<u64>) = known.unzip();
    Some(OfPairs {
        mean: stats::mean(&values)?,
        pairs: values.len() as u64,
        visits: visits.iter().sum(),
    })
}

/// What became of a figure over the years.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Trend {
    /// Change in a year as a share: 0.2 for a fifth more.
    #[serde(rename = "year_ratio")]
    pub year: f64,
    /// Where the true one lies, 95 %; absent where months are too few for it.
    #[serde(rename = "year_ratio_interval")]
    pub interval: Option<(f64, f64)>,
    /// Months that have the figure.
    pub months: u64,
}

/// The change of a year, by the median slope of the logarithms.
///
/// `None` for fewer than twelve months with a value, and where one of them is zero, which has no
/// logarithm.
///
/// ```
/// use changes::{UnixTime, trend};
/// let month = |n: u64| UnixTime::from_seconds(n * 2_629_800);
/// // A fifth less each year, and one month that is far away.
/// let mut values: Vec<_> = (0..24).map(|n| (month(n), 0.8_f64.powf(n as f64 / 12.0))).collect();
/// values[7].1 = 50.0;
/// let found = trend(&values).unwrap();
/// assert!((found.year + 0.2).abs() < 0.001, "{found:?}");
/// assert_eq!(trend(&values[..11]), None);
/// ```
pub fn trend(values: &[(UnixTime, f64)]) -> Option<Trend> {
    if values.len() < MONTHS_LEAST || values.iter().any(|(_, value)| *value <= 0.0) {
        return None;
    }
    let points = values.iter();
    let points = points.map(|(at, value)| (at.seconds() as f64 / SECONDS_OF_YEAR, value.ln()));
    let found = stats::median_slope(&points.collect::<Vec<_>>())?;
    let both = |interval: stats::Interval<f64>| (interval.low.exp_m1(), interval.high.exp_m1());
    Some(Trend {
        year: found.slope.exp_m1(),
        interval: found.interval.map(both),
        months: values.len() as u64,
    })
}

/// The change of a year of several paths: the median of theirs, so that paths which come and go
/// change nothing. Its interval is that of this median, from six paths on.
///
/// ```
/// use changes::{Trend, trend_of_pairs};
/// let of = |year| Trend { year, interval: None, months: 12 };
/// let found = trend_of_pairs(&[of(0.1), of(-0.2), of(0.3)]).unwrap();
/// assert_eq!((found.year, found.interval), (0.1, None));
/// ```
pub fn trend_of_pairs(trends: &[Trend]) -> Option<Trend> {
    let years: Vec<f64> = trends.iter().map(|trend| trend.year).collect();
    let interval = stats::median_interval(&years);
    Some(Trend {
        year: stats::median(&years)?,
        interval: interval.map(|interval| (interval.low, interval.high)),
        months: trends.iter().map(|trend| trend.months).max()?,
    })
}

#[cfg(test)]
mod tests {
    use units::Span;

    use super::*;

    fn pings(visits: u64, unreachable: u64, lost: u64) -> Pings {
        let answered = visits - unreachable;
        Pings {
            visits,
            unreachable,
            sent: answered * 20,
            lost,
            mean: (answered > 0).then_some(Span::from_millis(100)),
            ..Pings::default()
        }
    }

    #[test]
    fn a_silent_host_is_no_loss_of_its_group() {
        let all = [pings(100, 0, 20), pings(100, 100, 0), pings(50, 10, 0)];
        let loss = mean_of_pairs(PingFigure::Loss, &all).unwrap();
        assert_eq!((loss.mean, loss.pairs, loss.visits), (0.005, 2, 150));
        assert_eq!(mean_of_pairs(PingFigure::Loss, &all[1..2]), None);
        let unreachable = mean_of_pairs(PingFigure::Unreachability, &all).unwrap();
        assert_eq!((unreachable.mean, unreachable.pairs), (0.1, 2));
    }

    /// Their losses are of small and large packets, their duplicates of small ones alone.
    #[test]
    fn duplicates_and_overtaken_answers_are_numbers() {
        let mut pings = pings(100, 0, 20);
        (pings.duplicated, pings.reordered) = (7, 0);
        assert_eq!(PingFigure::Duplicates.of(&pings), Some(7.0));
        assert_eq!(PingFigure::Reordering.of(&pings), Some(0.0));
        assert_eq!(PingFigure::Duplicates.of(&Pings::default()), None);
    }

    #[test]
    fn a_bound_is_no_part_of_a_mean() {
        let all = [pings(100, 0, 20), pings(100, 0, 0)];
        let derived = mean_of_pairs(PingFigure::Derived, &all).unwrap();
        assert_eq!(derived.pairs, 1);
        assert_eq!(Some(derived.mean), PingFigure::Derived.of(&all[0]));
        assert!(all[1].derived().unwrap().is_bound);
        let mut slow = pings(100, 0, 20);
        slow.slowest_link = Some(units::Rate::from_bits_per_second(9_000_000));
        assert_eq!(PingFigure::SlowestLink.of(&slow), Some(9e6));
        assert_eq!(mean_of_pairs(PingFigure::SlowestLink, [&slow]), None);
    }

    #[test]
    fn a_month_without_loss_ends_the_trend_of_loss() {
        let month = |n: u64| UnixTime::from_seconds(n * 2_629_800);
        let mut values: Vec<_> = (0..20).map(|n| (month(n), 0.01)).collect();
        assert_eq!(trend(&values).map(|found| found.year), Some(0.0));
        values[3].1 = 0.0;
        assert_eq!(trend(&values), None);
    }
}
