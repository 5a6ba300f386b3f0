//! `trunkline watch check`: what a plan costs, and what comes next.

use std::process::ExitCode;

use trunkline::draw::render::terminal;
use trunkline_watch::{PlanFile, load_plan};

use crate::args::WatchCheck;
use crate::failure::Failure;
use crate::output::{self, tell};

pub(super) fn run(arguments: &WatchCheck) -> Result<ExitCode, Failure> {
    let plan = load_plan(&arguments.plan.plan)?;
    tell_notices(&plan);
    let explained = plan.explained_now();
    match arguments.json {
        true => output::print(&explained.json())?,
        false => output::print(&terminal::text(&explained.page(), output::paint()))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What of the file is not used.
pub(super) fn tell_notices(plan: &PlanFile) {
    for notice in &plan.notices {
        tell!("note: {notice}");
    }
}
