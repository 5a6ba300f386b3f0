//! Alerts of a collector: their file, their state, and the thread that sends them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use changes::UnixTime;
use units::Span;
use watch_alerts::{Alerting, Alerts, SILENCES_MAX, Silence, Situation, send, send_test};
use watch_plan::Plan;
use watch_store::{Pair, Store, StoredEvent};

use super::collector_event::{CollectorEvent, OnCollectorEvent, now};
use super::write_whole;
use trunkline::{Cancel, Error};

/// How often it is looked whether something is to be told.
const TICK: Duration = Duration::from_millis(500);
/// Events of the last days are taken again at a start: longer than any hold time.
const CAUGHT_UP: Span = Span::from_secs(2 * 86_400);
const EVENTS_MAX: u32 = 10_000;

/// Reads a file of alerts.
///
/// # Errors
/// When it cannot be read: all mistakes, with their lines.
pub fn load_alerting(file: &Path) -> Result<Alerting, Error> {
    let text = fs::read_to_string(file).map_err(|error| Error::unreadable(file, error))?;
    Ok(Alerting::parse(&text, &file.display().to_string())?)
}

/// Sends a test message to every receiver of a file of alerts; the result of each as a sentence,
/// and whether all took it.
///
/// # Errors
/// When the file cannot be read.
pub fn test_alerts(file: &Path) -> Result<(Vec<String>, bool), Error> {
    let results = send_test(&load_alerting(file)?, now());
    let is_sent = results.iter().all(|result| result.is_sent);
    Ok((
        results.into_iter().map(|result| result.sentence).collect(),
        is_sent,
    ))
}

/// Alerts with their state on disk.
pub(super) struct AlertDesk {
    alerting: Alerting,
    pairs: Vec<Pair>,
    state: Mutex<Alerts>,
    file: PathBuf,
}

impl AlertDesk {
    /// Alerts of a plan, with the state that an earlier collector left in `file`.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn open(alerting: Alerting, plan: &Plan, file: PathBuf) -> Result<Self, Error> {
        let state = match fs::read_to_string(&file) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| damaged(&file, &error))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Alerts::default(),
            Err(error) => return Err(Error::unreadable(&file, error)),
        };
        Ok(AlertDesk {
            alerting,
            pairs: pairs(plan),
            state: Mutex::new(state),
            file,
        })
    }

    /// Takes events of detectors, and writes them down: the collector may end before they are told.
    pub fn insert(&self, events: &[StoredEvent], on_event: &OnCollectorEvent) {
        let alerting = self.rules();
        let situation = self.situation(&alerting, now());
        let mut state = lock(&self.state);
        for event in events {
            state.insert(event, &situation);
        }
        drop(state);
        self.keep(on_event);
    }

    /// Takes the events of the last days from the database: the collector may have ended between
    /// storing one there and writing it down here. Those that are known change nothing.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn catch_up(&self, store: &mut Store, on_event: &OnCollectorEvent) -> Result<(), Error> {
        let now = now();
        let since = now.seconds().saturating_sub(CAUGHT_UP.as_secs_f64() as u64);
        let range = (UnixTime::from_seconds(since), now + Span::from_secs(60));
        self.insert(&store.events(range, EVENTS_MAX)?, on_event);
        Ok(())
    }

    /// Adds a silence and writes it down: it holds until its end, whatever becomes of the
    /// collector.
    ///
    /// # Errors
    /// When there are too many.
    pub fn silence(&self, silence: Silence, on_event: &OnCollectorEvent) -> Result<(), String> {
        if !lock(&self.state).silence(silence, now()) {
            return Err(format!(
                "{SILENCES_MAX} silences hold already; wait for the end of one, or write this one \
                 in the file of alerts"
            ));
        }
        self.keep(on_event);
        Ok(())
    }

    /// The silences that hold: those of the file, and those that pages have added.
    pub fn silences(&self, now: UnixTime) -> (Vec<Silence>, Vec<Silence>) {
        let holding = |all: &[Silence]| {
            let holding = all.iter().filter(|silence| silence.until > now);
            holding.cloned().collect()
        };
        let added = lock(&self.state);
        (holding(&self.alerting.silences), holding(added.silences()))
    }

    /// Ends a silence that a page has added; whether there was one.
    pub fn end_silence(&self, silence: &Silence, on_event: &OnCollectorEvent) -> bool {
        let is_ended = lock(&self.state).end_silence(silence);
        if is_ended {
            self.keep(on_event);
        }
        is_ended
    }

    /// The file of alerts, with the silences of the pages.
    fn rules(&self) -> Alerting {
        let mut alerting = self.alerting.clone();
        let added = lock(&self.state);
        alerting.silences.extend_from_slice(added.silences());
        alerting
    }

    /// Decides and sends until `cancel`.
    pub fn run(&self, on_event: &OnCollectorEvent, cancel: &Cancel) {
        while !cancel.is_cancelled() {
            self.step(on_event);
            thread::sleep(TICK);
        }
        self.keep(on_event);
    }

    fn step(&self, on_event: &OnCollectorEvent) {
        let alerting = self.rules();
        let situation = self.situation(&alerting, now());
        let told = lock(&self.state).advance(&situation);
        for notification in &told {
            on_event(&CollectorEvent::Alert(notification.headline.clone()));
        }
        if !told.is_empty() {
            // Before anything is sent: a restart then sends nothing twice.
            self.keep(on_event);
        }
        let due = lock(&self.state).due(&situation);
        for delivery in &due {
            let result = send(delivery, &alerting, now());
            if let Err(error) = &result {
                on_event(&CollectorEvent::NotAlerted(error.to_string()));
            }
            lock(&self.state).delivered(delivery, &result, now());
        }
        if !due.is_empty() {
            self.keep(on_event);
        }
    }

    fn situation<'a>(&'a self, alerting: &'a Alerting, now: UnixTime) -> Situation<'a> {
        Situation {
            alerting,
            pairs: &self.pairs,
            now,
        }
    }

    fn keep(&self, on_event: &OnCollectorEvent) {
        // Held while it is written, so that an older state never replaces a newer one.
        let state = lock(&self.state);
        let written = serde_json::to_vec(&*state).map_err(io::Error::from);
        let written = written.and_then(|json| write_whole(&self.file, &json));
        drop(state);
        if let Err(error) = written {
            on_event(&CollectorEvent::Failed {
                what: format!("cannot write {}: {error}", self.file.display()),
                hint: "free space there; alerts may be sent twice after a restart".to_owned(),
            });
        }
    }
}

