//! `trunkline predict`: what formulas say about a path, or about measured points.

use std::path::Path;
use std::process::ExitCode;

use observe::Window;
use predict::{self, Question};
use record::{Document, Fit, Predict as Body};

use crate::args::{Keep, Predict};
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(arguments: &Predict) -> Result<ExitCode, Failure> {
    output::check_places(&arguments.output, None)?;
    match (&arguments.fit, &arguments.path) {
        (Some(file), _) => fit(arguments, file)?,
        (None, Some(path)) => predict(arguments, path)?,
        (None, None) => unreachable!("clap asks for one of the two"),
    }
    Ok(ExitCode::SUCCESS)
}

fn predict(arguments: &Predict, path: &str) -> Result<(), Failure> {
    let prediction = predict::predict(Question {
        path: target::load_path(path)?,
        congestion: arguments.congestion.clone(),
        window: match arguments.window {
            None | Some(Window::Auto) => None,
            Some(Window::Fixed(bytes)) => Some(bytes),
        },
        streams: arguments.streams.0.clone(),
        knee: arguments.knee,
    })?;
    let document = Document::new(output::origin_without_seed(), Body::from(&prediction));
    output::deliver(document, &arguments.output, &Keep::NOTHING)
}

fn fit(arguments: &Predict, file: &Path) -> Result<(), Failure> {
    let fitting = predict::fit(
        record::load_points(file, arguments.window.map(Into::into))?,
        arguments.knee,
    );
    let name = file.display().to_string();
    let document = Document::new(output::origin_without_seed(), Fit::new(&name, &fitting));
    output::deliver(document, &arguments.output, &Keep::NOTHING)
}
