//! Pipes, for `trunkline.open_pipe`.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{process, thread};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use trunkline::ask;
use trunkline::copy::{Access, CopyControl, FarProgram, Token};
use trunkline::pipe::{ParallelStream, PipeOptions, PipeRequest};

use crate::asked::{Leaving, at_most_one, optional, transport, value};
use crate::call::TICK;
use crate::error::{self, Failure};

/// What came of a pipe: bytes, seconds, streams, reconnects, exit code.
type Outcome = (u64, f64, u16, u32, Option<u8>);

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    place: OsString,
    writes: bool,
    program: Option<Vec<OsString>>,
    buffer: Option<String>,
    max_rate: Option<String>,
    streams: Option<String>,
    transport: String,
    leaving: Leaving,
    port_range: Option<String>,
    ssh: String,
    far_program: Option<String>,
    own_program: Option<PathBuf>,
    token: Option<String>,
    token_file: Option<PathBuf>,
    patience: Option<String>,
}

impl Asked {
    fn options(&self) -> Result<PipeOptions, Failure> {
        let usual = PipeOptions::default();
        let buffer = optional("buffer", self.buffer.as_deref(), ask::bytes)?;
        let patience = optional("patience", self.patience.as_deref(), ask::copy::patience)?;
        Ok(PipeOptions {
            buffer: buffer.unwrap_or(usual.buffer),
            streams: optional("streams", self.streams.as_deref(), ask::copy::streams)?,
            rate_max: optional("max_rate", self.max_rate.as_deref(), ask::copy::rate_max)?,
            patience: patience.unwrap_or(usual.patience),
        })
    }

    fn token(&self) -> Result<Option<Token>, Failure> {
        let given = [
            ("token", self.token.is_some()),
            ("token_file", self.token_file.is_some()),
        ];
        at_most_one(&given)?;
        let is_server = self.place.to_string_lossy().starts_with("trunkline://");
        let text = match (&self.token, &self.token_file) {
            (Some(token), _) => Some(token.clone()),
            (_, Some(file)) => Some(crate::result::read(file)?),
            _ => std::env::var("TRUNKLINE_TOKEN").ok().filter(|_| is_server),
        };
        Ok(text.map(|text| text.parse::<Token>()).transpose()?)
    }

    fn access(&self) -> Result<Access, Failure> {
        Ok(Access {
            ssh: value("ssh", &self.ssh, ask::copy::words)?.0,
            program: match (&self.far_program, &self.own_program) {
                (Some(program), _) => FarProgram::There(program.clone()),
                (None, Some(own)) => FarProgram::ThereOrSent(own.clone()),
                (None, None) => FarProgram::default(),
            },
            token: self.token()?,
            transport: transport(&self.transport)?,
            via: self.leaving.via()?,
            ports: optional("port_range", self.port_range.as_deref(), ask::copy::ports)?,
            ..Access::default()
        })
    }

    fn request(&self) -> Result<PipeRequest, Failure> {
        let (place, options, access) = (&self.place, self.options()?, self.access()?);
        Ok(match (self.writes, self.program.clone()) {
            (true, None) => PipeRequest::into_file(place, options, access)?,
            (false, None) => PipeRequest::from_file(place, options, access)?,
            (true, Some(words)) => PipeRequest::into_program(place, words, options, access)?,
            (false, Some(words)) => PipeRequest::from_program(place, words, options, access)?,
        })
    }
}

/// A pipe that is open.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Stream {
    stream: Mutex<Option<ParallelStream>>,
    control: CopyControl,
    process: u32,
}

/// A fork has the pipe of its parent, and must not end it in its name.
impl Drop for Stream {
    fn drop(&mut self) {
        if self.process != process::id() {
            std::mem::forget(self.lock().take());
        }
    }
}

impl Stream {
    fn lock(&self) -> MutexGuard<'_, Option<ParallelStream>> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does `work` with the pipe, without the interpreter's lock; a signal is heard in between.
    fn during(
        &self,
        py: Python<'_>,
        mut work: impl FnMut(&mut ParallelStream) -> io::Result<usize> + Send,
    ) -> PyResult<usize> {
        if self.process != process::id() {
            let what = format!("process {} has this pipe, not its fork", self.process);
            let hint = "open the pipe in the process that uses it";
            return Err(error::raised_in("ForkedError", &what, hint));
        }
        loop {
            let done = py.detach(|| self.lock().as_mut().map(&mut work));
            let done =
                done.ok_or_else(|| Failure::request("the pipe is closed", "open another"))?;
            match done {
                Ok(moved) => return Ok(moved),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => py.check_signals()?,
                Err(error) => return Err(failure(error).into()),
            }
        }
    }
}

/// What the library says, where it does.
fn failure(error: io::Error) -> Failure {
    let inner = error.get_ref();
    match inner.and_then(|inner| inner.downcast_ref::<trunkline::Error>()) {
        Some(inner) => Failure::from(inner),
        None => Failure::from(error),
    }
}

#[pymethods]
impl Stream {
    /// Opens a pipe.
    #[staticmethod]
    fn open(asked: Asked) -> PyResult<Self> {
        let stream = ParallelStream::open(&asked.request()?).map_err(Failure::from)?;
        Ok(Stream {
            control: stream.control(),
            stream: Mutex::new(Some(stream)),
            process: process::id(),
        })
    }

    /// Writes some of the bytes; says how many.
    fn write(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<usize> {
        self.during(py, |stream| stream.write(bytes))
    }

    /// Reads at most so many bytes; none at the end.
    fn read<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Bound<'py, PyBytes>> {
        let mut buffer = vec![0; most];
        let got = self.during(py, |stream| stream.read(&mut buffer))?;
        Ok(PyBytes::new(py, buffer.get(..got).unwrap_or_default()))
    }

    /// Writing ends; returns what came of it.
    fn finish(&self, py: Python<'_>) -> PyResult<Option<Outcome>> {
        let Some(stream) = self.lock().take() else {
            return Ok(None);
        };
        let (send, mut receive) = channel();
        thread::spawn(move || drop(send.send(stream.finish())));
        loop {
            if let Err(signal) = py.check_signals() {
                self.control.stop();
                return Err(signal);
            }
            let (back, got) = py.detach(move || {
                let got = receive.recv_timeout(TICK);
                (receive, got)
            });
            receive = back;
            match got {
                Ok(outcome) => {
                    let it = outcome.map_err(Failure::from)?;
                    let seconds = it.took.as_secs_f64();
                    let taken = it.taken.get();
                    return Ok(Some((taken, seconds, it.streams, it.reconnects, it.exit)));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::bug(&"a pipe ended without a result").into());
                }
            }
        }
    }

    /// Gives it up.
    fn abort(&self, py: Python<'_>) {
        self.control.stop();
        let stream = self.lock().take();
        py.detach(|| drop(stream));
    }
}
