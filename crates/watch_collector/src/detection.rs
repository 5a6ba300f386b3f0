//! The detectors, one for each series.

use std::collections::BTreeMap;

use changes::{Detector, Event, Forecast, UnixTime};
use units::Span;
use watch_store::{Pair, PairHistory, SavedDetector, Series, Store, StoredEvent, StoredVisit};

use crate::{CollectorError, FOR_EVER};

/// A detector without a saved state reads this much of the past: twice what it keeps.
const PAST: Span = Span::from_secs(60 * 86_400);
/// Visits after which a detector is saved: a day of half-hourly ones.
const SAVE_AFTER: u32 = 48;

/// All detectors.
#[derive(Default)]
pub(crate) struct Detection {
    series: BTreeMap<Series, Watched>,
}

struct Watched {
    detector: Detector,
    through: UnixTime,
    unsaved: u32,
}

impl Detection {
    /// The detectors of all series, with all stored visits; and the events of the visits that
    /// were stored after they had been saved.
    pub fn resume(store: &mut Store) -> Result<(Self, Vec<StoredEvent>), CollectorError> {
        let mut detection = Detection::default();
        let mut events = Vec::new();
        for series in store.all_series()? {
            let (watched, found) = resumed(store, &series)?;
            events.extend(stored(store, &series, found)?);
            detection.series.insert(series, watched);
        }
        let latest: BTreeMap<Pair, UnixTime> = detection
            .series
            .iter()
            .map(|(series, watched)| (series.pair.clone(), watched.through))
            .collect();
        for (pair, now) in &latest {
            detection.support(store, pair, *now, &mut events)?;
        }
        Ok((detection, events))
    }

    /// Takes visits that were just stored, in their order; adds the events, which are stored.
    pub fn push<'a>(
        &mut self,
        store: &mut Store,
        visits: impl Iterator<Item = &'a StoredVisit>,
        events: &mut Vec<StoredEvent>,
    ) -> Result<(), CollectorError> {
        for visit in visits {
            let series = Series {
                pair: visit.pair.clone(),
                task: visit.task.clone(),
            };
            let watched = self
                .series
                .entry(series.clone())
                .or_insert_with(Watched::new);
            let found = watched.push(&visit.visit);
            events.extend(stored(store, &series, found)?);
            if watched.unsaved >= SAVE_AFTER {
                watched.save(store, &series)?;
            }
            self.support(store, &series.pair, visit.visit.at, events)?;
        }
        Ok(())
    }

    /// Gives the events of a pair's tasks the causes that visits of its other tasks show.
    fn support(
        &mut self,
        store: &mut Store,
        pair: &Pair,
        now: UnixTime,
        events: &mut Vec<StoredEvent>,
    ) -> Result<(), CollectorError> {
        let of_pair = self
            .series
            .iter()
            .filter(|(series, _)| series.pair == *pair);
        let tasks: Vec<Series> = of_pair.map(|(series, _)| series.clone()).collect();
        for series in &tasks {
            let own = self.series.get(series);
            if tasks.len() < 2 || !own.is_some_and(|own| own.detector.may_be_supported(now)) {
                continue;
            }
            let others = tasks.iter().filter(|other| *other != series);
            let others = others.filter_map(|other| self.series.get(other));
            let visits = others.flat_map(|other| other.detector.visits());
            let visits: Vec<changes::Visit> = visits.cloned().collect();
            let visits: Vec<&changes::Visit> = visits.iter().collect();
            if let Some(own) = self.series.get_mut(series) {
                let found = own.detector.support(&visits, now);
                let is_revised = !found.is_empty();
                events.extend(stored(store, series, found)?);
                if is_revised {
                    // A start from an older state would count revisions anew.
                    own.save(store, series)?;
                }
            }
        }
        Ok(())
    }

    /// Reports series whose visits have stopped by `now`.
    pub fn check(
        &mut self,
        store: &mut Store,
        now: UnixTime,
        events: &mut Vec<StoredEvent>,
    ) -> Result<(), CollectorError> {
        for (series, watched) in &mut self.series {
            if let Some(event) = watched.detector.check(now) {
                watched.unsaved += 1;
                events.extend(stored(store, series, vec![event])?);
            }
        }
        Ok(())
    }

    /// Saves all that have changed.
    pub fn save(&mut self, store: &mut Store) -> Result<(), CollectorError> {
        for (series, watched) in &mut self.series {
            if watched.unsaved > 0 {
                watched.save(store, series)?;
            }
        }
        Ok(())
    }

    pub fn forecast(&self, series: &Series) -> Option<Forecast> {
        self.series.get(series)?.detector.forecast()
    }
}

impl Watched {
    fn new() -> Self {
        Watched {
            detector: Detector::new(),
            through: UnixTime::default(),
            unsaved: 0,
        }
    }

    fn push(&mut self, visit: &changes::Visit) -> Vec<Event> {
        self.unsaved += 1;
        self.through = self.through.max(visit.at);
        self.detector.push(visit)
    }

    fn save(&mut self, store: &mut Store, series: &Series) -> Result<(), CollectorError> {
        let saved = SavedDetector {
            through: self.through,
            detector: self.detector.clone(),
        };
        store.save_detector(series, &saved)?;
        self.unsaved = 0;
        Ok(())
    }
}

fn resumed(store: &mut Store, series: &Series) -> Result<(Watched, Vec<Event>), CollectorError> {
    let mut watched = Watched::new();
    let (_, end) = FOR_EVER;
    let from = match store.saved_detector(series)? {
        Some(SavedDetector { through, detector }) => {
            watched.detector = detector;
            watched.through = through;
            UnixTime::from_seconds(through.seconds() + 1)
        }
        None => {
            let latest = store.latest(series)?.unwrap_or_default();
            UnixTime::from_seconds(latest.seconds().saturating_sub(PAST.as_secs_f64() as u64))
        }
    };
    let history = store.history(&series.pair, &series.task, (from, end), usize::MAX)?;
    let PairHistory::Visits(visits) = history else {
        return Ok((watched, Vec::new()));
    };
    let events = visits
        .iter()
        .flat_map(|(_, visit)| watched.push(visit))
        .collect();
    Ok((watched, events))
}

/// Stores the events of a series.
fn stored(
    store: &mut Store,
    series: &Series,
    events: Vec<Event>,
) -> Result<Vec<StoredEvent>, CollectorError> {
    let Series { pair, task } = series;
    events
        .into_iter()
        .map(|event| {
            store.insert_event(pair, task, &event)?;
            Ok(StoredEvent {
                pair: pair.clone(),
                task: task.clone(),
                event,
            })
        })
        .collect()
}