/// The pairs of all tasks, each once.
fn pairs(plan: &Plan) -> Vec<Pair> {
    let planned = plan.tasks().iter().flat_map(|task| plan.pairs(task));
    let mut pairs: Vec<Pair> = planned.map(|pair| Pair::from(&pair)).collect();
    pairs.sort();
    pairs.dedup();
    pairs
}

fn damaged(file: &Path, error: &serde_json::Error) -> Error {
    Error::wrong_request(
        format!("{} is not the state of alerts: {error}", file.display()),
        "move it away: alerts of changes that go on are then sent once more",
    )
}

/// Each change under these locks is complete, even when another thread panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use changes::{Event, EventKind};

    use super::*;

    const PLAN: &str = r#"
        [hosts]
        a = { address = "a.example.org" }
        b = { address = "b.example.org" }
        [groups]
        all = { mesh = ["a", "b"] }
        [tasks]
        trips = { kind = "ping", group = "all", every = "5min", duration = "10s" }
        "#;

    fn desk(file: PathBuf) -> AlertDesk {
        let rules = "[[webhook]]\nurl = \"http://localhost:9/\"\n";
        let (plan, _) = Plan::parse(PLAN, "plan.toml").unwrap();
        AlertDesk::open(Alerting::parse(rules, "alerts.toml").unwrap(), &plan, file).unwrap()
    }

    fn silent_path() -> StoredEvent {
        let at = now();
        StoredEvent {
            pair: Pair {
                from: "a".parse().unwrap(),
                to: "b".parse().unwrap(),
            },
            task: "trips".parse().unwrap(),
            event: Event {
                id: 0,
                revision: 0,
                kind: EventKind::NoData,
                first_visit: at,
                previous_visit: None,
                confirmed: at,
                recovered: None,
                end: None,
                shifts: Vec::new(),
                causes: Vec::new(),
                failures: BTreeMap::from([("no answer".to_owned(), 3)]),
            },
        }
    }

    #[test]
    fn a_silence_of_a_page_outlives_a_restart_and_ends_at_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state.json");
        let silence = |seconds: u64| Silence {
            host: Some("a".parse().unwrap()),
            pair: None,
            task: None,
            metric: None,
            events: Vec::new(),
            until: now() + Span::from_secs(seconds),
            reason: "works on the link".to_owned(),
        };
        let before = desk(file.clone());
        before.silence(silence(3600), &|_| ()).unwrap();
        let known = before.rules().silences;
        assert_eq!(known.len(), 1);
        drop(before);
        let after = desk(file);
        assert_eq!(after.rules().silences, known);
        // What it silences is known and not due to be told.
        after.insert(&[silent_path()], &|_| ());
        let (rules, later) = (after.rules(), now() + Span::from_secs(1800));
        assert!(
            lock(&after.state)
                .advance(&after.situation(&rules, later))
                .is_empty()
        );
        let over = now() + Span::from_secs(7200);
        assert_eq!(
            lock(&after.state)
                .advance(&after.situation(&rules, over))
                .len(),
            1
        );
        // One that is over makes room for the next.
        lock(&after.state).silence(silence(9000), over);
        assert_eq!(after.rules().silences.len(), 1);
    }

    /// An event waits for its hold time; a collector that is killed meanwhile still tells it.
    #[test]
    fn an_event_outlives_a_collector_that_is_killed_before_it_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state.json");
        let before = desk(file.clone());
        before.insert(&[silent_path()], &|_| ());
        let known = lock(&before.state).clone();
        assert_ne!(known, Alerts::default());
        drop(before);
        assert_eq!(*lock(&desk(file.clone()).state), known);
        // Without the file, the events of the database are taken again.
        fs::remove_file(&file).unwrap();
        let mut store = Store::open(&watch_store::DatabaseName::Sqlite(folder.path().join("db")));
        let store = store.as_mut().unwrap();
        let event = silent_path();
        store
            .insert_event(&event.pair, &event.task, &event.event)
            .unwrap();
        let after = desk(file);
        after.catch_up(store, &|_| ()).unwrap();
        assert_ne!(*lock(&after.state), Alerts::default());
    }
}
