//! `trunkline man`: manual pages, one for the program and one for each command.

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
    let shown = program.get_subcommands().filter(|one| !one.is_hide_set());
    let commands: Vec<clap::Command> = shown.cloned().collect();
    for command in commands.iter().chain([&program]) {
        write(command, folder).map_err(|error| Failure::file(folder, &error))?;
    }
    tell!("wrote the pages of all commands to {}", folder.display());
    Ok(ExitCode::SUCCESS)
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
