//! `trunkline campaign status`.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use trunkline::draw::render::terminal;
use trunkline_campaign::{Campaign, pages};

use crate::args::CampaignStatus;
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::stop;

/// How soon a signal is noticed.
const TICK: Duration = Duration::from_millis(100);

pub(super) fn run(arguments: &CampaignStatus) -> Result<ExitCode, Failure> {
    let campaign = Campaign::open(&arguments.folder.folder)?;
    if let Some(listen) = arguments.web {
        return serve(&campaign, listen);
    }
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

/// Serves the page until a signal.
fn serve(campaign: &Campaign, listen: SocketAddr) -> Result<ExitCode, Failure> {
    let cancel = stop::listen_calmly()?;
    let server = pages::serve(campaign, listen)?;
    tell!("the page is at http://{}; Ctrl-C ends it", server.address());
    while !cancel.is_cancelled() {
        thread::sleep(TICK);
    }
    Ok(ExitCode::SUCCESS)
}
