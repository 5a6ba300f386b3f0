//! What stands on the page: an event's beginning, size, end and state beside what happened.

use std::collections::BTreeMap;
use std::fmt::Write;

use changes::{Detector, End, Event, EventKind, Metric, Moved, UnixTime, Visit};

use crate::score;
use crate::series::{Fault, Series};

const DAY: f64 = 86_400.0;
/// An event belongs to a fault if it begins within a day of it.
const SAME: u64 = 86_400;
/// Visits that an end may take to be told.
const TOLD: usize = 3;
/// Smaller faults are no larger than noise.
const TWICE: f64 = 2.0;

/// One series.
pub struct Life {
    fault: Fault,
    size: f64,
    /// The event of the fault: how it was told.
    told: Option<Told>,
    /// Events beside that of the fault, after the first day.
    others: usize,
    /// Of those, still open at the end.
    open_without_cause: usize,
    /// Pairs of open events of one metric that say the contrary of each other.
    contrary: usize,
    months: f64,
}

struct Told {
    /// Its first visit is the first of the fault, the one before or the one after.
    starts: bool,
    /// Its size is within a tenth of the true one.
    sized: bool,
    /// After over before is within a tenth of the true one.
    leveled: bool,
    /// For faults that end: closed with the third visit without the fault.
    closed: Option<bool>,
    /// For faults that go on: open at the end of the series.
    open: Option<bool>,
}

/// The last revision of each event, with when each was closed.
fn events(visits: &[Visit]) -> Vec<(Event, Option<UnixTime>)> {
    let mut detector = Detector::new();
    let mut last: BTreeMap<u64, (Event, Option<UnixTime>)> = BTreeMap::new();
    for visit in visits {
        for event in detector.push(visit) {
            let closed = last.get(&event.id).and_then(|known| known.1);
            let closed = closed.or((!event.is_open()).then_some(visit.at));
            last.insert(event.id, (event, closed));
        }
    }
    let events = last.into_values();
    events.filter(|(event, _)| !event.is_withdrawn()).collect()
}

/// What the detector makes of a series.
pub fn judge(fault: Fault, series: &Series) -> Life {
    let all = events(&series.visits);
    let begin = series.visits[0].at.seconds();
    let (changed, ended) = (series.changed, series.ended);
    let last = series.visits.last().map_or(changed, |visit| visit.at);
    let is_own = |event: &Event| {
        let first = event.first_visit.seconds();
        let latest = match fault {
            Fault::Flapping => ended.seconds() + SAME,
            Fault::Drift => changed.seconds() + 30 * SAME,
            _ => changed.seconds() + SAME,
        };
        let near = (changed.seconds().saturating_sub(2 * 1800)..latest).contains(&first);
        fault != Fault::None && near
    };
    let own = all.iter().find(|(event, _)| is_own(event));
    let others = all
        .iter()
        .filter(|(event, _)| !is_own(event) && event.first_visit.seconds() > begin + DAY as u64);
    let others: Vec<&(Event, Option<UnixTime>)> = others.collect();
    Life {
        fault,
        size: score::size(series),
        told: own.map(|(event, closed)| told(event, *closed, series, fault, last)),
        others: others.len(),
        open_without_cause: others.iter().filter(|(event, _)| event.is_open()).count(),
        contrary: contrary(all.iter().map(|(event, _)| event)),
        months: last.since(series.visits[0].at).as_secs_f64() / (30.0 * DAY),
    }
}

fn told(
    event: &Event,
    closed: Option<UnixTime>,
    series: &Series,
    fault: Fault,
    last: UnixTime,
) -> Told {
    let results = series.visits.iter().filter(|visit| visit.goodput.is_some());
    let results: Vec<UnixTime> = results.map(|visit| visit.at).collect();
    let place = |at: UnixTime| results.partition_point(|one| *one < at);
    let ends = series.ended < last;
    let truth = event
        .worst()
        .map(|moved| (moved, size(series, moved.metric)));
    let sized = |(moved, truth): (&Moved, f64)| (moved.size - truth).abs() <= 0.1 * truth.abs();
    let leveled = |(moved, truth): (&Moved, f64)| match moved.metric {
        Metric::Goodput => ((1.0 + moved.size) / (1.0 + truth)).ln().abs() <= 0.1,
        _ => {
            ((moved.before + moved.size) / (moved.before + truth))
                .ln()
                .abs()
                <= 0.1
        }
    };
    let flaps = fault == Fault::Flapping;
    Told {
        starts: place(event.first_visit).abs_diff(place(series.changed)) <= 1,
        sized: truth.is_none_or(sized),
        leveled: truth.is_none_or(leveled),
        closed: (ends && !flaps).then(|| {
            let third = results.get(place(series.ended) + TOLD - 1);
            closed
                .zip(third)
                .is_some_and(|(closed, third)| closed <= *third)
        }),
        open: (!ends && fault != Fault::Drift)
            .then(|| event.is_open() || event.end == Some(End::Usual)),
    }
}

