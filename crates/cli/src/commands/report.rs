//! `trunkline report`: a saved document again.

use std::process::ExitCode;

use crate::args::Report;
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(arguments: &Report) -> Result<ExitCode, Failure> {
    let document = record::load(&arguments.file)?;
    if let Some(file) = &arguments.html {
        output::write_page(&document, file)?;
    }
    let origin = report::terminal::origin(document.origin());
    let text = report::text(&document, output::paint());
    output::print(&format!("{origin}\n{text}"))?;
    Ok(ExitCode::SUCCESS)
}
