//! Alerts of a collector: their file, their state, and the thread that sends them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use changes::UnixTime;
use watch_alerts::{Alerting, Alerts, Silence, Situation, send, send_test};
use watch_plan::Plan;
use watch_store::{Pair, StoredEvent};

use super::collector::{CollectorEvent, OnCollectorEvent, now};
use crate::{Cancel, Error};

/// How often it is looked whether something is to be told.
const TICK: Duration = Duration::from_millis(500);

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
    alerting: Mutex<Alerting>,
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
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Alerts::default(),
            Err(error) => return Err(Error::unreadable(&file, error)),
        };
        Ok(AlertDesk {
            alerting: Mutex::new(alerting),
            pairs: pairs(plan),
            state: Mutex::new(state),
            file,
        })
    }

    /// Takes events of detectors.
    pub fn insert(&self, events: &[StoredEvent], now: UnixTime) {
        let alerting = lock(&self.alerting).clone();
        let situation = self.situation(&alerting, now);
        let mut state = lock(&self.state);
        for event in events {
            state.insert(event, &situation);
        }
    }

    /// Adds a silence, until the collector ends.
    pub fn silence(&self, silence: Silence) {
        lock(&self.alerting).silences.push(silence);
    }

    /// Decides and sends until `cancel`.
    pub fn run(&self, on_event: &Arc<OnCollectorEvent>, cancel: &Cancel) {
        while !cancel.is_cancelled() {
            self.step(on_event);
            thread::sleep(TICK);
        }
        self.keep(on_event);
    }

    fn step(&self, on_event: &Arc<OnCollectorEvent>) {
        let alerting = lock(&self.alerting).clone();
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

    fn keep(&self, on_event: &Arc<OnCollectorEvent>) {
        let state = lock(&self.state).clone();
        if let Err(error) = write(&self.file, &state) {
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
    let pair = |pair: watch_plan::Pair| {
        Some(Pair {
            from: pair.from.as_str().parse().ok()?,
            to: pair.to.as_str().parse().ok()?,
        })
    };
    let mut pairs: Vec<Pair> = planned.filter_map(pair).collect();
    pairs.sort();
    pairs.dedup();
    pairs
}

fn write(file: &Path, state: &Alerts) -> std::io::Result<()> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut whole = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    whole.write_all(&serde_json::to_vec(state)?)?;
    whole.as_file().sync_all()?;
    whole.persist(file)?;
    Ok(())
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
