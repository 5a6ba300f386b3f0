//! `trunkline far`: the programs that copies have sent.

use std::process::ExitCode;

use trunkline::copy::clean_far_host;

use crate::args::{Far, FarClean, FarCommand};
use crate::failure::Failure;
use crate::{output, stop};

pub(crate) fn run(arguments: &Far) -> Result<ExitCode, Failure> {
    let FarCommand::Clean(FarClean { host, ssh }) = &arguments.command;
    let removed = clean_far_host(&ssh.0, host, &stop::listen()?)?;
    let text = match removed.is_empty() {
        true => format!("{host} has no program that a copy has sent\n"),
        false => removed
            .iter()
            .map(|folder| format!("{host}: removed {folder}\n"))
            .collect(),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
