//! An emulated path that programs run across.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use trunkline::emulate::{self, EmulatedPath, Host};

use crate::asked::{PathAsked, with_rights};
use crate::error::Failure;
use crate::result::Done;

/// A path between two hosts that are namespaces of this host.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Emulated {
    path: Mutex<Option<EmulatedPath>>,
    is_default: bool,
}

impl Emulated {
    fn with<T>(&self, work: impl FnOnce(&EmulatedPath) -> Result<T, Failure>) -> PyResult<T> {
        let path = self.path.lock().unwrap_or_else(PoisonError::into_inner);
        match &*path {
            Some(path) => Ok(work(path)?),
            None => Err(Failure::request(
                "this emulated path is closed",
                "use it within its `with` block",
            )
            .into()),
        }
    }
}

#[pymethods]
impl Emulated {
    /// Brings a path up.
    ///
    /// * `program`: the `trunkline` program, which becomes the first process of a host.
    #[staticmethod]
    fn up(py: Python<'_>, path: PathAsked<'_>, seed: u64, program: PathBuf) -> PyResult<Self> {
        let spec = path.spec()?;
        emulate::set_init_program(program);
        let up = py.detach(|| -> Result<(EmulatedPath, bool), Failure> {
            // A thread of its own: what it is moved to stays with it.
            let made = std::thread::spawn(move || EmulatedPath::up(spec, seed)).join();
            let path = made.map_err(|panic| Failure::bug(&*panic))??;
            let is_default = path.make_default_congestion()?;
            Ok((path, is_default))
        });
        let (path, is_default) = up.map_err(with_rights)?;
        Ok(Emulated {
            path: Mutex::new(Some(path)),
            is_default,
        })
    }

    /// Programs use the congestion control of the path's hosts unless they choose their own.
    #[getter]
    fn is_default_congestion(&self) -> bool {
        self.is_default
    }

    /// Moves the calling thread into a host for good.
    fn enter(&self, far: bool) -> PyResult<()> {
        let host = if far { Host::Far } else { Host::Near };
        self.with(|path| Ok(path.enter(host)?))
    }

    /// The counters of both directions until now.
    fn counters(&self, near: Vec<OsString>) -> PyResult<Done> {
        self.with(|path| Ok(Done::of(path.counters(near))))
    }

    /// Takes the path down.
    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            let path = self
                .path
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            drop(path);
        });
    }
}
