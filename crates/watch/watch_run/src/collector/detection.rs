//! The detectors, one for each series.

use std::collections::BTreeMap;

use changes::{Detector, Event, Forecast, UnixTime};
use units::Span;
use watch_plan::Timetable;
use watch_store::{
    Name, Pair, PairHistory, SavedDetector, SavedState, Series, Store, StoredEvent, StoredVisit,
};

use crate::collector::{CollectorError, FOR_EVER};

/// A detector without a saved state reads this much of the past: twice what it keeps.
const PAST: Span = Span::from_secs(60 * 86_400);
/// Visits after which a detector is saved, unless it finds something: a day of half-hourly ones.
const SAVE_AFTER: u32 = 48;
/// So many visits that the plan had did not come when a path counts as silent.
const OVERDUE: usize = 4;

/// The detectors of a pair, by task.
type Tasks = BTreeMap<Name, Watched>;

/// All detectors.
#[derive(Default)]
pub(crate) struct Detection {
    pairs: BTreeMap<Pair, Tasks>,
    /// How many saved states could not be used.
    pub relearned: usize,
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
            let state = store.saved_detector(&series)?;
            detection.relearned += usize::from(state == SavedState::Unusable);
            let (watched, found) = resumed(store, &series, state)?;
            events.extend(stored(store, &series, found)?);
            let tasks = detection.pairs.entry(series.pair).or_default();
            tasks.insert(series.task, watched);
        }
        for (pair, tasks) in &mut detection.pairs {
            let latest = tasks.values().map(|watched| watched.through).max();
            if let Some(now) = latest {
                support(tasks, store, pair, now, &mut events)?;
            }
        }
        Ok((detection, events))
    }

    /// Whether visits of a series are stored.
    pub fn knows(&self, series: &Series) -> bool {
        let tasks = self.pairs.get(&series.pair);
        tasks.is_some_and(|tasks| tasks.contains_key(&series.task))
    }

    /// Takes visits that were just stored, in their order; adds the events, which are stored.
    pub fn push<'a>(
        &mut self,
        store: &mut Store,
        visits: impl Iterator<Item = &'a StoredVisit>,
        events: &mut Vec<StoredEvent>,
    ) -> Result<(), CollectorError> {
        self.save_due(store)?;
        for visit in visits {
            let series = Series {
                pair: visit.pair.clone(),
                task: visit.task.clone(),
            };
            let tasks = self.pairs.entry(series.pair.clone()).or_default();
            let task = tasks.entry(series.task.clone());
            let watched = task.or_insert_with(Watched::new);
            let found = watched.push(&visit.visit);
            if !found.is_empty() {
                watched.unsaved = SAVE_AFTER;
            }
            events.extend(stored(store, &series, found)?);
            support(tasks, store, &series.pair, visit.visit.at, events)?;
        }
        Ok(())
    }

    /// Reports series whose visits have stopped by `now`. Quiet hours are no silence, and neither
    /// is a task that has left the plan.
    pub fn check(
        &mut self,
        store: &mut Store,
        timetable: &Timetable,
        now: UnixTime,
        events: &mut Vec<StoredEvent>,
    ) -> Result<(), CollectorError> {
        for (series, watched) in self.all() {
            if !is_overdue(timetable, &series, watched.through, now) {
                continue;
            }
            if let Some(event) = watched.detector.check(now) {
                watched.unsaved = SAVE_AFTER;
                events.extend(stored(store, &series, vec![event])?);
            }
        }
        Ok(())
    }

    /// Saves all that have changed.
    pub fn save(&mut self, store: &mut Store) -> Result<(), CollectorError> {
        self.save_from(store, 1)
    }

    /// Saves those that have seen many visits or found something. What they found was told by now:
    /// a collector that is killed later does not tell it again.
    fn save_due(&mut self, store: &mut Store) -> Result<(), CollectorError> {
        self.save_from(store, SAVE_AFTER)
    }

    fn save_from(&mut self, store: &mut Store, least: u32) -> Result<(), CollectorError> {
        for (pair, tasks) in &mut self.pairs {
            for (task, watched) in tasks.iter_mut().filter(|(_, one)| one.unsaved >= least) {
                let (pair, task) = (pair.clone(), task.clone());
                watched.save(store, &Series { pair, task })?;
            }
        }
        Ok(())
    }

    pub fn forecast(&self, series: &Series) -> Option<Forecast> {
        let tasks = self.pairs.get(&series.pair)?;
        tasks.get(&series.task)?.detector.forecast()
    }

    fn all(&mut self) -> impl Iterator<Item = (Series, &mut Watched)> {
        self.pairs.iter_mut().flat_map(|(pair, tasks)| {
            tasks.iter_mut().map(|(task, watched)| {
                let (pair, task) = (pair.clone(), task.clone());
                (Series { pair, task }, watched)
            })
        })
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

/// Whether the plan had enough visits between the latest one and `now`.
fn is_overdue(timetable: &Timetable, series: &Series, latest: UnixTime, now: UnixTime) -> bool {
    let pair = [series.pair.from.as_str(), series.pair.to.as_str()];
    let since = latest.seconds().cast_signed();
    let due = timetable.visits_of(series.task.as_str(), pair, since);
    let over = due.take_while(|due| due.until <= now.seconds().cast_signed());
    over.take(OVERDUE).count() == OVERDUE
}

/// Gives the events of a pair's tasks the causes that visits of its other tasks show.
fn support(
    tasks: &mut Tasks,
    store: &mut Store,
    pair: &Pair,
    now: UnixTime,
    events: &mut Vec<StoredEvent>,
) -> Result<(), CollectorError> {
    let names: Vec<Name> = match tasks.len() {
        0 | 1 => return Ok(()),
        _ => tasks.keys().cloned().collect(),
    };
    for task in names {
        let may_be = |own: &Watched| own.detector.may_be_supported(now);
        if !tasks.get(&task).is_some_and(may_be) {
            continue;
        }
        let others = tasks.iter().filter(|(other, _)| **other != task);
        let visits = others.flat_map(|(_, other)| other.detector.visits());
        let visits: Vec<changes::Visit> = visits.cloned().collect();
        let visits: Vec<&changes::Visit> = visits.iter().collect();
        let Some(own) = tasks.get_mut(&task) else {
            continue;
        };
        let found = own.detector.support(&visits, now);
        if !found.is_empty() {
            let (pair, task) = (pair.clone(), task.clone());
            let series = Series { pair, task };
            events.extend(stored(store, &series, found)?);
            // A start from an older state would count revisions anew.
            own.save(store, &series)?;
        }
    }
    Ok(())
}

/// A detector with all stored visits, from what was saved of it on.
fn resumed(
    store: &mut Store,
    series: &Series,
    state: SavedState,
) -> Result<(Watched, Vec<Event>), CollectorError> {
    let mut watched = Watched::new();
    let (_, end) = FOR_EVER;
    let from = match state {
        SavedState::Saved(saved) => {
            watched.detector = saved.detector;
            watched.through = saved.through;
            UnixTime::from_seconds(saved.through.seconds() + 1)
        }
        SavedState::Absent | SavedState::Unusable => {
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
