//! `trunkline completion`: a script for a shell.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::{Arguments, Completion};
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(arguments: &Completion) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    let mut command = Arguments::command();
    clap_complete::generate(arguments.shell, &mut command, "trunkline", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
