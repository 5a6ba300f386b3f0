//! What the pages show beside the database.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use changes::UnixTime;
use units::Span;
use watch_alerts::Silence;
use watch_collector::Collector;
use watch_metrics::{AgentFigures, GridFigures, Input};
use watch_plan::Timetable;
use watch_store::{DatabaseName, Name, Store, StoreError, StoredEvent};
use watch_web::{AgentState, Live, SilenceRequest};

use super::alerting::AlertDesk;
use super::collector::OnCollectorEvent;

/// Metrics count events of the last days.
const EVENTS_OF: Span = Span::from_secs(30 * 86_400);
const EVENTS_MAX: u32 = 10_000;

/// Which time the pages show.
pub(super) enum Clock {
    /// That of this host.
    Host,
    /// That of a demonstration, in seconds, which is made up to its end.
    Virtual {
        /// The end of the days that are made.
        now: Arc<AtomicU64>,
        /// When it ends.
        end: UnixTime,
    },
}

/// What a running collector knows, or one of a demonstration.
pub(super) struct Known {
    pub collector: Arc<Collector>,
    pub timetable: Arc<Timetable>,
    pub alerts: Option<Arc<AlertDesk>>,
    /// The time.
    pub clock: Clock,
    /// A connection of its own for metrics.
    pub store: Mutex<Store>,
    /// Told where a silence cannot be written down.
    pub on_event: Arc<OnCollectorEvent>,
}

impl Known {
    /// Opens the database once more.
    pub fn open(
        collector: Arc<Collector>,
        timetable: Timetable,
        alerts: Option<Arc<AlertDesk>>,
        database: &DatabaseName,
        on_event: Arc<OnCollectorEvent>,
    ) -> Result<Self, StoreError> {
        Ok(Known {
            collector,
            timetable: Arc::new(timetable),
            alerts,
            clock: Clock::Host,
            store: Mutex::new(Store::open(database)?),
            on_event,
        })
    }

    fn figures(&self) -> Result<(Vec<GridFigures>, Vec<StoredEvent>), StoreError> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let mut grids = Vec::new();
        for task in self.timetable.plan().tasks() {
            let Ok(task) = task.name.as_str().parse::<Name>() else {
                continue;
            };
            let cells = store.grid(&task)?;
            grids.push(GridFigures { task, cells });
        }
        let now = self.now();
        let since = now.seconds().saturating_sub(EVENTS_OF.as_secs_f64() as u64);
        let range = (UnixTime::from_seconds(since), now + Span::from_secs(60));
        Ok((grids, store.events(range, EVENTS_MAX)?))
    }
}

impl Live for Known {
    fn now(&self) -> UnixTime {
        match &self.clock {
            Clock::Host => super::collector::now(),
            Clock::Virtual { now, .. } => UnixTime::from_seconds(now.load(Ordering::Relaxed)),
        }
    }

    fn notice(&self) -> Option<String> {
        let Clock::Virtual { end, .. } = &self.clock else {
            return None;
        };
        let left = end.since(self.now()).as_secs_f64() / 86_400.0;
        (left > 0.0).then(|| format!("This month is still being made: {left:.0} days are to come."))
    }

    fn timetable(&self) -> Option<Arc<Timetable>> {
        Some(Arc::clone(&self.timetable))
    }

    fn agents(&self) -> Vec<AgentState> {
        let agents = self.collector.agents().into_iter();
        let shown = |agent: watch_collector::AgentState| AgentState {
            host: agent.host,
            seen: agent.seen,
            software: match &agent.plan {
                Some(plan) => format!("{}, plan {plan}", agent.software),
                None => agent.software,
            },
            waiting: agent.waiting,
            running: agent
                .running
                .map(|running| format!("{} to {}", running.task, running.to)),
            plan_differs: agent.plan_differs,
            plan_refused: agent.plan_refused,
            clock_ahead_seconds: Some(agent.clock_ahead_seconds as f64),
        };
        agents.map(shown).collect()
    }

    fn metrics(&self) -> Option<String> {
        let (grids, events) = self.figures().ok()?;
        let agents = self
            .collector
            .agents()
            .into_iter()
            .map(|agent| AgentFigures {
                host: agent.host,
                last_seen: Some(agent.seen),
                waiting_results: Some(agent.waiting),
                clock_ahead_seconds: Some(agent.clock_ahead_seconds),
            });
        let agents: Vec<AgentFigures> = agents.collect();
        Some(watch_metrics::text(&Input {
            grids: &grids,
            events: &events,
            agents: &agents,
        }))
    }

    fn extra(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn silence(&self, request: SilenceRequest) -> Result<(), String> {
        let Some(alerts) = &self.alerts else {
            return Err("this collector sends no alerts; start it with `--alerts FILE`".to_owned());
        };
        let silence = Silence {
            host: None,
            pair: request.pair,
            task: request.task,
            metric: None,
            until: request.until,
            reason: request.reason,
        };
        alerts.silence(silence, &*self.on_event)
    }
}
