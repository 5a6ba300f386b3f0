//! The core of the Python package `trunkline`: each operation of the library as a call that can be
//! waited for, watched and cancelled, and its documents as tables.
//!
//! What users see is written in Python, in `trunkline/`: signatures, types and documentation. Here
//! values arrive as the text that the program takes, so that both refuse the same with the same
//! words.
//!
//! Reading order: `call`, `ops/`, `result`, `tables`.

// What the macros of PyO3 make calls the interpreter's C interface; nothing here does.
#![allow(unsafe_code)]

mod asked;
mod call;
mod campaign;
mod emulate;
mod error;
mod event;
mod history;
mod ops;
mod path;
mod remote;
mod result;
mod serve;
mod stream;
mod tables;
mod watch;

use pyo3::prelude::*;
use trunkline::log::LogFile;

/// Begins the log that the environment asks for.
fn start_log() -> Result<(), trunkline::Error> {
    LogFile::from_environment()?.map_or(Ok(()), |file| file.start())
}

/// The core of the package `trunkline`.
#[pymodule]
mod _trunkline {
    #[pymodule_export]
    use super::call::Call;
    #[pymodule_export]
    use super::campaign::{
        Campaign, start_campaign_plan, start_campaign_run, start_campaign_shard,
        start_campaign_verify,
    };
    #[pymodule_export]
    use super::emulate::Emulated;
    #[pymodule_export]
    use super::error::Failure;
    #[pymodule_export]
    use super::event::Progress;
    #[pymodule_export]
    use super::history::{compare, default_place, keep, listed, load_kept};
    #[pymodule_export]
    use super::ops::{
        start_copy, start_examine, start_fit, start_measure, start_predict, start_responsiveness,
        start_simulate, start_sweep, start_tune, start_verify,
    };
    #[pymodule_export]
    use super::path::{PathSpec, path_names};
    #[pymodule_export]
    use super::remote::Remote;
    #[pymodule_export]
    use super::result::{Done, table_of_all};
    #[pymodule_export]
    use super::serve::{Server, add_token};
    #[pymodule_export]
    use super::stream::Stream;
    #[pymodule_export]
    use super::tables::Table;
    #[pymodule_export]
    use super::watch::{
        start_watch_export, start_watch_forecast, start_watch_months, start_watch_table,
    };

    use pyo3::exceptions::PyValueError;
    use pyo3::prelude::*;

    use super::start_log;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        start_log().map_err(|error| PyValueError::new_err(error.what()))?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
