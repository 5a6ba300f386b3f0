//! What is drawn of a pair: points of round trips and of goodput.

use std::rc::Rc;

use changes::{NoSlope, SlowestLink, UnixTime, VisitKind};
use units::{Rate, Span};
use watch_store::{
    Kept, Level, LoadedVisit, Name, Pair, PairHistory, RollUp, Store, StoreError, StoredVisit,
};

use crate::range::Range;

/// How much is read of a task.
#[derive(Debug, Clone, Copy)]
struct Detail {
    /// Visits that are read with all their raw values.
    raw: usize,
    /// Points of other visits and of roll-ups.
    points: usize,
}

const WHOLE: Detail = Detail {
    raw: 400,
    points: 800,
};
const SMALL: Detail = Detail {
    raw: 0,
    points: 200,
};
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
    /// Shares of the round trips and the milliseconds that they do not exceed, both ascending;
    /// empty where no probe was answered.
    pub marks: Vec<(f64, f64)>,
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
        let main = Rc::new(Source::of(store, pair, task, range, WHOLE)?);
        let mut trips = main.has_trips().then(|| Rc::clone(&main));
        let mut goodput = main.has_goodput().then(|| Rc::clone(&main));
        for task in tasks.iter().filter(|other| *other != task) {
            if trips.is_some() && goodput.is_some() {
                break;
            }
            let other = Rc::new(Source::of(store, pair, task, range, WHOLE)?);
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

    /// Of `task` alone, in few points.
    pub fn small(
        store: &mut Store,
        pair: &Pair,
        task: &Name,
        range: Range,
    ) -> Result<Self, StoreError> {
        let main = Rc::new(Source::of(store, pair, task, range, SMALL)?);
        Ok(Series {
            trips: Rc::clone(&main),
            goodput: main.has_goodput().then(|| Rc::clone(&main)),
            main,
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

    /// What the slowest link carries at the least, as the median of what the points say, and of how
    /// many; or why the last of them says nothing. `None` where none was asked.
    pub fn slowest_link(&self) -> Option<Result<(Rate, String), NoSlope>> {
        let links = || {
            self.visits()
                .filter_map(|loaded| loaded.stored.visit.slowest_link)
        };
        let (name, roll_ups) = match &self.main.data {
            Data::Visits(_) => ("visit", &[][..]),
            Data::RollUps(Level::Hour, roll_ups) => ("hour", &roll_ups[..]),
            Data::RollUps(Level::Day, roll_ups) => ("day", &roll_ups[..]),
            Data::RollUps(Level::Month, roll_ups) => ("month", &roll_ups[..]),
        };
        let rates = links().filter_map(SlowestLink::at_least);
        let rates = rates.chain(roll_ups.iter().filter_map(|one| one.pings?.slowest_link));
        let rates: Vec<f64> = rates.map(Rate::as_f64).collect();
        match stats::median(&rates) {
            Some(median) => {
                let of = draw::words::count(rates.len() as u64, name);
                Some(Ok((Rate::from_f64(median), of)))
            }
            None => links().last().and_then(SlowestLink::unknown).map(Err),
        }
    }

    /// What the path lost of the load, and what that is: shares of bytes that were sent again, or
    /// of datagrams, by visit.
    pub fn lost(&self) -> (&'static str, Vec<(f64, f64)>) {
        let visits = self
            .goodput
            .as_ref()
            .map_or(&[][..], |source| source.visits());
        let is_udp = |loaded: &LoadedVisit| loaded.stored.visit.kind == VisitKind::Udp;
        let share = |loaded: &LoadedVisit| {
            let visit = &loaded.stored.visit;
            let share = match is_udp(loaded) {
                true => visit.probes?.loss(),
                false => visit.resent.map(f64::from),
            };
            Some((seconds(visit.at), share?))
        };
        let what = match visits.iter().any(is_udp) {
            true => "lost [%]",
            false => "resent [%]",
        };
        (what, visits.iter().filter_map(share).collect())
    }
}

impl Source {
    /// Visits with raw values where they are few enough, else roll-ups.
    fn of(
        store: &mut Store,
        pair: &Pair,
        task: &Name,
        range: Range,
        detail: Detail,
    ) -> Result<Self, StoreError> {
        let Detail { raw, points } = detail;
        let data = match store.history(pair, task, range.ends(), points)? {
            PairHistory::RollUps(level, roll_ups) => Data::RollUps(level, roll_ups),
            PairHistory::Visits(visits) if visits.len() <= raw => {
                Data::Visits(store.visits(pair, task, range.ends(), raw as u32)?)
            }
            PairHistory::Visits(visits) => {
                let figures = |(id, visit)| LoadedVisit {
                    stored: StoredVisit {
                        id,
                        pair: pair.clone(),
                        task: task.clone(),
                        visit,
                        rates: None,
                        document: None,
                    },
                    kept: Kept::Figures,
                };
                Data::Visits(visits.into_iter().map(figures).collect())
            }
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
    let marks = match (loaded.kept, sorted) {
        (Kept::Figures, [min, median, high, max]) => {
            vec![(0.0, *min), (0.5, *median), (0.95, *high), (1.0, *max)]
        }
        _ => {
            let last = sorted.len().max(2) as f64 - 1.0;
            let share = |rank: usize| rank as f64 / last;
            sorted
                .iter()
                .enumerate()
                .map(|(rank, trip)| (share(rank), *trip))
                .collect()
        }
    };
    (trips.is_some() || loss.is_some()).then(|| Trips {
        at: seconds(visit.at),
        until: seconds(visit.at),
        marks: marks.into_iter().map(milliseconds).collect(),
        loss,
    })
}

fn milliseconds((share, trip): (f64, Span)) -> (f64, f64) {
    (share, trip.as_secs_f64() * 1e3)
}

impl Trips {
    /// The round trip that this share of them does not exceed.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let above = self.marks.iter().position(|(mark, _)| *mark >= share);
        let above = above.unwrap_or(self.marks.len().checked_sub(1)?);
        let (high, low) = (
            *self.marks.get(above)?,
            *self.marks.get(above.saturating_sub(1))?,
        );
        match high.0 > low.0 {
            true => Some(stats::between(low, high, share)),
            false => Some(high.1),
        }
    }
}

fn trips_of_roll_up(roll_up: &RollUp, level: Level) -> Option<Trips> {
    let figures = roll_up.round_trip?;
    let marks = [
        (0.0, figures.min),
        (0.05, figures.low),
        (0.5, figures.median),
        (0.95, figures.high),
        (1.0, figures.max),
    ];
    let at = seconds(roll_up.start);
    Some(Trips {
        at,
        until: at + length(level),
        marks: marks.map(milliseconds).to_vec(),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn trips(marks: &[(f64, f64)]) -> Trips {
        Trips {
            at: 0.0,
            until: 0.0,
            marks: marks.to_vec(),
            loss: None,
        }
    }

    #[test]
    fn quantiles_lie_between_the_marks() {
        let figures = trips(&[(0.0, 10.0), (0.5, 20.0), (0.95, 29.0), (1.0, 50.0)]);
        let shares = [0.0, 0.25, 0.5, 0.65, 0.95, 1.0].map(|share| figures.quantile(share));
        let wanted = [10.0, 15.0, 20.0, 23.0, 29.0, 50.0].map(Some);
        let near = |(one, other): (Option<f64>, Option<f64>)| {
            (one.unwrap_or(0.0) - other.unwrap_or(9.0)).abs() < 1e-9
        };
        assert!(shares.into_iter().zip(wanted).all(near), "{shares:?}");
        assert_eq!(trips(&[(0.0, 7.0)]).quantile(0.9), Some(7.0));
        assert_eq!(trips(&[]).quantile(0.5), None);
    }

    #[test]
    fn a_point_lasts_to_the_next_one_but_not_over_a_gap() {
        let at = |at: f64| Trips {
            at,
            until: at,
            ..trips(&[])
        };
        let mut all = [0.0, 10.0, 20.0, 30.0, 90.0].map(at);
        reach_the_next(&mut all);
        assert_eq!(
            all.each_ref().map(|trips| trips.until),
            [10.0, 20.0, 30.0, 40.0, 100.0]
        );
        let parts = parts(&all, |trips| trips.at);
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [4, 1]);
    }
}
