//! Visits and their results on the disk.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::link::Running;
use changes::{Failure, FarHost, UnixTime, Visit, VisitKind};
use units::Rate;
use watch_plan::{Due, Kind, Plan};
use watch_store::{Name, Pair, Spool, StoredVisit, VisitId};

use crate::agent::notes::{Note, Notes};
use crate::agent::{AgentError, AgentEvent, OnAgentEvent};

/// What a visit showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// Its figures, or why it has none.
    pub visit: Visit,
    /// Goodput of each tenth of a second.
    pub rates: Option<Vec<Rate>>,
    /// The whole document of the measurement.
    pub document: Option<String>,
}

/// Makes visits. Called from several threads at once.
pub trait Visitor: Send + Sync {
    /// Makes one visit, which has ended before `due.until`, or soon after `stop`.
    ///
    /// * `plan`: the one that it is of.
    /// * `begun`: a visit without figures, with its time and kind.
    fn visit(&self, plan: &Plan, due: &Due, begun: Visit, stop: &AtomicBool) -> Shown;
}

/// Results that wait: those on the disk, and those that the disk had no room for.
pub(crate) struct Waiting {
    pub spool: Spool,
    unwritten: Vec<StoredVisit>,
}

/// Makes visits and keeps their results.
pub(crate) struct Visits {
    notes: Notes,
    waiting: Mutex<Waiting>,
    running: Mutex<Vec<(VisitId, Running)>>,
    changed: Condvar,
    news: Mutex<bool>,
}

/// The failure of a visit that ended with its agent.
const CUT_OFF: &str = "the agent ended during the visit";

impl Visits {
    pub fn open(folder: &Path) -> Result<Self, AgentError> {
        let notes = Notes::open(folder).map_err(|source| AgentError::Folder {
            folder: folder.to_owned(),
            source,
        })?;
        let waiting = Waiting {
            spool: Spool::open(&folder.join("results.sqlite"))?,
            unwritten: Vec::new(),
        };
        Ok(Visits {
            notes,
            waiting: Mutex::new(waiting),
            running: Mutex::default(),
            changed: Condvar::new(),
            news: Mutex::default(),
        })
    }

    /// Tells visits that the last end of the agent cut off.
    pub fn tell_cut_off(&self, on_event: &OnAgentEvent<'_>) {
        for note in self.notes.all() {
            on_event(AgentEvent::CutOff {
                task: note.task.as_str().to_owned(),
                to: note.pair.to.as_str().to_owned(),
            });
            self.keep(note.failed(CUT_OFF), on_event);
        }
    }

    /// Makes a visit on this thread.
    ///
    /// * `at`: when it begins; `far`: what is known of the far host.
    pub fn make(
        &self,
        (visitor, plan): (&dyn Visitor, &Plan),
        due: &Due,
        (at, far): (UnixTime, Option<FarHost>),
        stop: &AtomicBool,
        on_event: &OnAgentEvent<'_>,
    ) {
        let note = match noted(due, at) {
            Ok(note) => note,
            Err(why) => return on_event(AgentEvent::NotStored(why)),
        };
        // Without room for the note there is none for the result, which says so below.
        let _ = self.notes.write(&note);
        self.running().push((note.id, running(due, &note)));
        on_event(AgentEvent::Began(due.clone()));
        let mut begun = Visit::new(note.at, note.kind);
        begun.far_host = far;
        let shown = visitor.visit(plan, due, begun, stop);
        self.running().retain(|(id, _)| *id != note.id);
        let failure = shown.visit.failure.as_ref();
        on_event(AgentEvent::Ended {
            due: due.clone(),
            failure: failure.map(|Failure { reason }| reason.clone()),
        });
        let stored = StoredVisit {
            id: note.id,
            pair: note.pair,
            task: note.task,
            visit: shown.visit,
            rates: shown.rates,
            document: shown.document,
        };
        self.keep(stored, on_event);
    }

