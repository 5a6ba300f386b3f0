//! The `trunkline` program: arguments in, messages and exit codes out. It holds no arithmetic.
//!
//! Reading order: `args.rs`, then one file per command, `output.rs` for where results go,
//! `archive.rs` for where they are kept, `progress.rs` for what is shown meanwhile, `failure.rs`
//! for how errors are told.

mod archive;
mod args;
mod commands;
mod failure;
mod output;
mod progress;
mod stop;

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use args::Command;
use failure::Failure;
use trunkline::log::LogFile;
use trunkline::{emulate, host};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().collect();
    if let Some(command) = emulate::init_arguments(&arguments) {
        return emulate::become_init(command);
    }
    // 128 streams both ways with both ends in one process are above the customary bound.
    host::raise_open_files();
    let json = output::is_json_asked(&arguments);
    let parsed = match args::parse(&arguments) {
        Ok(parsed) => parsed,
        Err(refused) => return failure::refused(refused, json),
    };
    let outcome = start_log(parsed.log_file).and_then(|()| run(parsed.command));
    outcome.unwrap_or_else(|failure| {
        if json {
            output::print_failure(&failure.what(), failure.hint());
        }
        failure.tell()
    })
}

/// Begins the log that the option, or else the environment, asks for.
fn start_log(asked: Option<LogFile>) -> Result<(), Failure> {
    let file = match asked {
        Some(file) => Some(file),
        None => LogFile::from_environment()?,
    };
    file.map_or(Ok(()), |file| Ok(file.start()?))
}

fn run(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Demo(arguments) => commands::demo::run(&arguments),
        Command::Serve(arguments) => commands::serve::run(&arguments),
        Command::Copy(arguments) => commands::copy::run(&arguments),
        Command::CopyFar(arguments) => commands::copy_far::run(&arguments),
        Command::Campaign(arguments) => commands::campaign::run(&arguments),
        Command::Pipe(arguments) => commands::pipe::run(&arguments),
        Command::Far(arguments) => commands::far::run(&arguments),
        Command::Limit(arguments) => commands::limit::run(&arguments),
        Command::Verify(arguments) => commands::verify::run(&arguments),
        Command::Tune(arguments) => commands::tune::run(&arguments),
        Command::Measure(arguments) => commands::measure::run(&arguments),
        Command::Sweep(arguments) => commands::sweep::run(&arguments),
        Command::Path(arguments) => commands::path::run(&arguments),
        Command::Responsiveness(arguments) => commands::responsiveness::run(&arguments),
        Command::Watch(arguments) => commands::watch::run(&arguments),
        Command::Emulate(arguments) => commands::emulate::run(&arguments),
        Command::Simulate(arguments) => commands::simulate::run(&arguments),
        Command::Predict(arguments) => commands::predict::run(&arguments),
        Command::Study(arguments) => commands::study::run(&arguments),
        Command::Report(arguments) => commands::report::run(&arguments),
        Command::History(arguments) => commands::history::run(&arguments),
        Command::Completion(arguments) => commands::completion::run(&arguments),
        Command::Man(arguments) => commands::man::run(&arguments),
    }
}
