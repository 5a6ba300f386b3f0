//! `trunkline predict`: what formulas say about a path, or about measured points.

use std::process::ExitCode;

use trunkline::predict::{self, Question};

use crate::args::{Keep, Predict};
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(arguments: &Predict) -> Result<ExitCode, Failure> {
    output::check_places(&arguments.output, None)?;
    match (&arguments.fit, &arguments.path) {
        (Some(file), _) => {
            let document = predict::fit(file, arguments.window, arguments.knee, arguments.explain)?;
            output::deliver(document, &arguments.output, &Keep::NOTHING)?;
        }
        (None, Some(path)) => {
            let mut predicted = trunkline::predict(question(arguments, path)?)?;
            if let Some(bytes) = arguments.bytes {
                predicted.add_transfer(bytes);
            }
            if arguments.loss_table {
                predicted.add_losses();
            }
            if !arguments.flows.is_empty() {
                predicted.add_flows(&arguments.flows, arguments.duration)?;
            }
            output::deliver(predicted.document, &arguments.output, &Keep::NOTHING)?;
        }
        (None, None) => unreachable!("clap asks for one of the two"),
    }
    Ok(ExitCode::SUCCESS)
}

fn question(arguments: &Predict, path: &str) -> Result<Question, Failure> {
    Ok(Question {
        path: trunkline::load_path(path)?,
        congestion: arguments.congestion.clone(),
        window: arguments.window.and_then(|window| window.fixed()),
        streams: arguments.streams.0.clone(),
        knee: arguments.knee,
    })
}