    /// Puts a result on the disk, or into memory where the disk has no room.
    pub(crate) fn keep(&self, visit: StoredVisit, on_event: &OnAgentEvent<'_>) {
        let mut waiting = lock(&self.waiting);
        waiting.unwritten.push(visit);
        if let Err(why) = self.write(&mut waiting) {
            on_event(AgentEvent::NotStored(why));
        }
        drop(waiting);
        *lock(&self.news) = true;
        self.changed.notify_all();
    }

    /// The oldest results, at most `most`: those on the disk, then those that it has no room for.
    pub fn batch(&self, most: u32) -> Result<Vec<StoredVisit>, String> {
        let mut waiting = self.waiting();
        // That it has none was told when they came.
        let _ = self.write(&mut waiting);
        let batch = waiting.spool.batch(most);
        let mut batch = batch.map_err(|error| error.to_string())?;
        let room = (most as usize).saturating_sub(batch.len());
        batch.extend(waiting.unwritten.iter().take(room).cloned());
        Ok(batch)
    }

    /// Forgets results that need not be kept any more.
    pub fn forget(&self, done: &[VisitId]) -> Result<(), String> {
        let mut waiting = self.waiting();
        for id in done {
            if waiting.unwritten.iter().any(|visit| visit.id == *id) {
                self.notes.remove(*id);
            }
        }
        waiting.unwritten.retain(|visit| !done.contains(&visit.id));
        let forgotten = waiting.spool.acknowledge(done);
        forgotten.map_err(|error| error.to_string())
    }

    /// Results that wait.
    pub fn waiting(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.waiting)
    }

    /// Writes what is in memory to the disk; the notes of those visits are not needed any more.
    fn write(&self, waiting: &mut Waiting) -> Result<(), String> {
        let written = waiting.spool.push(&waiting.unwritten);
        written.map_err(|error| error.to_string())?;
        for visit in waiting.unwritten.drain(..) {
            self.notes.remove(visit.id);
        }
        Ok(())
    }

    /// Waits for a new result, or for as long as `limit`; whether there is one.
    pub fn wait(&self, limit: Duration) -> bool {
        let news = lock(&self.news);
        let waited = self.changed.wait_timeout_while(news, limit, |news| !*news);
        let (mut news, _) = waited.unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut news)
    }

    /// The visit that has run longest.
    pub fn first_running(&self) -> Option<Running> {
        self.running().first().map(|(_, running)| running.clone())
    }

    fn running(&self) -> MutexGuard<'_, Vec<(VisitId, Running)>> {
        lock(&self.running)
    }
}

impl Waiting {
    /// Visits on the disk and in memory.
    pub fn count(&self) -> u64 {
        let unwritten = self.unwritten.len() as u64;
        self.spool.waiting().unwrap_or_default() + unwritten
    }
}

/// Each change under these locks is complete, even when another thread panicked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn noted(due: &Due, at: UnixTime) -> Result<Note, String> {
    let name = |text: &str| text.parse::<Name>().map_err(|error| error.to_string());
    let random = sockets::random::bytes().map_err(|error| error.to_string())?;
    Ok(Note {
        id: VisitId::new(at, random),
        at,
        kind: visit_kind(due.kind),
        task: name(due.task.as_str())?,
        pair: Pair {
            from: name(due.from.as_str())?,
            to: name(due.to.as_str())?,
        },
    })
}

fn running(due: &Due, note: &Note) -> Running {
    Running {
        task: note.task.clone(),
        to: match due.is_turned() {
            true => note.pair.from.clone(),
            false => note.pair.to.clone(),
        },
        until: UnixTime::from_seconds(due.until.unsigned_abs()),
    }
}

/// What a visit of a task sets out to measure.
pub(crate) fn visit_kind(kind: Kind) -> VisitKind {
    match kind {
        Kind::Ping => VisitKind::Ping,
        Kind::OneWay => VisitKind::OneWay,
        Kind::Udp { .. } => VisitKind::Udp,
        Kind::Path => VisitKind::Path,
        Kind::Responsiveness | Kind::Throughput | Kind::Tune | Kind::Copy { .. } => {
            VisitKind::Throughput
        }
    }
}
