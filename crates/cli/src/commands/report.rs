//! `trunkline report`: a saved document again.

use std::process::ExitCode;

use trunkline::record;

use crate::args::Report;
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(arguments: &Report) -> Result<ExitCode, Failure> {
    let document = record::load(&arguments.file)?;
    if let Some(file) = &arguments.report {
        output::write_page(&document, file)?;
    }
    if let Some(folder) = &arguments.plots {
        output::write_plots_with(&document, None, folder)?;
    }
    output::show_again(&document)?;
    Ok(ExitCode::SUCCESS)
}
