//! Paths, checked as the program checks path files.

use std::sync::Arc;

use pyo3::prelude::*;
use trunkline::netpath::{PathSpec as Spec, presets};

use crate::error::Failure;

/// A checked path.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct PathSpec(pub Arc<Spec>);

#[pymethods]
impl PathSpec {
    /// A named path or a path file.
    #[staticmethod]
    fn load(name: &str) -> PyResult<Self> {
        let spec = trunkline::load_path(name).map_err(Failure::from)?;
        Ok(PathSpec(Arc::new(spec)))
    }

    /// The path that TOML describes.
    ///
    /// * `origin`: what errors call it.
    #[staticmethod]
    fn parse(origin: &str, text: &str) -> PyResult<Self> {
        let spec = Spec::from_toml(origin, text).map_err(trunkline::Error::from);
        Ok(PathSpec(Arc::new(spec.map_err(Failure::from)?)))
    }

    #[getter]
    fn name(&self) -> String {
        self.0.name.clone()
    }

    /// The same path under another name.
    fn named(&self, name: String) -> Self {
        let mut spec = Spec::clone(&self.0);
        spec.name = name;
        PathSpec(Arc::new(spec))
    }

    /// Round trip of the empty path.
    #[getter]
    fn base_rtt_seconds(&self) -> f64 {
        self.0.base_rtt().as_secs_f64()
    }

    #[getter]
    fn bandwidth_delay_product_bytes(&self) -> u64 {
        self.0.bandwidth_delay_product().get()
    }

    /// As the program describes it.
    fn description(&self) -> String {
        self.0.to_string()
    }

    /// As documents have it.
    fn to_json(&self) -> PyResult<String> {
        let shape = trunkline::record::Path::from(&*self.0);
        serde_json::to_string(&shape)
            .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))
    }

    fn __eq__(&self, other: &Self) -> bool {
        *self.0 == *other.0
    }
}

/// Names of all named paths.
#[pyfunction]
pub fn path_names() -> Vec<String> {
    presets::names().map(str::to_owned).collect()
}
