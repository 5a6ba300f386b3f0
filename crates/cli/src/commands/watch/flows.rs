//! `trunkline watch flows`: traffic across the border.

use std::process::ExitCode;

use trunkline::draw::render::terminal;
use trunkline_watch::flows;

use crate::args::WatchFlows;
use crate::failure::Failure;
use crate::output;

pub(super) fn run(arguments: &WatchFlows) -> Result<ExitCode, Failure> {
    let report = flows(&arguments.database, arguments.since, arguments.until)?;
    match arguments.json {
        true => output::print(&report.json())?,
        false => output::print(&terminal::text(&report.page(), output::paint()))?,
    }
    Ok(ExitCode::SUCCESS)
}