/// The true size: the same visits with the fault and without it.
fn size(series: &Series, metric: Metric) -> f64 {
    let pairs = series.visits.iter().zip(&series.without);
    let pairs = pairs.filter(|(with, _)| (series.changed..series.ended).contains(&with.at));
    let sizes = pairs.filter_map(|(with, without)| {
        let (with, without) = (metric.of(with)?, metric.of(without)?);
        Some(match metric {
            Metric::Goodput => with / without - 1.0,
            _ => with - without,
        })
    });
    stats::median(&sizes.take(48).collect::<Vec<_>>()).unwrap_or(0.0)
}

fn contrary<'a>(events: impl Iterator<Item = &'a Event>) -> usize {
    let open = events.filter(|event| event.is_open() && event.kind != EventKind::Flapping);
    let worst: Vec<&Moved> = open.filter_map(Event::worst).collect();
    let pairs = worst.iter().enumerate().flat_map(|(place, one)| {
        let others = worst[place + 1..].iter();
        others.map(move |other| (one, other))
    });
    pairs
        .filter(|(one, other)| one.metric == other.metric && one.size * other.size < 0.0)
        .count()
}

/// The tables.
pub fn table(lives: &[Life]) -> String {
    let mut page = String::from(
        "\n## What stands on the page\n\n\
         | faults of at least twice the noise | series | told | start within one visit | size \
         within a tenth | level within a tenth | ended ones closed with the third visit | lasting \
         ones open, or usual after four weeks |\n|---|---|---|---|---|---|---|---|\n",
    );
    let step = |fault: Fault| !matches!(fault, Fault::None | Fault::Drift | Fault::Flapping);
    for fault in Fault::ALL.into_iter().filter(|fault| *fault != Fault::None) {
        let is_large = |life: &&Life| life.size >= TWICE || fault == Fault::RouteOnly;
        let own = lives.iter().filter(|life| life.fault == fault);
        row(
            &mut page,
            fault.name(),
            &own.filter(is_large).collect::<Vec<_>>(),
        );
    }
    let all = lives.iter().filter(|life| step(life.fault));
    let all = all.filter(|life| life.size >= TWICE || life.fault == Fault::RouteOnly);
    row(
        &mut page,
        "all but flapping and drift",
        &all.collect::<Vec<_>>(),
    );
    let months: f64 = lives.iter().map(|life| life.months).sum();
    let sum = |count: fn(&Life) -> usize| lives.iter().map(count).sum::<usize>();
    let _ = writeln!(
        page,
        "\nBeside these, {:.2} events a path and month ({} in {months:.0} months); {} of them are \
         open at the end, and {} pairs of open events say the contrary of each other.",
        sum(|life| life.others) as f64 / months,
        sum(|life| life.others),
        sum(|life| life.open_without_cause),
        sum(|life| life.contrary),
    );
    page
}

fn row(page: &mut String, name: &str, lives: &[&Life]) {
    let told: Vec<&Told> = lives.iter().filter_map(|life| life.told.as_ref()).collect();
    let share = |holds: &dyn Fn(&Told) -> Option<bool>| {
        let known: Vec<bool> = told.iter().filter_map(|one| holds(one)).collect();
        match known.len() {
            0 => "-".to_owned(),
            count => {
                let good = known.iter().filter(|good| **good).count();
                format!("{:.1} %", 100.0 * good as f64 / count as f64)
            }
        }
    };
    let _ = writeln!(
        page,
        "| {name} | {} | {:.1} % | {} | {} | {} | {} | {} |",
        lives.len(),
        100.0 * told.len() as f64 / lives.len().max(1) as f64,
        share(&|one| Some(one.starts)),
        share(&|one| Some(one.sized)),
        share(&|one| Some(one.leveled)),
        share(&|one| one.closed),
        share(&|one| one.open),
    );
}
