//! What a detector found in one series, beside what happened.

use changes::{CauseKind, Detector, EventKind, Metric, UnixTime, Visit};

use crate::baselines::Baseline;
use crate::series::{Fault, Series};

const DAY: f64 = 86_400.0;
const MONTH: f64 = 30.0 * DAY;
/// Two weeks of visits, from which the noise of a path is taken.
const TWO_WEEKS: usize = 14 * 48;
/// Alarms of several metrics this close are one.
const TOGETHER: u64 = 6 * 1800;
/// A change counts as found by alarms up to so long after it.
const WEEK: u64 = 7 * 86_400;
/// Drifts get until ten days after their end.
const DRIFT: u64 = 30 * 86_400;

/// An alarm.
#[derive(Debug, Clone)]
pub struct Alarm {
    pub at: UnixTime,
    pub kind: Option<EventKind>,
    pub cause: Option<CauseKind>,
    pub metric: Option<Metric>,
}

/// One detector on one series.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub method: String,
    pub fault: Fault,
    /// Size of the change in units of the noise before it; the largest over the metrics.
    pub size: f64,
    /// Visits that it took, with the first that showed the change as one; `None` if not found.
    pub delay: Option<usize>,
    pub cause: Option<CauseKind>,
    pub kind: Option<EventKind>,
    /// Hours from the first visit to the change.
    pub hours: f64,
    /// Alarms before the change, or without one.
    pub false_alarms: usize,
    pub months: f64,
    /// Those of the first day, and how much of it there is before the change.
    pub false_first_day: usize,
    pub first_days: f64,
}

/// Alarms of trunkline's detector: events at their first report.
pub fn ours(visits: &[Visit]) -> Vec<Alarm> {
    let mut detector = Detector::new();
    let events = visits.iter().flat_map(|visit| detector.push(visit));
    let new = events.filter(|event| event.is_new());
    new.map(|event| Alarm {
        at: event.confirmed,
        kind: Some(event.kind),
        cause: event.first_cause().map(|cause| cause.kind),
        metric: event.metric(),
    })
    .collect()
}

/// Alarms of a baseline on goodput, shortest round trip and resent share, those close together
/// counted once.
pub fn baseline(baseline: Baseline, visits: &[Visit]) -> Vec<Alarm> {
    let mut alarms: Vec<Alarm> = Vec::new();
    for metric in [Metric::Goodput, Metric::RoundTripMin, Metric::Resent] {
        let values = visits
            .iter()
            .filter_map(|visit| Some((visit.at, metric.of(visit)?)));
        let (times, values): (Vec<UnixTime>, Vec<f64>) = values.unzip();
        let found = baseline.alarms(&values).into_iter();
        alarms.extend(found.map(|index| Alarm {
            at: times[index],
            kind: None,
            cause: None,
            metric: Some(metric),
        }));
    }
    alarms.sort_by_key(|alarm| alarm.at);
    let mut grouped: Vec<Alarm> = Vec::new();
    for alarm in alarms {
        let near = grouped
            .last()
            .is_some_and(|last| alarm.at.seconds() - last.at.seconds() <= TOGETHER);
        if !near {
            grouped.push(alarm);
        }
    }
    grouped
}

/// Compares alarms with what happened.
pub fn judge(method: &str, fault: Fault, series: &Series, alarms: &[Alarm]) -> Outcome {
    let begin = series.visits[0].at.seconds();
    let changed = series.changed.seconds();
    let before = |alarm: &&Alarm| (begin..changed).contains(&alarm.at.seconds());
    let first_day = |alarm: &&Alarm| alarm.at.seconds() < changed.min(begin + DAY as u64);
    let known = changed.saturating_sub(begin) as f64;
    let last = changed + if fault == Fault::Drift { DRIFT } else { WEEK };
    let hit = alarms
        .iter()
        .filter(|_| fault != Fault::None)
        .find(|alarm| (changed..last).contains(&alarm.at.seconds()));
    let visits_until = |at: UnixTime| {
        let has = |visit: &&Visit| visit.goodput.is_some() && visit.at.seconds() >= changed;
        series
            .visits
            .iter()
            .filter(has)
            .filter(|visit| visit.at <= at)
            .count()
    };
    Outcome {
        method: method.to_owned(),
        fault,
        size: size(series),
        delay: hit.map(|alarm| visits_until(alarm.at)),
        cause: hit.and_then(|alarm| alarm.cause),
        kind: hit.and_then(|alarm| alarm.kind),
        hours: known / 3600.0,
        false_alarms: alarms.iter().filter(before).count(),
        months: known / MONTH,
        false_first_day: alarms.iter().filter(first_day).count(),
        first_days: (known / DAY).min(1.0),
    }
}

/// The change of the first day in units of the scatter of the two weeks before, season and all:
/// 1.4826 times the median absolute deviation, but at least half of the smallest change that
/// concerns anybody. The largest over the metrics. Where there are no two weeks before, those
/// without the change count.
pub fn size(series: &Series) -> f64 {
    let metrics = [
        (Metric::Goodput, 0.015),
        (Metric::RoundTripMin, 0.1e-3),
        (Metric::RoundTripMedian, 0.25e-3),
        (Metric::Resent, 1.5e-4),
    ];
    let sizes = metrics.iter().map(|(metric, least)| {
        let value = |visit: &Visit| {
            let value = metric.of(visit)?;
            Some(if *metric == Metric::Goodput {
                value.max(1.0).ln()
            } else {
                value
            })
        };
        let before = |visit: &&Visit| visit.at < series.changed;
        let count = series.visits.iter().filter(before).count();
        let start = count.saturating_sub(TWO_WEEKS);
        // Before the change, both are the same.
        let weeks = series.without.iter().skip(start).take(TWO_WEEKS.max(count));
        let before: Vec<f64> = match count < 5 * 48 {
            true => weeks.filter_map(value).collect(),
            false => weeks.take(count - start).filter_map(value).collect(),
        };
        let middle = stats::median(&before).unwrap_or(0.0);
        let off: Vec<f64> = before.iter().map(|value| (value - middle).abs()).collect();
        let noise = (1.4826 * stats::median(&off).unwrap_or(0.0)).max(*least);
        let pairs = series.visits.iter().zip(&series.without);
        let differences = pairs.filter(|(with, _)| with.at >= series.changed);
        let differences = differences.filter_map(|(with, without)| {
            let off = value(with)? - value(without)?;
            (off != 0.0).then_some(off)
        });
        let differences: Vec<f64> = differences.take(48).collect();
        stats::median(&differences).unwrap_or(0.0).abs() / noise
    });
    sizes.fold(0.0, f64::max)
}
