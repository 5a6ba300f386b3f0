//! Formulas, curves, and files of results: quick, but still calls.

use std::path::PathBuf;

use pyo3::prelude::*;
use trunkline::ask;
use trunkline::predict::{self, Question};

use crate::asked::{PathAsked, optional, value};
use crate::call::Call;
use crate::error::Failure;
use crate::result::Done;

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Predict<'py> {
    path: PathAsked<'py>,
    streams: String,
    window: Option<String>,
    congestion: Option<String>,
    bytes: Option<String>,
    loss_table: bool,
    knee: Option<String>,
    flows: Vec<String>,
    duration: Option<String>,
    command: String,
}

fn knee(text: Option<&str>) -> Result<f64, Failure> {
    Ok(optional("knee", text, ask::tune::share)?.unwrap_or(predict::KNEE_SHARE))
}

/// Starts a prediction.
#[pyfunction]
pub fn start_predict(asked: Predict<'_>) -> PyResult<Call> {
    let window = optional("window", asked.window.as_deref(), ask::predict::window)?;
    let question = Question {
        path: asked.path.spec()?,
        congestion: asked.congestion,
        window: window.and_then(|window| window.fixed()),
        streams: value("streams", &asked.streams, ask::predict::counts)?.0,
        knee: knee(asked.knee.as_deref())?,
    };
    let bytes = optional("bytes", asked.bytes.as_deref(), ask::simulate::data)?;
    let has_loss_table = asked.loss_table;
    let class = |text: &String| value("flows", text, ask::predict::flow_class);
    let flows: Vec<predict::FlowClass> = asked.flows.iter().map(class).collect::<Result<_, _>>()?;
    let duration = optional(
        "duration",
        asked.duration.as_deref(),
        ask::simulate::duration,
    )?;
    if duration.is_some() && flows.is_empty() {
        let refusal = "it is how long flows run, and there are none: give `flows`, too";
        return Err(
            Failure::value("duration", &asked.duration.unwrap_or_default(), refusal).into(),
        );
    }
    Call::start("predict", asked.command, move |_, _| {
        let mut predicted = trunkline::predict(question)?;
        if let Some(bytes) = bytes {
            predicted.add_transfer(bytes);
        }
        if has_loss_table {
            predicted.add_losses();
        }
        if !flows.is_empty() {
            predicted.add_flows(&flows, duration)?;
        }
        Ok(Done::of(predicted.document))
    })
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Fit {
    file: PathBuf,
    window: Option<String>,
    knee: Option<String>,
    explain: bool,
    command: String,
}

/// Starts a fit.
#[pyfunction]
pub fn start_fit(asked: Fit) -> PyResult<Call> {
    let window = optional("window", asked.window.as_deref(), ask::predict::window)?;
    let knee = knee(asked.knee.as_deref())?;
    Call::start("fit", asked.command, move |_, _| {
        Ok(Done::of(predict::fit(
            &asked.file,
            window,
            knee,
            asked.explain,
        )?))
    })
}
