//! `trunkline watch forecast`: when a copy will end.

use std::process::ExitCode;

use trunkline::draw::render::terminal;
use trunkline_watch::forecast;

use crate::args::WatchForecast;
use crate::failure::Failure;
use crate::output;

pub(super) fn run(arguments: &WatchForecast) -> Result<ExitCode, Failure> {
    let WatchForecast {
        from,
        to,
        task,
        size,
        database,
        json,
    } = arguments;
    let forecast = forecast(database, (from, to), task, *size)?;
    match json {
        true => output::print(&forecast.json())?,
        false => output::print(&terminal::text(&forecast.page(), output::paint()))?,
    }
    Ok(ExitCode::SUCCESS)
}
