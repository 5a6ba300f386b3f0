//! `trunkline campaign status`.

use std::process::ExitCode;

use trunkline::campaign::{Campaign, pages};
use trunkline::report::render::terminal;

use crate::args::CampaignStatus;
use crate::failure::Failure;
use crate::output;

pub(super) fn run(arguments: &CampaignStatus) -> Result<ExitCode, Failure> {
    let campaign = Campaign::open(&arguments.folder.folder)?;
    let status = campaign.status()?;
    let folder = &arguments.folder.folder;
    match arguments.json {
        true => output::print(&pages::json(&status))?,
        false => {
            let page = pages::status(&status, folder);
            output::print(&terminal::text(&page, output::paint()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
