//! What an agent of a watch costs on a day.
//!
//! A real agent goes through a day of a plan of 21 hosts. Its clock goes on by a fifth of a second
//! when it waits, and stands still while a visit runs or a result is on its way. Visits show what
//! was drawn from a seed; all else is real: the timetable, notes and results on the disk, reports
//! over TLS to a collector in a process of its own, which stores them and looks for changes.
//!
//! What the day does not have is measured apart, in real time, with the program itself: an agent
//! that has no visit sleeps, wakes and reports each half minute.

mod agent;
mod clock;
mod collector;
mod idle;
mod made_up;
mod plan;
mod process;
mod table;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

type Outcome<T> = Result<T, Box<dyn Error>>;

#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    step: Step,
}

#[derive(Debug, Subcommand)]
enum Step {
    /// Makes all measurements and prints the page
    Run {
        /// The program whose idle agent is measured.
        #[arg(long, default_value = "target/release/trunkline")]
        program: PathBuf,
        /// How long the idle agent is measured.
        #[arg(long, default_value_t = 300)]
        idle_seconds: u64,
    },
    /// Collects results until standard input ends
    Collect { folder: PathBuf, port: u16 },
    /// Goes through a day
    Agent {
        folder: PathBuf,
        port: u16,
        /// Nobody takes results before standard input has a line.
        #[arg(long)]
        alone: bool,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().step {
        Step::Run {
            program,
            idle_seconds,
        } => table::run(&program, idle_seconds),
        Step::Collect { folder, port } => collector::run(&folder, port),
        Step::Agent {
            folder,
            port,
            alone,
        } => agent::run(&folder, port, alone),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
