//! `trunkline man`: manual pages, one for the program and one for each command, those
//! below others included.

mod sections;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;
use clap_mangen::Man as Page;

use crate::args::{Arguments, Man};
use crate::failure::Failure;
use crate::output::tell;

pub(crate) fn run(arguments: &Man) -> Result<ExitCode, Failure> {
    let folder = &arguments.dir;
    fs::create_dir_all(folder).map_err(|error| Failure::folder(folder, &error))?;
    let mut program = Arguments::command().disable_help_subcommand(true);
    program.build();
    write_all(&program, folder).map_err(|error| Failure::file(folder, &error))?;
    tell!("wrote the pages of all commands to {}", folder.display());
    Ok(ExitCode::SUCCESS)
}

/// The page of a command, and those of the commands below it.
fn write_all(command: &clap::Command, folder: &Path) -> io::Result<()> {
    write(command, folder)?;
    let below = command.get_subcommands();
    let mut shown = below.filter(|one| !one.is_hide_set() && one.get_name() != "help");
    shown.try_for_each(|one| write_all(one, folder))
}

fn write(command: &clap::Command, folder: &Path) -> io::Result<()> {
    // The page is no short help: an option that only the long help has is told here, too.
    let command = command
        .clone()
        .mut_args(|argument| argument.hide_short_help(false));
    let page = Page::new(command.clone());
    let mut file = File::create(folder.join(page.get_filename()))?;
    page.render_title(&mut file)?;
    page.render_name_section(&mut file)?;
    page.render_synopsis_section(&mut file)?;
    page.render_description_section(&mut file)?;
    if command.get_arguments().next().is_some() {
        page.render_options_section(&mut file)?;
    }
    if command.get_subcommands().next().is_some() {
        page.render_subcommands_section(&mut file)?;
    }
    sections::behind_options(&command, &mut file)?;
    if command.get_version().is_some() {
        page.render_version_section(&mut file)?;
    }
    file.flush()
}
