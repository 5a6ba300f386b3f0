//! What the pages show beside the database.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use changes::UnixTime;
use watch_alerts::Silence;
use watch_metrics::{AgentFigures, GridFigures, Input};
use watch_plan::Timetable;
use watch_run::collector::Collector;
use watch_store::{DatabaseName, Incident, Name, Store, StoreError};
use watch_web::{AgentState, HeldSilence, Live, SilenceRequest};

use super::alerting::AlertDesk;
use super::collector_event::OnCollectorEvent;

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

    fn figures(&self) -> Result<(Vec<GridFigures>, Vec<Incident>), StoreError> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let mut grids = Vec::new();
        for task in self.timetable.plan().tasks() {
            let task = Name::from(&task.name);
            let cells = store.grid(&task)?;
            grids.push(GridFigures { task, cells });
        }
        Ok((grids, store.open_incidents()?))
    }
}

impl Live for Known {
    fn now(&self) -> UnixTime {
        match &self.clock {
            Clock::Host => super::collector_event::now(),
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
        let shown = |agent: watch_run::collector::AgentState| AgentState {
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
        let (grids, incidents) = self.figures().ok()?;
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
            incidents: &incidents,
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
            host: request.host,
            pair: request.pair,
            task: request.task,
            metric: request.metric,
            events: request.events,
            until: request.until,
            reason: request.reason,
        };
        alerts.silence(silence, &*self.on_event)
    }

    fn silences(&self) -> Option<Vec<HeldSilence>> {
        let (of_file, added) = self.alerts.as_ref()?.silences(self.now());
        let of_file = of_file.into_iter().map(|silence| (silence, None));
        let added = added.into_iter().map(|silence| {
            let id = id_of(&silence);
            (silence, Some(id))
        });
        let held = |(silence, id): (Silence, Option<String>)| HeldSilence {
            silence: SilenceRequest {
                host: silence.host,
                pair: silence.pair,
                task: silence.task,
                metric: silence.metric,
                events: silence.events,
                until: silence.until,
                reason: silence.reason,
            },
            id,
        };
        let mut all: Vec<HeldSilence> = of_file.chain(added).map(held).collect();
        all.sort_by_key(|held| held.silence.until);
        Some(all)
    }

    fn end_silence(&self, id: &str) -> bool {
        let Some(alerts) = &self.alerts else {
            return false;
        };
        let (_, added) = alerts.silences(self.now());
        let found = added.iter().find(|silence| id_of(silence) == id);
        found.is_some_and(|silence| alerts.end_silence(silence, &*self.on_event))
    }
}

/// What names a silence: the beginning of the hash of all that it says.
fn id_of(silence: &Silence) -> String {
    let json = serde_json::to_vec(silence).unwrap_or_default();
    blake3::hash(&json).to_hex()[..16].to_owned()
}
