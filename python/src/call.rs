//! A call on its way: on a thread of its own, which knows nothing of the interpreter.
//!
//! A thread that waits does so without the interpreter's lock, and looks for signals every
//! [`TICK`]. A forked child has no thread of the call; it is told so before it touches a lock that
//! no thread will open.

use std::collections::VecDeque;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{process, thread};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use trunkline::Cancel;

use crate::error::{self, Failure};
use crate::event::Progress;
use crate::result::Done;

/// How soon a signal is noticed.
pub const TICK: Duration = Duration::from_millis(20);
/// Events that wait to be read; of more, the newest are kept.
const EVENTS_MAX: usize = 4096;

/// What a call has come to.
#[derive(Default)]
struct State {
    events: VecDeque<Progress>,
    dropped: u64,
    outcome: Option<Result<Done, Failure>>,
    is_done: bool,
    pipe: Option<Pipe>,
}

/// Readable while something is to be read, for event loops.
struct Pipe {
    reader: PipeReader,
    writer: PipeWriter,
    is_marked: bool,
}

impl Pipe {
    fn mark(&mut self) {
        // A pipe that is full is readable as well.
        self.is_marked = self.is_marked || self.writer.write_all(b"x").is_ok();
    }

    fn clear(&mut self) {
        if self.is_marked {
            let mut byte = [0];
            self.is_marked = self.reader.read(&mut byte).is_err();
        }
    }
}

/// What the threads of a call share.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        if let Some(pipe) = &mut state.pipe {
            pipe.mark();
        }
        drop(state);
        self.changed.notify_all();
    }
}

/// Takes what happens during a call, from any thread.
#[derive(Clone)]
pub struct Tell(Arc<Shared>);

impl Tell {
    /// Adds an event; of too many, the oldest are forgotten.
    pub fn tell(&self, event: Progress) {
        self.0.change(|state| {
            if state.events.len() == EVENTS_MAX {
                state.events.pop_front();
                state.dropped += 1;
            }
            state.events.push_back(event);
        });
    }
}

/// A call on its way.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Call {
    shared: Arc<Shared>,
    cancel: Cancel,
    process: u32,
    name: &'static str,
}

impl Call {
    /// Starts `work` on a thread.
    ///
    /// * `command`: what documents name as their command.
    pub fn start(
        name: &'static str,
        command: String,
        work: impl FnOnce(&Cancel, &Tell) -> Result<Done, Failure> + Send + 'static,
    ) -> PyResult<Self> {
        let (shared, cancel) = (Arc::<Shared>::default(), Cancel::new());
        let (tell, token) = (Tell(Arc::clone(&shared)), cancel.clone());
        let on_thread = move || {
            trunkline::name_command(vec![command]);
            let ended = catch_unwind(AssertUnwindSafe(|| work(&token, &tell)));
            let outcome = ended.unwrap_or_else(|panic| Err(Failure::bug(&*panic)));
            tell.0.change(|state| {
                state.outcome = Some(outcome);
                state.is_done = true;
            });
        };
        let builder = thread::Builder::new().name(name.to_owned());
        builder.spawn(on_thread)?;
        Ok(Call {
            shared,
            cancel,
            process: process::id(),
            name,
        })
    }

    /// The state, unless this process is a fork of the one that has the call.
    fn state(&self) -> PyResult<MutexGuard<'_, State>> {
        self.check_process()?;
        Ok(self.shared.lock())
    }

    fn check_process(&self) -> PyResult<()> {
        match process::id() == self.process {
            true => Ok(()),
            false => Err(error::raised_in(
                "ForkedError",
                &format!(
                    "this `{}` runs in process {}, not in its fork {}",
                    self.name,
                    self.process,
                    process::id()
                ),
                "start the call in the process that waits for it",
            )),
        }
    }

    fn wait_detached(&self, is_over: impl Fn(&State) -> bool + Sync, end: Option<Instant>) -> bool {
        let tick = end.map_or(TICK, |end| {
            TICK.min(end.saturating_duration_since(Instant::now()))
        });
        let state = self.shared.lock();
        if is_over(&state) {
            return true;
        }
        let waited = self.shared.changed.wait_timeout(state, tick);
        is_over(&waited.unwrap_or_else(PoisonError::into_inner).0)
    }

    fn wait(
        &self,
        py: Python<'_>,
        is_over: impl Fn(&State) -> bool + Sync,
        timeout: Option<f64>,
    ) -> PyResult<bool> {
        self.check_process()?;
        let end = timeout.map(|seconds| {
            let span = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX);
            let far = Duration::from_secs(1 << 30);
            Instant::now() + span.min(far)
        });
        loop {
            py.check_signals()?;
            if py.detach(|| self.wait_detached(&is_over, end)) {
                return Ok(true);
            }
            if end.is_some_and(|end| Instant::now() >= end) {
                return Ok(false);
            }
        }
    }
}

#[pymethods]
impl Call {
    /// Waits until the call is done; false when `timeout` seconds were not enough.
    #[pyo3(signature = (timeout=None))]
    fn wait_done(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        self.wait(py, |state| state.is_done, timeout)
    }

    /// Waits until there is an event or the call is done.
    #[pyo3(signature = (timeout=None))]
    fn wait_event(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        self.wait(
            py,
            |state| state.is_done || !state.events.is_empty(),
            timeout,
        )
    }

    /// The next event that waits, if any.
    fn next_event(&self) -> PyResult<Option<Progress>> {
        let mut state = self.state()?;
        let event = state.events.pop_front();
        if state.events.is_empty()
            && !state.is_done
            && let Some(pipe) = &mut state.pipe
        {
            pipe.clear();
        }
        Ok(event)
    }

    /// Events that were forgotten, because too many waited.
    #[getter]
    fn dropped(&self) -> PyResult<u64> {
        Ok(self.state()?.dropped)
    }

    /// Whether it has ended.
    #[getter]
    fn done(&self) -> PyResult<bool> {
        Ok(self.state()?.is_done)
    }

    /// What it came to, once: what was found, and the failure that it ended with.
    fn take(&self) -> PyResult<(Option<Done>, Option<Failure>)> {
        let outcome = self.state()?.outcome.take();
        match outcome {
            Some(Ok(mut done)) => {
                let cut = done.cut.take();
                Ok((Some(done), cut))
            }
            Some(Err(failure)) => Ok((None, Some(failure))),
            None => Err(PyRuntimeError::new_err(
                "the result was taken, or is not there",
            )),
        }
    }

    /// Asks it to end. Takes no lock, so that forks and handlers of signals may call it.
    fn cancel(&self) {
        if process::id() == self.process {
            self.cancel.cancel();
        }
    }

    /// Whether that was asked.
    #[getter]
    fn cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// A descriptor that is readable while there is an event, or the call is done.
    fn fileno(&self) -> PyResult<i32> {
        let mut state = self.state()?;
        if state.pipe.is_none() {
            let (reader, writer) = std::io::pipe()?;
            let mut pipe = Pipe {
                reader,
                writer,
                is_marked: false,
            };
            if state.is_done || !state.events.is_empty() {
                pipe.mark();
            }
            state.pipe = Some(pipe);
        }
        Ok(state
            .pipe
            .as_ref()
            .map_or(-1, |pipe| pipe.reader.as_raw_fd()))
    }
}

/// No thread waits for it any more.
impl Drop for Call {
    fn drop(&mut self) {
        self.cancel();
    }
}
