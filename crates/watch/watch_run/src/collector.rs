//! The collector of a watch: takes results of agents, stores them, and finds changes in them.
//!
//! A [`Collector`] has the database and a [`changes::Detector`] for each series. It knows which
//! agent may send visits from which host ([`Allowed`]), and how each agent is ([`AgentState`]). It
//! reads no clock and starts no thread; every call takes `now`, so that a demonstration can run a
//! month in seconds.
//!
//! Left out: several collectors on one database. Detectors live in the memory of one, and a second
//! one would find the changes again: it is refused.
//!
//! Reading order: [`Collector`], `reports.rs` for agents' reports, `detection.rs` for what follows
//! from stored visits, `allowed.rs` for who may send what.

mod agents;
mod allowed;
mod detection;
mod error;
mod maintenance;
mod reports;

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::link::{PlanDigest, PlanText};
use changes::{Forecast, UnixTime};
use units::Span;
use watch_plan::Timetable;
use watch_store::{DatabaseName, Receipt, Series, Store, StoredEvent, StoredVisit};

pub use agents::AgentState;
pub use allowed::{Allowed, UNPLANNED_MAX};
pub use error::CollectorError;
pub use reports::{CLOCK_AHEAD_MAX, VISIT_AGE_MAX};

use agents::Agents;
use allowed::Unplanned;
use detection::Detection;

/// What a collector is given.
#[derive(Debug, Clone)]
pub struct CollectorOptions {
    /// Where results are stored.
    pub database: DatabaseName,
    /// The plan that it compares those of agents with.
    pub plan: PlanText,
    /// When visits should come.
    pub timetable: Timetable,
    /// Who may send what.
    pub allowed: Allowed,
    /// How long raw round trips, rates and documents are kept; figures stay for ever.
    pub keep_raw: Span,
    /// Since when agents can report. A path counts as silent only after they had time to deliver
    /// what waited on their disks.
    pub listening_since: UnixTime,
}

/// Takes what detectors report, on any thread.
pub type OnEvents = dyn Fn(&[StoredEvent]) + Send + Sync;

/// Stores visits and finds changes in them. Can be used by several threads at once.
pub struct Collector {
    plan: PlanDigest,
    plan_text: PlanText,
    timetable: Timetable,
    allowed: Allowed,
    keep_raw: Span,
    listening_since: UnixTime,
    state: Mutex<State>,
    agents: Mutex<Agents>,
    on_events: Box<OnEvents>,
}

/// What needs the database.
struct State {
    store: Store,
    detection: Detection,
    unplanned: Unplanned,
    /// The database failed under the detectors: they may know of visits and events that it does
    /// not have, and lack others.
    is_out_of_step: bool,
}

impl State {
    /// Reads the detectors from the database again where it failed under them.
    fn catch_up(&mut self, events: &mut Vec<StoredEvent>) -> Result<(), CollectorError> {
        if self.is_out_of_step {
            let (detection, found) = Detection::resume(&mut self.store)?;
            self.detection = detection;
            self.is_out_of_step = false;
            events.extend(found);
        }
        Ok(())
    }

    /// Works with the detectors and the database.
    fn detect(
        &mut self,
        work: impl FnOnce(&mut Detection, &mut Store) -> Result<(), CollectorError>,
    ) -> Result<(), CollectorError> {
        let done = work(&mut self.detection, &mut self.store);
        self.is_out_of_step |= done.is_err();
        done
    }

    /// Stores visits, and gives those that are new to the detectors.
    fn store(
        &mut self,
        visits: &[StoredVisit],
        events: &mut Vec<StoredEvent>,
    ) -> Result<Vec<Receipt>, CollectorError> {
        self.catch_up(events)?;
        let receipts = self.store.insert(visits)?;
        let stored = visits.iter().zip(&receipts);
        let new = stored.filter(|(_, receipt)| **receipt == Receipt::Stored);
        let new = new.map(|(visit, _)| visit);
        self.detect(|detection, store| detection.push(store, new, events))?;
        Ok(receipts)
    }
}

impl Collector {
    /// Opens the database, and brings the detectors up to the last stored visit.
    ///
    /// * `on_events`: is given each event when it becomes certain or changes, after it was stored.
    ///   After a start it may be given the last ones again.
    ///
    /// # Errors
    /// When the database cannot be used.
    pub fn open(
        options: CollectorOptions,
        on_events: Box<OnEvents>,
    ) -> Result<Self, CollectorError> {
        let mut store = Store::open(&options.database)?;
        store.claim()?;
        let (detection, events) = Detection::resume(&mut store)?;
        on_events(&events);
        Ok(Collector {
            plan: options.plan.digest(),
            plan_text: options.plan,
            timetable: options.timetable,
            allowed: options.allowed,
            keep_raw: options.keep_raw,
            listening_since: options.listening_since,
            state: Mutex::new(State {
                store,
                detection,
                unplanned: Unplanned::default(),
                is_out_of_step: false,
            }),
            agents: Mutex::default(),
            on_events,
        })
    }

    /// Stores visits and looks for changes in those that are new. The receipts are in their order.
    ///
    /// # Errors
    /// When the database cannot be written. Send them again: those that are stored are known then,
    /// and no change in them is missed.
    pub fn store(&self, visits: &[StoredVisit]) -> Result<Vec<Receipt>, CollectorError> {
        self.telling(|state, events| state.store(visits, events))
    }

    /// Tells the events that `work` finds, also where it fails behind them.
    fn telling<T>(
        &self,
        work: impl FnOnce(&mut State, &mut Vec<StoredEvent>) -> Result<T, CollectorError>,
    ) -> Result<T, CollectorError> {
        let mut events = Vec::new();
        let done = work(&mut self.state(), &mut events);
        if !events.is_empty() {
            (self.on_events)(&events);
        }
        done
    }

    /// What goodput the next hours of a series will bring; `None` before there is a day of visits.
    pub fn forecast(&self, series: &Series) -> Option<Forecast> {
        self.state().detection.forecast(series)
    }

    /// How many saved detectors could not be used when the database was read last; stored visits
    /// have taught them again.
    pub fn relearned(&self) -> usize {
        self.state().detection.relearned
    }

    /// How each agent is that has reported since the start, by name of the host.
    pub fn agents(&self) -> Vec<AgentState> {
        self.agents_known().states()
    }

    /// Saves what the detectors know; to be called before the end.
    ///
    /// # Errors
    /// When the database cannot be written; the next start then reads more visits again.
    pub fn save(&self) -> Result<(), CollectorError> {
        self.telling(|state, events| {
            state.catch_up(events)?;
            state.detect(|detection, store| detection.save(store))
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A store that failed in the middle rolls back, and a detector takes whole visits.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn agents_known(&self) -> MutexGuard<'_, Agents> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Times of events and visits at the edge of what a database holds.
const FOR_EVER: (UnixTime, UnixTime) = (UnixTime::from_seconds(0), UnixTime::from_seconds(1 << 40));

#[cfg(test)]
mod tests;
