//! What is drawn of a pair: points of round trips and of goodput.

use std::rc::Rc;

use changes::UnixTime;
use watch_store::{Level, LoadedVisit, Name, Pair, PairHistory, RollUp, Store, StoreError};

use crate::ask::Range;

/// Visits that are read with all their raw values.
const RAW: u32 = 800;
/// Points of roll-ups.
const POINTS: usize = 800;
/// After a gap of so many usual steps a line is broken.
const GAP: f64 = 3.0;

/// Round trips and goodput of a pair, each from the task that has it.
pub struct Series {
    /// The task that was asked for.
    main: Rc<Source>,
    trips: Rc<Source>,
    goodput: Option<Rc<Source>>,
}

/// What one task has in a range.
struct Source {
    task: Name,
    data: Data,
}

enum Data {
    Visits(Vec<LoadedVisit>),
    RollUps(Level, Vec<RollUp>),
}

/// Round trips of a visit, or of the visits of some time.
#[derive(Debug, Clone, PartialEq)]
pub struct Trips {
    /// When it begins, in seconds since 1970.
    pub at: f64,
    /// When it gives way to the next one.
    pub until: f64,
    /// Milliseconds, in ascending order; empty where no probe was answered.
    pub sorted: Vec<f64>,
    /// Share of the probes that was lost.
    pub loss: Option<f64>,
}

/// Goodput of a visit, or of the visits of some time, in bits per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Carried {
    /// When, in seconds since 1970.
    pub at: f64,
    /// 5th percentile of a time; of a visit its goodput.
    pub low: f64,
    /// Median.
    pub median: f64,
    /// 95th percentile.
    pub high: f64,
}

impl Series {
    /// Of `task`; what it does not measure is taken from the first other task that does.
    pub fn of(
        store: &mut Store,
        pair: &Pair,
        task: &Name,
        tasks: &[Name],
        range: Range,
    ) -> Result<Self, StoreError> {
        let main = Rc::new(Source::of(store, pair, task, range)?);
        let mut trips = main.has_trips().then(|| Rc::clone(&main));
        let mut goodput = main.has_goodput().then(|| Rc::clone(&main));
        for task in tasks.iter().filter(|other| *other != task) {
            if trips.is_some() && goodput.is_some() {
                break;
            }
            let other = Rc::new(Source::of(store, pair, task, range)?);
            if trips.is_none() && other.has_trips() {
                trips = Some(Rc::clone(&other));
            }
            if goodput.is_none() && other.has_goodput() {
                goodput = Some(other);
            }
        }
        let trips = trips.unwrap_or_else(|| Rc::clone(&main));
        Ok(Series {
            main,
            trips,
            goodput,
        })
    }

    /// The task that measures goodput.
    pub fn goodput_task(&self) -> Option<&Name> {
        self.goodput.as_ref().map(|source| &source.task)
    }

    /// What a point stands for.
    pub fn resolution(&self) -> &'static str {
        match &self.main.data {
            Data::Visits(_) => "every visit",
            Data::RollUps(Level::Hour, _) => "hours summed up",
            Data::RollUps(Level::Day, _) => "days summed up",
            Data::RollUps(Level::Month, _) => "months summed up",
        }
    }

    /// The visits of the chosen task, where they are shown one by one.
    pub fn visits(&self) -> impl Iterator<Item = &LoadedVisit> {
        self.main.visits().iter()
    }

    /// Times of visits that failed, in seconds since 1970.
    pub fn failures(&self) -> Vec<f64> {
        let failed = |loaded: &&LoadedVisit| loaded.stored.visit.failure.is_some();
        let failures = self.visits().filter(failed);
        failures
            .map(|loaded| seconds(loaded.stored.visit.at))
            .collect()
    }

    /// Round trips in the order of time.
    pub fn trips(&self) -> Vec<Trips> {
        let mut trips = match &self.trips.data {
            Data::Visits(visits) => visits.iter().filter_map(trips_of_visit).collect(),
            Data::RollUps(level, roll_ups) => {
                let of = |roll_up| trips_of_roll_up(roll_up, *level);
                roll_ups.iter().filter_map(of).collect::<Vec<_>>()
            }
        };
        reach_the_next(&mut trips);
        trips
    }

    /// Goodput in the order of time, in parts without gaps.
    pub fn goodput(&self) -> Vec<Vec<Carried>> {
        let carried = match self.goodput.as_ref().map(|source| &source.data) {
            Some(Data::Visits(visits)) => visits.iter().filter_map(goodput_of_visit).collect(),
            Some(Data::RollUps(level, roll_ups)) => {
                let of = |roll_up| goodput_of_roll_up(roll_up, *level);
                roll_ups.iter().filter_map(of).collect::<Vec<_>>()
            }
            None => Vec::new(),
        };
        parts(&carried, |point| point.at)
    }

    /// Shares of bytes that were sent again, by visit.
    pub fn resent(&self) -> Vec<(f64, f64)> {
        let visits = self
            .goodput
            .as_ref()
            .map_or(&[][..], |source| source.visits());
        let resent = |loaded: &LoadedVisit| {
            let visit = &loaded.stored.visit;
            Some((seconds(visit.at), f64::from(visit.resent?)))
        };
        visits.iter().filter_map(resent).collect()
    }
}

