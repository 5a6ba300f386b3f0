//! `trunkline man`: manual pages, one for the program and one for each command.

use std::fs;
use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::{Arguments, Man};
use crate::failure::Failure;
use crate::output::tell;

pub(crate) fn run(arguments: &Man) -> Result<ExitCode, Failure> {
    let folder = &arguments.dir;
    fs::create_dir_all(folder).map_err(|error| Failure::folder(folder, &error))?;
    let command = Arguments::command().disable_help_subcommand(true);
    clap_mangen::generate_to(command, folder).map_err(|error| Failure::file(folder, &error))?;
    tell!("wrote the pages of all commands to {}", folder.display());
    Ok(ExitCode::SUCCESS)
}
