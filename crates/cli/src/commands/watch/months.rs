//! `trunkline watch months`: tables of months.

use std::process::ExitCode;

use trunkline::draw::render::terminal;
use trunkline_watch::{MonthsAsked, Selection, load_plan, months};

use super::check;
use crate::args::WatchMonths;
use crate::failure::Failure;
use crate::output;

pub(super) fn run(arguments: &WatchMonths) -> Result<ExitCode, Failure> {
    let plan = arguments.plan.as_deref().map(load_plan).transpose()?;
    plan.iter().for_each(check::tell_notices);
    let asked = MonthsAsked {
        database: arguments.database.clone(),
        task: arguments.task.clone(),
        from_host: arguments.from.clone(),
        to_host: arguments.to.clone(),
        since: arguments.since.unwrap_or(Selection::ALL.from),
        until: arguments.until.unwrap_or(Selection::ALL.to),
    };
    let months = months(&asked, plan.as_ref())?;
    let page = match (arguments.json, arguments.by_path) {
        (true, _) => {
            output::print(&months.json())?;
            return Ok(ExitCode::SUCCESS);
        }
        (false, true) => months.page_of_pairs(),
        (false, false) => months.page(),
    };
    output::print(&terminal::text(&page, output::paint()))?;
    Ok(ExitCode::SUCCESS)
}