impl Source {
    /// Visits with raw values where they are few enough, else roll-ups.
    fn of(store: &mut Store, pair: &Pair, task: &Name, range: Range) -> Result<Self, StoreError> {
        let visits = store.visits(pair, task, range.ends(), RAW + 1)?;
        let data = match visits.len() > RAW as usize {
            false => Data::Visits(visits),
            true => match store.history(pair, task, range.ends(), POINTS)? {
                PairHistory::RollUps(level, roll_ups) => Data::RollUps(level, roll_ups),
                PairHistory::Visits(_) => Data::Visits(visits),
            },
        };
        Ok(Source {
            task: task.clone(),
            data,
        })
    }

    fn visits(&self) -> &[LoadedVisit] {
        match &self.data {
            Data::Visits(visits) => visits,
            Data::RollUps(..) => &[],
        }
    }

    fn has_trips(&self) -> bool {
        match &self.data {
            Data::Visits(visits) => visits.iter().any(|v| v.stored.visit.round_trips.is_some()),
            Data::RollUps(_, roll_ups) => roll_ups.iter().any(|r| r.round_trip.is_some()),
        }
    }

    fn has_goodput(&self) -> bool {
        match &self.data {
            Data::Visits(visits) => visits.iter().any(|v| v.stored.visit.goodput.is_some()),
            Data::RollUps(_, roll_ups) => roll_ups.iter().any(|r| r.goodput.is_some()),
        }
    }
}

fn seconds(at: UnixTime) -> f64 {
    at.seconds() as f64
}

fn trips_of_visit(loaded: &LoadedVisit) -> Option<Trips> {
    let visit = &loaded.stored.visit;
    let loss = visit.probes.and_then(|probes| probes.loss());
    let trips = visit.round_trips.as_ref();
    let sorted = trips.map_or(&[][..], |trips| trips.sorted());
    (trips.is_some() || loss.is_some()).then(|| Trips {
        at: seconds(visit.at),
        until: seconds(visit.at),
        sorted: sorted.iter().map(|trip| trip.as_secs_f64() * 1e3).collect(),
        loss,
    })
}

fn trips_of_roll_up(roll_up: &RollUp, level: Level) -> Option<Trips> {
    let figures = roll_up.round_trip?;
    let sorted = [
        figures.min,
        figures.low,
        figures.median,
        figures.high,
        figures.max,
    ];
    let at = seconds(roll_up.start);
    Some(Trips {
        at,
        until: at + length(level),
        sorted: sorted.map(|trip| trip.as_secs_f64() * 1e3).to_vec(),
        loss: roll_up.loss(),
    })
}

fn goodput_of_visit(loaded: &LoadedVisit) -> Option<Carried> {
    let visit = &loaded.stored.visit;
    let goodput = visit.goodput?.as_f64();
    Some(Carried {
        at: seconds(visit.at),
        low: goodput,
        median: goodput,
        high: goodput,
    })
}

fn goodput_of_roll_up(roll_up: &RollUp, level: Level) -> Option<Carried> {
    let figures = roll_up.goodput?;
    Some(Carried {
        at: seconds(roll_up.start) + length(level) / 2.0,
        low: figures.low.as_f64(),
        median: figures.median.as_f64(),
        high: figures.high.as_f64(),
    })
}

/// Seconds of a roll-up.
fn length(level: Level) -> f64 {
    match level {
        Level::Hour => 3600.0,
        Level::Day => 86_400.0,
        Level::Month => 30.4 * 86_400.0,
    }
}

/// The median distance of neighbours.
fn step(times: &[f64]) -> f64 {
    let steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    stats::median(&steps).unwrap_or(1800.0).max(1.0)
}

/// Each point of a visit lasts until the next one, or for a usual step before a gap.
fn reach_the_next(trips: &mut [Trips]) {
    let times: Vec<f64> = trips.iter().map(|trip| trip.at).collect();
    let step = step(&times);
    let next = times.iter().skip(1).copied().chain([f64::INFINITY]);
    for (trip, next) in trips.iter_mut().zip(next) {
        if trip.until <= trip.at {
            let gap = next - trip.at > GAP * step;
            trip.until = if gap { trip.at + step } else { next };
        }
    }
}

/// Points without gaps between them.
pub fn parts<T: Clone>(points: &[T], at: impl Fn(&T) -> f64) -> Vec<Vec<T>> {
    let times: Vec<f64> = points.iter().map(&at).collect();
    let step = step(&times);
    let near = |one: &T, next: &T| at(next) - at(one) <= GAP * step;
    points.chunk_by(near).map(<[T]>::to_vec).collect()
}
