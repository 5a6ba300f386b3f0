//! One request, and what has come of it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use copy_protocol::remote::{Ask, Event, FileIdentity, FileInfo, Listed, RemoteViolation};

use crate::RemoteError;

/// How soon a caller that waits looks whether it is to stop.
pub(crate) const TICK: Duration = Duration::from_millis(25);

/// Answers of a listing that may wait for the caller; the connection waits then, and with it the
/// far end.
const BATCHES_MAX: usize = 16;

/// Wakes the thread that waits for the slots of a call.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    count: Mutex<u64>,
    changed: Condvar,
}

impl Signal {
    pub fn raise(&self) {
        *lock(&self.count) += 1;
        self.changed.notify_all();
    }

    /// Waits until it was raised after `seen`, at most `timeout`. Returns what was seen now.
    pub fn wait(&self, seen: u64, timeout: Duration) -> u64 {
        let count = lock(&self.count);
        let waited = self
            .changed
            .wait_timeout_while(count, timeout, |count| *count == seen);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// How far a request is.
#[derive(Debug, Clone)]
pub(crate) enum Stage {
    /// Answers are to come.
    Waiting,
    /// It is done.
    Done,
    /// It failed.
    Failed(RemoteError),
    /// Its connection was lost before the last answer, for this reason.
    Lost(String),
}

/// One request, and what has come of it.
#[derive(Debug)]
pub(crate) struct Slot {
    pub ask: Ask,
    /// What follows the request.
    pub content: Arc<[u8]>,
    signal: Arc<Signal>,
    state: Mutex<State>,
    /// The caller has taken a batch, or goes away.
    taken: Condvar,
}

#[derive(Debug)]
struct State {
    stage: Stage,
    info: Option<FileInfo>,
    /// Of which version the bytes are, and the mode of the file.
    version: Option<(FileIdentity, u32)>,
    bytes: Vec<u8>,
    batches: VecDeque<Vec<Listed>>,
    is_abandoned: bool,
    /// When an answer came last.
    heard: Option<Instant>,
}

impl Slot {
    pub fn new(ask: Ask, signal: &Arc<Signal>) -> Arc<Self> {
        Slot::with_content(ask, Arc::default(), signal)
    }

    pub fn with_content(ask: Ask, content: Arc<[u8]>, signal: &Arc<Signal>) -> Arc<Self> {
        Arc::new(Slot {
            ask,
            content,
            signal: Arc::clone(signal),
            state: Mutex::new(State {
                stage: Stage::Waiting,
                info: None,
                version: None,
                bytes: Vec::new(),
                batches: VecDeque::new(),
                is_abandoned: false,
                heard: None,
            }),
            taken: Condvar::new(),
        })
    }

    /// Bytes that it asks for, or brings.
    pub fn weight(&self) -> u64 {
        match self.ask {
            Ask::Read { length, .. } => length.into(),
            _ => self.content.len() as u64,
        }
    }

    /// Takes an event; waits where the caller has many batches to take. `false` when the rest of a
    /// long answer is not wanted.
    pub fn on_event(&self, event: Event) -> bool {
        let mut state = lock(&self.state);
        state.heard = Some(Instant::now());
        match event {
            Event::Info(info) => {
                state.info = Some(info);
                state.stage = Stage::Done;
            }
            Event::Data {
                identity,
                mode,
                bytes,
                is_last,
            } => {
                state.version = Some((identity, mode));
                if !state.is_abandoned {
                    state.take_bytes(bytes);
                }
                if !is_last {
                    return true;
                }
                state.stage = Stage::Done;
            }
            Event::Listed(batch) => {
                state.batches.push_back(batch);
                self.signal.raise();
                let waited = self.taken.wait_while(state, |state| {
                    state.batches.len() >= BATCHES_MAX && !state.is_abandoned
                });
                return !waited.unwrap_or_else(PoisonError::into_inner).is_abandoned;
            }
            Event::Done => state.stage = Stage::Done,
            Event::Working(_) => {}
            Event::Failed(failure) => state.stage = Stage::Failed(RemoteError::Failed(failure)),
        }
        drop(state);
        self.signal.raise();
        true
    }

    /// The far end broke the rules in the answer to this request.
    pub fn violated(&self, violation: &RemoteViolation) {
        self.end(Stage::Failed(RemoteError::Protocol(violation.to_string())));
    }

    pub fn broken(&self, what: &str) {
        self.end(Stage::Failed(RemoteError::Protocol(what.to_owned())));
    }

    /// The connection is lost.
    pub fn lost(&self, why: &str) {
        self.end(Stage::Lost(why.to_owned()));
    }

    fn end(&self, stage: Stage) {
        lock(&self.state).stage = stage;
        self.signal.raise();
    }

    /// The caller wants nothing more of it.
    pub fn abandon(&self) {
        let mut state = lock(&self.state);
        state.is_abandoned = true;
        state.bytes = Vec::new();
        drop(state);
        self.taken.notify_all();
    }

    /// When an answer came last.
    pub fn heard(&self) -> Option<Instant> {
        lock(&self.state).heard
    }

    pub fn stage(&self) -> Stage {
        lock(&self.state).stage.clone()
    }

    pub fn take_info(&self) -> Option<FileInfo> {
        lock(&self.state).info.take()
    }

    /// The bytes, once it is done, and of which version they are.
    pub fn take_data(&self) -> Option<ReadBytes> {
        let mut state = lock(&self.state);
        let (identity, mode) = state.version?;
        Some(ReadBytes {
            bytes: std::mem::take(&mut state.bytes),
            identity,
            mode,
        })
    }

    pub fn take_batch(&self) -> Option<Vec<Listed>> {
        let batch = lock(&self.state).batches.pop_front();
        self.taken.notify_all();
        batch
    }
}

impl State {
    /// The first bytes are kept as they came.
    fn take_bytes(&mut self, bytes: Vec<u8>) {
        match self.bytes.is_empty() {
            true => self.bytes = bytes,
            false => self.bytes.extend_from_slice(&bytes),
        }
    }
}

pub(crate) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change is complete, even when another thread panicked.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of one version of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadBytes {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Of which version they are.
    pub identity: FileIdentity,
    /// Permission bits of the file.
    pub mode: u32,
}
